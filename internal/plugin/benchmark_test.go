package plugin_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/lifecycle"
	"github.com/assay-dev/assay/internal/benchmark/verdict"
	"github.com/assay-dev/assay/internal/plugin/exit"
)

var roundStart = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// connectors returns a Benchmark of 2 cells and 10 to 20 blocks that the operator hasn't processed.
func connectors() *v1alpha1.Benchmark {
	b := &v1alpha1.Benchmark{ObjectMeta: metav1.ObjectMeta{Name: "connectors", Namespace: "default", UID: "uid-2", Generation: 1}}
	b.Spec.Repetitions = &v1alpha1.Repetitions{Min: ptr.To(int32(10)), Max: ptr.To(int32(20))}
	b.Spec.Comparison = &v1alpha1.Comparison{Baseline: v1alpha1.Baseline{Cell: v1alpha1.CellSelector{"connector": "nio"}}, Metrics: []v1alpha1.ComparedMetric{{Name: "LatencyP99"}}}
	b.Status.ObservedGeneration = ptr.To(int64(-1))
	return b
}

// active begins a round.
func active(b *v1alpha1.Benchmark) *v1alpha1.Benchmark {
	lifecycle.Begin(b, v1alpha1.TriggerRequested, "hash", 2, 1, roundStart)
	b.Status.ObservedGeneration = ptr.To(b.Generation)
	return b
}

// complete ends the round under way.
func complete(b *v1alpha1.Benchmark, outcome v1alpha1.BenchmarkVerdict, reason, message string) *v1alpha1.Benchmark {
	lifecycle.Complete(b, &verdict.End{Verdict: outcome, Reason: reason, Message: message}, roundStart.Add(time.Hour))
	return b
}

func TestWatchFollowsABenchmark(t *testing.T) {
	server := startAPIServer(t)
	b := connectors()
	server.SetBenchmark(b)
	c := start(t, server, "watch", "benchmark/connectors")
	c.out.waitFor(t, "waiting for the operator")
	active(b)
	server.SetBenchmark(b)
	c.out.waitFor(t, "Running      0%  round 1; 0 of 10 to 20 blocks, 0 of 2 cells of the next; no run under way\n")
	round := b.Status.Round
	round.CompletedBlocks, round.FinishedRuns, round.InvalidRuns = ptr.To(int32(3)), ptr.To(int32(8)), ptr.To(int32(1))
	round.CurrentRun = &v1alpha1.CurrentRun{Name: "connectors-r1-c001-b03", Cell: "connector=apr", Block: ptr.To(int32(3))}
	round.ExpectedCompletionTime = ptr.To(metav1.NewTime(roundStart.Add(90 * time.Minute)))
	server.SetBenchmark(b)
	c.out.waitFor(t, "Running     17%  round 1; 3 of 10 to 20 blocks, 1 of 2 cells of the next; 1 invalid; connector=apr; ends about 2026-11-22 13:30 UTC\n")
	round.Claims = []v1alpha1.ClaimStatus{
		{Name: "not-worse/LatencyP99/connector=apr", Verdict: v1alpha1.ClaimConfirmed, Percent: "-12.3", LowPercent: "-16", HighPercent: "-8.1"},
		{Name: "errors", Verdict: v1alpha1.ClaimUndecided, Percent: "4", LowPercent: "-1"},
	}
	server.SetBenchmark(complete(b, v1alpha1.BenchmarkPassed, benchmark.ReasonCompleted, "1 claim confirmed after 10 blocks."))
	c.wantEnd(t, exit.Success, "connectors, round 1 passed: 1 claim confirmed after 10 blocks.",
		"  not-worse/LatencyP99/connector=apr: confirmed, -12.3% (-16% to -8.1%)\n",
		"  errors: undecided, +4% (-1% to unbounded)\n",
		"kubectl assay report benchmark/connectors --namespace default")
}

