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
//	conclusion how a run is concluded: what its result is merged from, its figures and its verdict
//
// Here are the decision (decide.go), what it consists of (plan.go, planner.go), and the course of a run: its objects
// (children.go, certificates.go), its readiness, its load (stages.go, window.go, breaking.go, script_abort.go), its result and its
// verdict (result.go, archive.go, script_summary.go, verdict.go), and its end (cleanup.go, script_teardown.go, reclaim.go).
package run
