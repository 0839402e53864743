package benchmarkrun

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/test/wrapper"
)

// TestReconcileWarmsUpUntilSteady checks that clients are requested to end their
// warm-up only after the decision was written into the status. The artifact has the
// decision from there, even if the manager was restarted in between.
func TestReconcileWarmsUpUntilSteady(t *testing.T) {
	b := newBench(t, func(run *wrapper.Run) { run.WarmupUntilSteady(*untilSteady().Steady) })
	b.measuring()
	if got := b.state(); got.Reason != v1alpha1.ReasonWarmingUp || b.sessions.starts[warmupStage] == 0 || b.sessions.starts[measurementStage] != 0 {
		t.Fatalf("all are ready: %+v, %v", got, b.sessions.starts)
	}
	b.sessions.observation.Starts = map[sessionpb.Stage]int64{warmupStage: b.sessions.starts[warmupStage]}
	b.sessions.windows = warmed(1200)
	b.reconcile()
	if b.sessions.ended || b.run.Status.Warmup != nil {
		t.Fatalf("not steady: requested %t, %+v", b.sessions.ended, b.run.Status.Warmup)
	}
	b.sessions.windows = warmed(1020)
	b.reconcile()
	if w := b.run.Status.Warmup; !b.sessions.ended || w == nil || w.Steady != v1alpha1.SteadyReached {
		t.Fatalf("steady: requested %t, %+v", b.sessions.ended, w)
	}
	b.sessions.ended, b.sessions.windows = false, nil // another manager
	b.reconcile()
	if !b.sessions.ended {
		t.Error("another manager doesn't request it")
	}
	for i, c := range b.sessions.observation.Clients {
		c.WarmupEnded = true
		b.sessions.observation.Clients[i] = c
	}
	b.reconcile()
	at := b.sessions.starts[measurementStage]
	if got := b.state(); got.Reason != v1alpha1.ReasonMeasuring || at == 0 {
		t.Fatalf("all have ended: %+v", got)
	}
	b.measured(at)
	for i, c := range b.sessions.observation.Clients {
		c.Totals.Warmup, c.Totals.WarmupMicroseconds = &result.Counts{Requests: 5000}, 21_000_000
		b.sessions.observation.Clients[i] = c
	}
	b.reconcile()
	b.reconcile()
	decoded := b.stored()
	want := &result.Warmup{DurationMicroseconds: 21_000_000, Steady: &result.Steadiness{
		Reached: true, ThroughputPercent: 5, P99Percent: 25, Windows: warmed(1020),
	}}
	want.Requests = 10_000
	if diff := cmp.Diff(want, decoded.Warmup); diff != "" {
		t.Error(diff)
	}
}

// untilSteady returns a warm-up that compares its windows with the defaults, for
// two minutes at most.
func untilSteady() *v1alpha1.Warmup {
	return &v1alpha1.Warmup{Steady: &v1alpha1.SteadyState{TimeoutSeconds: new(int32(120))}}
}

// warmed returns three windows of 5 s, the last one with a given throughput.
func warmed(last int64) []result.WarmupWindow {
	return []result.WarmupWindow{
		{Second: 5, Seconds: 5, Succeeded: 1000, P99: 500}, {Second: 10, Seconds: 5, Succeeded: 1000, P99: 500}, {Second: 15, Seconds: 5, Succeeded: last, P99: 500},
	}
}
