package run

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/run/step"
	"github.com/assay-dev/assay/internal/session"
)

func TestWarmUpUntilSteady(t *testing.T) {
	ended := func(c *session.ClientState) { c.WarmupEnded = true }
	decided := func(s *scene, outcome v1alpha1.SteadyOutcome) *scene {
		s.run.Status.Warmup = &v1alpha1.WarmupStatus{Steady: outcome}
		return s
	}
	half := warming(warmed(1000))
	first := half.o.Sessions.Clients[0]
	first.WarmupEnded = true
	half.o.Sessions.Clients[0] = first
	tests := map[string]struct {
		scene    *scene
		outcome  v1alpha1.SteadyOutcome // as the status has it; empty for undecided
		windows  int
		requests bool
		state    string
		says     string
	}{
		"before a window has ended": {warming(nil), "", 0, false, v1alpha1.ReasonWarmingUp, "no windows were compared"},
		"not steady yet":            {warming(warmed(1200)), "", 0, false, v1alpha1.ReasonWarmingUp, "spread 18.8%, bound 5%"},
		"steady":                    {warming(warmed(1000)), v1alpha1.SteadyReached, 3, true, v1alpha1.ReasonWarmingUp, "the target is steady"},
		"steady, by an earlier manager": {
			decided(warming(nil), v1alpha1.SteadyReached), v1alpha1.SteadyReached, 0, true, v1alpha1.ReasonWarmingUp, "0 of 2",
		},
		"a client has ended before the request": {half, v1alpha1.SteadyReached, 3, true, v1alpha1.ReasonWarmingUp, "1 of 2"},
		"all ended on request": {
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
			p := test.scene.decide()
			var outcome v1alpha1.SteadyOutcome
			var windows int
			if w := p.Status.Warmup; w != nil {
				outcome, windows = w.Steady, len(w.Windows)
			}
			said := verdict(&p)
			if outcome != test.outcome || windows != test.windows || p.EndWarmup != test.requests || said.Reason != test.state {
				t.Errorf("%q with %d windows, requested %t, in the state %s: %s", outcome, windows, p.EndWarmup, said.Reason, said.Message)
			}
			if !strings.Contains(said.Message, test.says) {
				t.Errorf("%q lacks %q", said.Message, test.says)
			}
			if test.state == v1alpha1.ReasonWarmingUp && p.Status.Progress.RemainingSeconds != nil {
				t.Errorf("%d s remain, although it may end at any time", *p.Status.Progress.RemainingSeconds)
			}
			if begun := p.Begin != nil && p.Begin.Stage == measurementStage; begun != (test.state == v1alpha1.ReasonMeasuring) {
				t.Errorf("begins %v", p.Begin)
			}
		})
	}
}

func verdict(p *step.Plan) metav1.Condition {
	for _, c := range p.Status.Conditions {
		if c.Type == v1alpha1.ConditionSucceeded {
			return c
		}
	}
	return metav1.Condition{}
}

// TestSuspensionForgetsTheWarmUp checks that a run that starts again is warmed up
// again.
func TestSuspensionForgetsTheWarmUp(t *testing.T) {
	s := warming(nil)
	s.run.Status.Warmup = &v1alpha1.WarmupStatus{Steady: v1alpha1.SteadyReached}
	s.run.Spec.Suspend = ptr.To(true)
	if p := s.decide(); p.Status.Warmup != nil {
		t.Errorf("status %+v", p.Status.Warmup)
	}
}
