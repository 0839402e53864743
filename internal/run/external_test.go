package run

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/run/failure"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/session"
)

func TestExternalTargetsAreAskedByClient0(t *testing.T) {
	failing := func(s *scene) *scene {
		c := s.o.Sessions.Clients[0]
		c.ProbeFailure = "connection refused"
		s.o.Sessions.Clients[0] = c
		s.o.Job.CreationTimestamp.Time = now.Add(-6 * time.Second)
		s.run.Status.AdmissionTime = &s.o.Job.CreationTimestamp
		return s
	}
	within := func(s *scene, seconds int32) *scene {
		s.run.Spec.Target.Readiness.TimeoutSeconds = &seconds
		return s
	}
	wasReady := func(s *scene) *scene { return s.became(time.Minute) }
	lost := func(s *scene) *scene {
		return s.clients(func(c *session.ClientState) {
			c.Connected, c.DisconnectedSince = false, now.Add(-observed.ContactTimeout-time.Second)
		})
	}
	tests := map[string]struct {
		scene  *scene
		reason string
		says   []string
	}{
		"nobody has said anything": {externalScene(), v1alpha1.ReasonStarting, []string{"Client 0 probes the target", "0 of 2"}},
		"it doesn't answer yet":    {within(failing(externalScene()), 10), v1alpha1.ReasonStarting, []string{"connection refused"}},
		"it didn't answer in time": {within(failing(externalScene()), 5), v1alpha1.ReasonTargetNotReady, []string{"within 5s", "http://www.example.org:81", "client 0: connection refused", "external.url"}},
		"it was never asked": {within(func() *scene {
			s := externalScene()
			s.o.Job.CreationTimestamp.Time = now.Add(-6 * time.Second)
			s.run.Status.AdmissionTime = &s.o.Job.CreationTimestamp
			return s
		}(), 5), v1alpha1.ReasonTargetNotReady, []string{"it never probed the target"}},
		"it answers, client 1 isn't up": {externalScene().answered(), v1alpha1.ReasonStarting, []string{"The readiness probe succeeded", "0 of 2"}},
		"all are ready":                 {externalScene().standing(), v1alpha1.ReasonMeasuring, nil},
		"a restart, and nobody is back": {wasReady(func() *scene { s := externalScene(); s.o.Sessions = session.Observation{Since: now}; return s }()), v1alpha1.ReasonStarting, nil},
		"a restart, nobody comes back": {func() *scene {
			s := wasReady(externalScene())
			s.o.Sessions = session.Observation{Since: now.Add(-observed.ContactTimeout - time.Second)}
			s.clientsWereReady()
			return s
		}(), v1alpha1.ReasonClientLost, []string{"Client 0 was disconnected"}},
		"the clients are lost": {lost(externalScene().standing()), v1alpha1.ReasonClientLost, []string{"Client 0 was disconnected"}},
		"the clients fail":     {externalScene().clients(func(c *session.ClientState) { c.Failure = "no route" }), v1alpha1.ReasonClientFailed, []string{"no route"}},
		"the Job is deleted":   {func() *scene { s := externalScene(); s.o.Job = nil; return s }(), v1alpha1.ReasonClientLost, []string{"Job"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := test.scene.decide()
			got := stateIn(p)
			if got.Reason != test.reason {
				t.Errorf("%s: %s; want %s", got.Reason, got.Message, test.reason)
			}
			for _, text := range test.says {
				if !strings.Contains(got.Message, text) {
					t.Errorf("the message is %q, without %q", got.Message, text)
				}
			}
			if got.Status == metav1.ConditionUnknown && (p.Prepare == nil || p.Prepare.Address != "www.example.org:81" || p.Watch != nil || creates(p, "run-target") || p.Read) {
				t.Errorf("prepares %+v, watches %+v, creates the target %t, reads %t", p.Prepare, p.Watch, creates(p, "run-target"), p.Read)
			}
			if got.Status == metav1.ConditionUnknown && (p.RequeueAfter <= 0 || p.RequeueAfter > time.Hour) {
				t.Errorf("it looks again after %s", p.RequeueAfter)
			}
		})
	}
}

// TestASlowTargetDoesNotMakeClientsLate checks that clients may wait longer for
// their target than they may take to become ready themselves.
func TestASlowTargetDoesNotMakeClientsLate(t *testing.T) {
	for name, make := range map[string]func() *scene{"external": externalScene, "started": newScene} {
		t.Run(name, func(t *testing.T) {
			s := make()
			s.run.Spec.Target.Readiness.TimeoutSeconds = new(int32(3000))
			s.o.Job.CreationTimestamp.Time = now.Add(-2 * failure.ClientsReadyTimeout)
			s.run.Status.AdmissionTime = &s.o.Job.CreationTimestamp
			p := s.decide()
			if got := stateIn(p); got.Reason != v1alpha1.ReasonStarting {
				t.Errorf("while the target starts: %s: %s", got.Reason, got.Message)
			}
			if p.RequeueAfter < time.Second {
				t.Errorf("it looks again after %s", p.RequeueAfter)
			}
		})
	}
}
