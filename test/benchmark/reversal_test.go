package main

import (
	"math/rand/v2"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/benchmark/inference"
	"github.com/assay-dev/assay/internal/benchmark/plan"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/validity"
)

// reversedRound is a round by a starved client, whose metrics would say that the slower server is the better one. valid
// reports whether its runs count.
func reversedRound(t *testing.T, valid bool) *benchmark.Round {
	t.Helper()
	b := reversalBenchmark(testStage("reversal"), "starved", starvedClient, starvedReplace)
	cells, err := cells.Of(&b.Spec)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(4, 0))
	p := &plan.Planner{Design: inference.Design{Spec: &b.Spec, Cells: cells}, Benchmark: b.Name, Number: 1, Seed: 5}
	round := &benchmark.Round{Benchmark: b.Name, Number: 1, Seed: 5, Spec: b.Spec, Cells: cells}
	for {
		step := p.Next(round.Runs)
		if end := step.End; end != nil {
			round.Evaluation, round.Verdict, round.Reason, round.Message = end.Evaluation, end.Verdict, end.Reason, end.Message
			return round
		}
		run := benchmark.Run{RunKey: step.Create.RunKey, Name: step.Create.Name}
		measured := &result.Result{DurationMicroseconds: 1_000_000, Clients: []result.Client{{}}}
		measured.Merged.Requests = 8000 + 1000*int64(step.Create.Cell) + random.Int64N(100)
		if !valid {
			measured.Findings = []result.Finding{{Reason: validity.ReasonClientSaturated, Severity: result.Invalidates, Message: "It waited."}}
		}
		run.Complete(measured, "")
		run.Started = metav1.Unix(int64(10*len(round.Runs)), 0).Time
		run.Ended = metav1.Unix(int64(10*len(round.Runs)+9), 0).Time
		round.Runs = append(round.Runs, run)
	}
}

// What a starved client measured is never compared. If it counted, the slower server would be better.
func TestReversal(t *testing.T) {
	void, believed := reversedRound(t, false), reversedRound(t, true)
	if !concludedNothing(void) || len(void.Runs) != starvedReplace+1 {
		t.Errorf("%s, %s after %d runs: %s", concluded(void), void.Reason, len(void.Runs), void.Message)
	}
	if c := claimOf(believed, requestsPerSecond); concludedNothing(believed) || c.LowPercent == nil || *c.LowPercent <= 0 {
		t.Errorf("%s, %s", concluded(believed), believed.Reason)
	}
}

func TestBlamedOnClients(t *testing.T) {
	run := func(status metav1.ConditionStatus, reason string) v1alpha1.BenchmarkRun {
		return v1alpha1.BenchmarkRun{Status: v1alpha1.BenchmarkRunStatus{Conditions: []metav1.Condition{
			{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: "Completed"},
			{Type: v1alpha1.ConditionValid, Status: status, Reason: reason},
		}}}
	}
	saturated, throttled := run(metav1.ConditionFalse, validity.ReasonClientSaturated), run(metav1.ConditionFalse, validity.ReasonClientThrottled)
	for name, test := range map[string]struct {
		runs []v1alpha1.BenchmarkRun
		want bool
	}{
		"all":           {[]v1alpha1.BenchmarkRun{saturated, throttled, saturated}, true},
		"one is valid":  {[]v1alpha1.BenchmarkRun{saturated, saturated, run(metav1.ConditionTrue, v1alpha1.ReasonValid)}, false},
		"another cause": {[]v1alpha1.BenchmarkRun{saturated, saturated, run(metav1.ConditionFalse, validity.ReasonNodeBusy)}, false},
		"too few":       {[]v1alpha1.BenchmarkRun{saturated, saturated}, false},
	} {
		if got := blamedOnClients(invalidReasons(test.runs), 3); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
