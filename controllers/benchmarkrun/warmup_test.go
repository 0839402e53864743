package benchmarkrun

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session/manager"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/test/wrapper"
)

// untilSteady is a warm-up whose windows are compared with the defaults, for two
// minutes at most.
func untilSteady() *v1alpha1.Warmup {
	return &v1alpha1.Warmup{Steady: &v1alpha1.SteadyState{LimitSeconds: ptr.To(int32(120))}}
}

// warmed are three windows of 5 s; of the last the throughput is given.
func warmed(last int64) []result.WarmupWindow {
	return []result.WarmupWindow{
		{Second: 5, Seconds: 5, Succeeded: 1000, P99: 500}, {Second: 10, Seconds: 5, Succeeded: 1000, P99: 500}, {Second: 15, Seconds: 5, Succeeded: last, P99: 500},
	}
}

// warming is a run that is being warmed up until it is steady.
func warming(windows []result.WarmupWindow) *scene {
	s := newScene().started(warmupStage)
	s.run.Spec.Warmup = untilSteady()
	s.o.windows = windows
	return s
}

func TestWarmUpUntilSteady(t *testing.T) {
	ended := func(c *manager.ClientState) { c.WarmupEnded = true }
	decided := func(s *scene, outcome v1alpha1.SteadyOutcome) *scene {
		s.run.Status.Warmup = &v1alpha1.WarmupStatus{Steady: outcome}
		return s
	}
	half := warming(warmed(1000))
	first := half.o.sessions.Clients[0]
	first.WarmupEnded = true
	half.o.sessions.Clients[0] = first
	tests := map[string]struct {
		scene   *scene
		outcome v1alpha1.SteadyOutcome // as the status has it; empty for undecided
		windows int
		tells   bool
		state   string
		says    string
	}{
		"before a window has ended": {warming(nil), "", 0, false, v1alpha1.ReasonWarmingUp, "no window has been compared"},
		"not steady yet":            {warming(warmed(1200)), "", 0, false, v1alpha1.ReasonWarmingUp, "spread 18.8 %, bound 5 %"},
		"steady":                    {warming(warmed(1000)), v1alpha1.SteadyReached, 3, true, v1alpha1.ReasonWarmingUp, "the target is steady"},
		"steady, by an earlier manager": {
			decided(warming(nil), v1alpha1.SteadyReached), v1alpha1.SteadyReached, 0, true, v1alpha1.ReasonWarmingUp, "0 of 2 clients",
		},
		"a client has ended before it was told": {half, v1alpha1.SteadyReached, 3, true, v1alpha1.ReasonWarmingUp, "1 of 2 clients"},
		"all ended as they were told": {
			decided(warming(nil), v1alpha1.SteadyReached).clients(ended), v1alpha1.SteadyReached, 0, true, v1alpha1.ReasonMeasuring, "",
		},
		"the limit":                {warming(warmed(1200)).clients(ended), v1alpha1.SteadyNotReached, 3, false, v1alpha1.ReasonMeasuring, ""},
		"the limit, nobody looked": {warming(nil).clients(ended), v1alpha1.SteadyNotReached, 0, false, v1alpha1.ReasonMeasuring, ""},
		"steady at the limit":      {warming(warmed(1000)).clients(ended), v1alpha1.SteadyReached, 3, true, v1alpha1.ReasonMeasuring, ""},
		"a decision stands": {
			decided(warming(warmed(1000)), v1alpha1.SteadyNotReached).clients(ended), v1alpha1.SteadyNotReached, 0, false, v1alpha1.ReasonMeasuring, "",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := decide(test.scene.run, test.scene.o, now)
			var outcome v1alpha1.SteadyOutcome
			var windows int
			if w := p.status.Warmup; w != nil {
				outcome, windows = w.Steady, len(w.Windows)
			}
			said := verdict(&p)
			if outcome != test.outcome || windows != test.windows || p.endWarmup != test.tells || said.Reason != test.state {
				t.Errorf("%q with %d windows, told %t, in the state %s: %s", outcome, windows, p.endWarmup, said.Reason, said.Message)
			}
			if !strings.Contains(said.Message, test.says) {
				t.Errorf("%q lacks %q", said.Message, test.says)
			}
			if test.state == v1alpha1.ReasonWarmingUp && p.status.Progress.RemainingSeconds != nil {
				t.Errorf("%d s remain, although it may end at any time", *p.status.Progress.RemainingSeconds)
			}
			if begun := p.start[measurementStage] != 0; begun != (test.state == v1alpha1.ReasonMeasuring) {
				t.Errorf("starts %v", p.start)
			}
		})
	}
}

func verdict(p *plan) metav1.Condition {
	for _, c := range p.status.Conditions {
		if c.Type == v1alpha1.ConditionSucceeded {
			return c
		}
	}
	return metav1.Condition{}
}

// TestSuspensionForgetsTheWarmUp: a run that starts anew is warmed up anew.
func TestSuspensionForgetsTheWarmUp(t *testing.T) {
	s := warming(nil)
	s.run.Status.Warmup = &v1alpha1.WarmupStatus{Steady: v1alpha1.SteadyReached}
	s.run.Spec.Suspend = ptr.To(true)
	if p := decide(s.run, s.o, now); p.status.Warmup != nil {
		t.Errorf("status %+v", p.status.Warmup)
	}
}

// TestReconcileWarmsUpUntilSteady: clients are told to end their warm-up after the
// decision stands in the status, from which it goes into the artifact, whatever
// becomes of the manager between.
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
		t.Fatalf("not steady: told %t, %+v", b.sessions.ended, b.run.Status.Warmup)
	}
	b.sessions.windows = warmed(1020)
	b.reconcile()
	if w := b.run.Status.Warmup; !b.sessions.ended || w == nil || w.Steady != v1alpha1.SteadyReached {
		t.Fatalf("steady: told %t, %+v", b.sessions.ended, w)
	}
	b.sessions.ended, b.sessions.windows = false, nil // another manager
	b.reconcile()
	if !b.sessions.ended {
		t.Error("another manager doesn't tell the clients")
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
	var stored corev1.ConfigMap
	if err := b.get("run-result", &stored); err != nil {
		t.Fatal(err)
	}
	decoded, err := artifact.Decode(stored.BinaryData[artifact.Key])
	if err != nil {
		t.Fatal(err)
	}
	want := &result.Warmup{DurationMicroseconds: 21_000_000, Steady: &result.Steadiness{
		Reached: true, ThroughputPercent: 5, P99Percent: 25, Windows: warmed(1020),
	}}
	want.Requests = 10_000
	if diff := cmp.Diff(want, decoded.Warmup); diff != "" {
		t.Error(diff)
	}
}
