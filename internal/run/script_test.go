package run

import (
	"strings"
	"testing"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

func TestDecideTakesAScriptFromStageToStage(t *testing.T) {
	leader := func(s *scene, change func(*session.ClientState)) *scene {
		c := s.o.Sessions.Clients[0]
		change(&c)
		s.o.Sessions.Clients[0] = c
		return s
	}
	setUp := func(c *session.ClientState) { c.Script.SetupEnded = true }
	loaded := func(c *session.ClientState) { c.Script = session.ScriptState{SetupEnded: true, LoadEnded: true} }
	for name, tc := range map[string]struct {
		scene  *scene
		state  string
		begins sessionpb.Stage
	}{
		"ready":                        {scripted().ready(), v1alpha1.ReasonSettingUp, setupStage},
		"setup() runs":                 {scripted().started(setupStage), v1alpha1.ReasonSettingUp, 0},
		"setup() ran":                  {leader(scripted().started(setupStage), setUp), v1alpha1.ReasonSettingUp, 0},
		"all have what it returned":    {scripted().started(setupStage).clients(setUp), v1alpha1.ReasonMeasuring, measurementStage},
		"measuring":                    {scripted().started(measurementStage).clients(setUp), v1alpha1.ReasonMeasuring, 0},
		"one load has ended":           {leader(scripted().started(measurementStage), loaded), v1alpha1.ReasonMeasuring, 0},
		"all loads have ended":         {scripted().started(measurementStage).clients(loaded), v1alpha1.ReasonTearingDown, teardownStage},
		"teardown() runs":              {scripted().started(teardownStage).clients(loaded), v1alpha1.ReasonTearingDown, 0},
		"the manager was restarted in": {scripted().started(setupStage).clients(func(c *session.ClientState) { c.Ready = false }), v1alpha1.ReasonSettingUp, 0},
	} {
		t.Run(name, func(t *testing.T) {
			p := tc.scene.decide()
			var begun sessionpb.Stage
			if p.Begin != nil {
				begun = p.Begin.Stage
			}
			if got := stateIn(p); got.Reason != tc.state || begun != tc.begins {
				t.Errorf("%s: %s; begins %v", got.Reason, got.Message, begun)
			}
		})
	}
}

func TestScriptFailuresHaveReasons(t *testing.T) {
	for kind, want := range map[session.FailureKind]string{
		session.FailureScriptInvalid: v1alpha1.ReasonScriptInvalid, session.FailureScriptException: v1alpha1.ReasonScriptException,
		session.FailureScriptAborted: v1alpha1.ReasonScriptAborted, 0: v1alpha1.ReasonClientFailed, 77: v1alpha1.ReasonClientFailed,
	} {
		s := scripted().clients(func(c *session.ClientState) { c.Failure, c.FailureKind = "k6 said so", kind })
		if got := stateIn(s.decide()); got.Reason != want || !strings.Contains(got.Message, "k6 said so") {
			t.Errorf("%q: %+v", kind, got)
		}
	}
}
