// Package run decides what a BenchmarkRun does next. Decide is a pure function: it takes the run,
// what was observed of it and the time, and returns a Plan. It knows no client and does no I/O. The
// controller benchmarkrun observes, applies the plan and writes the status.
//
// The packages below it, each of which knows only those above it in this list:
//
//	state      what the status says of a run, and its course
//	pods       what a pod shows by itself: whether it starts, how it ended, whether it was evicted
//	inputs     what a run takes from the user's ConfigMaps
//	ownership  which objects are the run's, and which pods speak for it
//	lane       the queue: which run may start
//	observed   everything that is observed, and the time limits that follow from it
//	failure    each way in which a run ends without a result: when, with which reason and message
//	conclusion how a run is concluded: what its result is merged from, its metrics and its verdict
//	step       what one step of a run consists of: the Plan, and the Planner by which it is made
//
// What happens next in the course of a run, each in a package that knows none of the others but the end:
//
//	start      its objects are created, and become ready
//	loading    the stages of its load: setup, warm-up, measurement, teardown, and what ends it early
//	collect    its result is merged and stored, and its verdict written
//	ending     its objects are deleted, or stopped and kept
//
// Here is the decision which of these it is.
package run
