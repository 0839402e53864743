// Package run decides what a BenchmarkRun does next. Decide is a pure function:
// it takes the run, what was observed of it and the time, and returns a Plan. It
// knows no client and does no I/O. Package benchmarkrun of the controllers
// observes, carries the plan out and writes the status.
//
// The files are layers; each uses only those before it:
//
//   - observed.go, plan.go: what goes in and what comes out; state.go: what the
//     status says of a run.
//   - lane.go, inputs.go, script.go, pods.go, podevent.go, logs.go, pinning.go:
//     what follows from one kind of observation.
//   - failure.go, then failure_target.go and failure_clients.go: why a run can't
//     end with a result.
//   - planner.go: the planner, its conditions, and how a run ends.
//   - inputs_plan.go, certificates.go, children.go, target.go, verify.go,
//     readiness.go: up to the start of the load.
//   - stages.go, then warmup.go and script_stages.go: the load.
//   - environment.go, result.go, status.go, verdict.go, cleanup.go: the result,
//     the verdict and the end.
//   - decide.go: the decision.
package run
