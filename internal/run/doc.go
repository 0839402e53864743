// Package run decides what a BenchmarkRun does next. Decide is a pure function: it takes the run,
// what was observed of it and the time, and returns a Plan. It knows no client and does no I/O. The
// controller benchmarkrun observes, applies the plan and writes the status.
//
// The packages below it, from the bottom up:
//
//	state      what the status says of a run, and its course
//	pods       what a pod shows by itself: whether it starts, how it ended, whether it was evicted
//	inputs     what a run takes from the user's ConfigMaps
//	ownership  which objects are the run's, and which pods speak for it
//	lane       the queue: which run may start
//
// The files here are layers. Each uses only files of its own layer and of those above:
//
//	leadership.go, plan.go, status.go
//	    what a plan and a failure are; what a result says by itself
//	observed.go
//	    everything that is observed
//	pinning.go, bounds.go, logs.go
//	    what one kind of observation says, and when it is needed
//	planner.go
//	    the planner: conditions, how a run fails, the plans of its clients
//	certificates.go, failure_clients.go, failure_target.go, target.go
//	children.go, readiness.go
//	    why a run can't end with a result, and the way to the start of its load
//	deadline.go, script_abort.go, stages.go
//	    its time limit, and the load
//	refusal.go, archive.go, script_summary.go, script_teardown.go
//	    an object that is rejected, and the way of a result into its bucket and its artifact;
//	    what a script runs at its end
//	result.go, verdict.go, cleanup.go, reclaim.go
//	    the result, the verdict and the end
//	decide.go
//	    the decision
//
// TestFilesAreLayers holds that no two files use each other.
package run