// TestWatchShowsErrorsThatAreRetried has steps of a round fail: each error is printed once, until it changes.
func TestWatchShowsErrorsThatAreRetried(t *testing.T) {
	server := startAPIServer(t)
	b := active(connectors())
	server.SetBenchmark(b)
	c := start(t, server, "watch", "benchmark/connectors")
	c.out.waitFor(t, "0 of 2 cells of the next")
	step := func(blocks int32, err string) {
		t.Helper()
		lifecycle.ClearRetry(b)
		if err != "" {
			lifecycle.Retry(b, errors.New(err))
		}
		b.Status.Round.CompletedBlocks = ptr.To(blocks)
		server.SetBenchmark(b)
		c.out.waitFor(t, fmt.Sprintf("; %d of 10 to 20 blocks", blocks))
	}
	step(1, "create run a: webhook is \x1b[2Jdown")
	step(2, "create run a: webhook is \x1b[2Jdown")
	step(3, "create run a: quota")
	step(4, "")
	step(5, "create run a: quota")
	server.SetBenchmark(complete(b, v1alpha1.BenchmarkPassed, benchmark.ReasonCompleted, "All."))
	c.wantEnd(t, exit.Success, "round 1 passed: All.")
	want := []string{"create run a: webhook is [2Jdown", "create run a: quota", "create run a: quota"}
	var got []string
	for line := range strings.Lines(c.out.String()) {
		if err, found := strings.CutPrefix(strings.TrimSpace(line), "the operator is retrying: "); found {
			got = append(got, err)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestWatchOfATrial(t *testing.T) {
	server := startAPIServer(t)
	b := active(connectors())
	b.Status.Round.FinishedRuns = ptr.To(int32(7))
	b.Status.Round.CurrentRun = &v1alpha1.CurrentRun{Name: "connectors-r1-c000-t02", Cell: "connector=\x1b[2Jnio", Trial: ptr.To(int64(4000))}
	server.SetBenchmark(b)
	start(t, server, "watch", "benchmark/connectors").out.waitFor(t, "Running     round 1; trial of 4000, 7 runs finished; connector=[2Jnio\n")
}

func TestExitCodesOfRounds(t *testing.T) {
	passes := func(b *v1alpha1.Benchmark) *v1alpha1.Benchmark {
		b.Spec.OnInconclusive = v1alpha1.InconclusivePasses
		return b
	}
	invalid := connectors()
	invalid.Status.ObservedGeneration = ptr.To(int64(1))
	lifecycle.Reject(invalid, "hash", "spec.axes: 300 cells", roundStart)
	for name, tc := range map[string]struct {
		b    *v1alpha1.Benchmark
		code int
		text string
	}{
		"passed":                {complete(active(connectors()), v1alpha1.BenchmarkPassed, benchmark.ReasonCompleted, "All."), 0, "round 1 passed: All."},
		"measured":              {complete(active(connectors()), v1alpha1.BenchmarkMeasured, benchmark.ReasonCompleted, "All."), 0, "round 1 was measured: All."},
		"failed":                {complete(active(connectors()), v1alpha1.BenchmarkFailed, benchmark.ReasonCompleted, "1 of 1."), 2, "round 1 FAILED: 1 of 1."},
		"inconclusive":          {complete(active(connectors()), v1alpha1.BenchmarkInconclusive, benchmark.ReasonInvalidRuns, "4 of 9."), 5, "round 1 is INCONCLUSIVE: InvalidRuns: 4 of 9."},
		"inconclusive, passing": {complete(active(passes(connectors())), v1alpha1.BenchmarkInconclusive, benchmark.ReasonCompleted, "1."), 0, "counts as passed, because onInconclusive is Pass"},
		"cancelled":             {complete(active(connectors()), v1alpha1.BenchmarkError, v1alpha1.ReasonCancelled, "By you."), 1, "round 1 ended with an error: Cancelled: By you."},
		"an invalid spec":       {invalid, 1, "connectors ended with an error: InvalidSpec: spec.axes: 300 cells"},
	} {
		t.Run(name, func(t *testing.T) {
			server := startAPIServer(t)
			server.SetBenchmark(tc.b)
			start(t, server, "watch", "bm/connectors").wantEnd(t, tc.code, tc.text)
		})
	}
}

func TestRunOfARound(t *testing.T) {
	server := startAPIServer(t)
	b := complete(active(connectors()), v1alpha1.BenchmarkFailed, benchmark.ReasonCompleted, "1 of 1.")
	server.SetBenchmark(b)
	start(t, server, "benchmark", "run", "connectors", "--dry-run").wantEnd(t, exit.Success, "benchmark/connectors a round was asked for (dry run)\n")
	if request := server.Benchmark().Annotations[v1alpha1.AnnotationRunRound]; request != "" {
		t.Errorf("a dry run set the annotation to %s", request)
	}
	start(t, server, "benchmark", "run", "connectors").wantEnd(t, exit.Success, "benchmark/connectors a round was asked for\n")
	first := server.Benchmark().Annotations[v1alpha1.AnnotationRunRound]
	if at, err := time.Parse(time.RFC3339Nano, first); err != nil || time.Since(at) > time.Minute {
		t.Errorf("the annotation is %q: %v", first, err)
	}

	// The verdict is that of the round that was asked for, not that of the one before.
	c := start(t, server, "benchmark", "run", "connectors", "--wait")
	c.out.waitFor(t, "Requested   waiting for the operator to begin a round\n")
	b = server.Benchmark()
	if b.Annotations[v1alpha1.AnnotationRunRound] == first {
		t.Error("the annotation didn't change")
	}
	server.SetBenchmark(active(b))
	c.out.waitFor(t, "Running      0%  round 2;")
	server.SetBenchmark(complete(b, v1alpha1.BenchmarkPassed, benchmark.ReasonCompleted, "1 of 1."))
	c.wantEnd(t, exit.Success, "connectors, round 2 passed")

	server.SetBenchmark(active(b))
	start(t, server, "benchmark", "run", "benchmark/connectors").wantEnd(t, exit.Success, "a round was asked for, which begins after round 3\n")
}

// TestRunOfARejectedSpec checks that the command doesn't wait for a round that never begins.
func TestRunOfARejectedSpec(t *testing.T) {
	server := startAPIServer(t)
	b := complete(active(connectors()), v1alpha1.BenchmarkPassed, benchmark.ReasonCompleted, "1 of 1.")
	server.SetBenchmark(b)
	c := start(t, server, "benchmark", "run", "connectors", "--wait")
	c.out.waitFor(t, "waiting for the operator to begin a round")
	b = server.Benchmark()
	lifecycle.Reject(b, "other", "spec.schedule.cron: no", roundStart)
	server.SetBenchmark(b)
	c.wantEnd(t, exit.Failed, "connectors ended with an error: InvalidSpec: spec.schedule.cron: no")
	if strings.Contains(c.out.String(), "round 1") {
		t.Errorf("an earlier round is mentioned:\n%s", c.out)
	}
}

func TestCancelSuspendAndResume(t *testing.T) {
	server := startAPIServer(t)
	server.SetBenchmark(active(connectors()))
	start(t, server, "benchmark", "cancel", "connectors").wantEnd(t, exit.Success, "benchmark/connectors round 1 is being cancelled\n")
	start(t, server, "benchmark", "suspend", "connectors").wantEnd(t, exit.Success, "suspended; round 1 waits after the run under way\n")
	start(t, server, "benchmark", "suspend", "connectors").wantEnd(t, exit.Success, "is suspended already\n")
	if b := server.Benchmark(); b.Annotations[v1alpha1.AnnotationCancelRound] != "1" || !*b.Spec.Suspend {
		t.Errorf("annotations %v, suspend %v", b.Annotations, b.Spec.Suspend)
	}
	start(t, server, "benchmark", "run", "connectors").wantEnd(t, exit.Failed, "is suspended; resume it first")
	start(t, server, "benchmark", "resume", "connectors").wantEnd(t, exit.Success, "resumed; round 1 goes on\n")
	start(t, server, "benchmark", "resume", "connectors").wantEnd(t, exit.Success, "isn't suspended\n")
	want := active(connectors())
	want.Annotations, want.Spec.Suspend = map[string]string{v1alpha1.AnnotationCancelRound: "1"}, ptr.To(false)
	got := server.Benchmark()
	if diff := cmp.Diff(want.Spec, got.Spec) + cmp.Diff(want.Annotations, got.Annotations); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}

	server.SetBenchmark(complete(active(connectors()), v1alpha1.BenchmarkPassed, benchmark.ReasonCompleted, "All."))
	start(t, server, "benchmark", "cancel", "connectors").wantEnd(t, exit.Failed, `no round of Benchmark "connectors" is under way`)
}

// TestHintsOfRounds has a suspended round, and one that was cancelled after another.
func TestHintsOfRounds(t *testing.T) {
	server := startAPIServer(t)
	b := active(connectors())
	lifecycle.Report(b, v1alpha1.ReasonSuspended, "spec.suspend keeps the round from going on.", roundStart)
	server.SetBenchmark(b)
	start(t, server, "watch", "benchmark/connectors").out.waitFor(t, `resume it with "kubectl assay benchmark resume connectors --namespace default"`+"\n")
	b = connectors()
	conclude(t, b, 1.2)
	server.SetBenchmark(complete(active(b), v1alpha1.BenchmarkError, v1alpha1.ReasonCancelled, "By you."))
	start(t, server, "table", "benchmark/connectors").wantEnd(t, exit.Unknown, `round 2 (Error) of Benchmark "connectors" has no artifact; these rounds have one: 1`)
}

// TestRunKeepsItsVerdict makes the schedule invalid while the round that was asked for is under way, and again after
// a round that ended with an error.
func TestRunKeepsItsVerdict(t *testing.T) {
	server := startAPIServer(t)
	b := complete(active(connectors()), v1alpha1.BenchmarkPassed, benchmark.ReasonCompleted, "1 of 1.")
	server.SetBenchmark(b)
	c := start(t, server, "benchmark", "run", "connectors", "--wait")
	c.out.waitFor(t, "waiting for the operator to begin a round")
	b = active(server.Benchmark())
	server.SetBenchmark(b)
	c.out.waitFor(t, "round 2;")
	complete(b, v1alpha1.BenchmarkFailed, benchmark.ReasonCompleted, "1 of 1 failed.")
	lifecycle.Reject(b, b.Status.Hash, "spec.schedule.cron: no", roundStart)
	server.SetBenchmark(b)
	c.wantEnd(t, exit.GateFailed, "No further round begins: InvalidSpec: spec.schedule.cron: no\n", "connectors, round 2 FAILED: The round ended before the spec became invalid.",
		"kubectl assay report benchmark/connectors")

	// The same of a round that watch follows.
	server.SetBenchmark(active(connectors()))
	c = start(t, server, "watch", "benchmark/connectors")
	c.out.waitFor(t, "round 1;")
	b = complete(active(connectors()), v1alpha1.BenchmarkPassed, benchmark.ReasonCompleted, "1 of 1.")
	lifecycle.Reject(b, b.Status.Hash, "spec.schedule.cron: no", roundStart)
	server.SetBenchmark(b)
	c.wantEnd(t, exit.Success, "connectors, round 1 passed: The round ended before the spec became invalid.")

	// A round that is cancelled has the verdict that an invalid schedule has.
	b = complete(active(connectors()), v1alpha1.BenchmarkError, v1alpha1.ReasonCancelled, "By you.")
	lifecycle.Reject(b, b.Status.Hash, "spec.schedule.cron: no", roundStart)
	server.SetBenchmark(b)
	start(t, server, "benchmark", "run", "connectors").wantEnd(t, exit.Failed, `no round of Benchmark "connectors" begins, because its spec is invalid; correct and apply it: spec.schedule.cron: no`)
	start(t, server, "watch", "benchmark/connectors").wantEnd(t, exit.Failed, "connectors ended with an error: InvalidSpec: spec.schedule.cron: no")
}

func TestAcceptARound(t *testing.T) {
	server := startAPIServer(t)
	b := connectors()
	accept := []string{"benchmark", "accept", "connectors"}
	server.SetBenchmark(b)
	start(t, server, accept...).wantEnd(t, exit.Failed, `no round of Benchmark "connectors" can be accepted: spec.comparison.baseline.lastPassed is not set`)
	config := conclude(t, b, 1.2)
	b.Spec.Comparison.Baseline = v1alpha1.Baseline{LastPassed: &v1alpha1.LastPassed{}}
	server.SetBenchmark(b)
	start(t, server, accept...).wantEnd(t, exit.Unknown, `ConfigMap "connectors-r1-round" with the result not found`)
	server.SetConfigMap(config)
	start(t, server, append(accept, "--dry-run")...).wantEnd(t, exit.Success, "round 1 (Failed) is accepted as the baseline of later rounds (dry run)\n")
	if request := server.Benchmark().Annotations[v1alpha1.AnnotationAcceptRound]; request != "" {
		t.Errorf("a dry run set the annotation to %s", request)
	}
	start(t, server, append(accept, "--timeout", "1ms")...).wantEnd(t, exit.Unknown, "the operator has not answered within 1ms", "check that Assay is running")

	// The command waits for the answer, and makes a request that was refused again. The report has the answer.
	var requests []string
	server.Operator(func(b *v1alpha1.Benchmark) {
		requests = append(requests, lifecycle.AcceptanceRequest(b))
		lifecycle.Refuse(b, lifecycle.AcceptanceRequest(b), "Round 2 is under way.", roundStart)
	})
	for range 2 {
		start(t, server, accept...).wantEnd(t, exit.Failed, `the operator refused the request for Benchmark "connectors": Round 2 is under way.`)
	}
	if len(requests) != 2 || requests[0] == requests[1] || lifecycle.RequestedRound(requests[0]) != "1" {
		t.Errorf("the requests are %q", requests)
	}
	start(t, server, "report", "benchmark/connectors").wantEnd(t, exit.Success, "round 1: FAILED\n", "Note: The request to accept this round as the baseline was refused: Round 2 is under way.\n")
	server.Operator(func(b *v1alpha1.Benchmark) {
		candidate, _ := lifecycle.Acceptable(b)
		lifecycle.Accept(b, lifecycle.AcceptanceRequest(b), candidate, roundStart.Add(2*time.Hour))
	})
	start(t, server, accept...).wantEnd(t, exit.Success, "benchmark/connectors round 1 (Failed) is accepted as the baseline of later rounds\n")
	b = server.Benchmark()
	start(t, server, "report", "benchmark/connectors").wantEnd(t, exit.Success, "round 1: FAILED\n", "Note: This round was accepted as the baseline by hand at 2026-11-22T14:00:00Z.\n")
	start(t, server, accept...).wantEnd(t, exit.Success, "benchmark/connectors round 1 is the baseline already\n")
	server.SetBenchmark(active(b))
	start(t, server, accept...).wantEnd(t, exit.Failed, "Round 2 is under way. Wait for its end, or cancel it.")
}

func TestBenchmarkNames(t *testing.T) {
	server := startAPIServer(t)
	server.SetRun(succeeded(valid))
	server.SetBenchmark(connectors())
	for _, tc := range []struct {
		args []string
		text string
	}{
		{[]string{"watch", "benchmark/other"}, `Benchmark "other" not found in namespace "default"; list them with "kubectl get benchmarks --namespace default"`},
		{[]string{"watch", "pod/other"}, `unknown kind "pod": use benchmark/NAME or benchmarkrun/NAME`},
		{[]string{"watch", "benchmark/a/b"}, `"benchmark/a/b" is not the name of a Benchmark`},
		{[]string{"benchmark", "run", "benchmarkrun/tomcat"}, `"benchmarkrun/tomcat" is not a Benchmark`},
		{[]string{"benchmark", "connectors"}, `unknown verb "connectors": use benchmark run, cancel, accept, suspend or resume`},
		{[]string{"benchmark", "cancel", "other"}, `Benchmark "other" not found`},
		{[]string{"benchmark", "run", "connectors", "--wait", "--dry-run"}, "must not be used together"},
		{[]string{"benchmark", "run", "connectors", "--timeout", "1m"}, "--timeout needs --wait"},
		{[]string{"benchmark", "run"}, `a name is missing; use "kubectl assay benchmark run NAME`},
		{[]string{"report"}, `a name is missing; use "kubectl assay report (NAME | benchmark/NAME)`},
		{[]string{"watch", "benchmark", "connectors"}, `one name is expected, not 2: benchmark connectors; use "kubectl assay watch (NAME | benchmark/NAME)`},
		{[]string{"watch", "connectors"}, `BenchmarkRun "connectors" not found in namespace "default"; "connectors" is a Benchmark: use benchmark/connectors`},
		{[]string{"report", "connectors"}, `"connectors" is a Benchmark: use benchmark/connectors`},
		{[]string{"compare", "connectors", "tomcat"}, `"connectors" is a Benchmark: use benchmark/connectors`},
		{[]string{"report", "benchmark/tomcat"}, `Benchmark "tomcat" not found in namespace "default"; "tomcat" is a BenchmarkRun: use benchmarkrun/tomcat`},
		{[]string{"benchmark", "run", "tomcat"}, `"tomcat" is a BenchmarkRun`},
	} {
		start(t, server, tc.args...).wantEnd(t, exit.Unknown, tc.text)
	}
	start(t, server, "watch", "benchmarkrun/tomcat").wantEnd(t, exit.Success, "tomcat succeeded")
	start(t, server, "__complete", "watch", "").wantEnd(t, exit.Success, "tomcat\n", "benchmark/connectors\n")
	start(t, server, "__complete", "benchmark", "run", "").wantEnd(t, exit.Success, "connectors\n")
}
