package benchmarkrun

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/manager"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/test/wrapper"
)

func external(w *wrapper.Run) {
	w.Spec.Target = v1alpha1.Target{Server: v1alpha1.Server{External: &v1alpha1.ExternalServer{URL: "https://www.example.org"}}}
}

// externalScene is a run of an external server, whose clients run and have said
// nothing yet.
func externalScene() *scene {
	s := newScene()
	s.run.Spec.Target = v1alpha1.Target{Server: v1alpha1.Server{External: &v1alpha1.ExternalServer{URL: "http://www.example.org:81"}}}
	s.o.target, s.o.sessions.Agent = nil, nil
	return s
}

// answered has client 0 have seen the target answer.
func (s *scene) answered() *scene {
	c := s.o.sessions.Clients[0]
	c.ProbeResult = &session.ProbeResult{Software: "theirs"}
	s.o.sessions.Clients[0] = c
	return s
}

func (s *scene) standing() *scene {
	return s.answered().clients(func(c *manager.ClientState) { c.Ready = true })
}

func TestExternalTargetsAreAskedByClient0(t *testing.T) {
	silent := func(s *scene) *scene {
		c := s.o.sessions.Clients[0]
		c.ProbeFailure = "connection refused"
		s.o.sessions.Clients[0] = c
		s.o.job.CreationTimestamp.Time = now.Add(-6 * time.Second)
		return s
	}
	within := func(s *scene, seconds int32) *scene {
		s.run.Spec.Target.Readiness.TimeoutSeconds = &seconds
		return s
	}
	wasReady := func(s *scene) *scene { return s.became(time.Minute) }
	lost := func(s *scene) *scene {
		return s.clients(func(c *manager.ClientState) { c.Connected, c.DisconnectedSince = false, now.Add(-silence-time.Second) })
	}
	tests := map[string]struct {
		scene  *scene
		reason string
		says   []string
	}{
		"nobody has said anything": {externalScene(), v1alpha1.ReasonStarting, []string{"client 0 asks the target", "0 of 2 clients"}},
		"it doesn't answer yet":    {within(silent(externalScene()), 10), v1alpha1.ReasonStarting, []string{"connection refused"}},
		"it didn't answer in time": {within(silent(externalScene()), 5), v1alpha1.ReasonTargetNotReady, []string{"within 5 s", "http://www.example.org:81", "client 0: connection refused", "external.url"}},
		"it was never asked": {within(func() *scene {
			s := externalScene()
			s.o.job.CreationTimestamp.Time = now.Add(-6 * time.Second)
			return s
		}(), 5), v1alpha1.ReasonTargetNotReady, []string{"it never asked"}},
		"it answers, client 1 isn't up": {externalScene().answered(), v1alpha1.ReasonStarting, []string{"the target answered", "0 of 2 clients"}},
		"all are ready":                 {externalScene().standing(), v1alpha1.ReasonMeasuring, nil},
		"a restart, and nobody is back": {wasReady(func() *scene { s := externalScene(); s.o.sessions = manager.Observation{Since: now}; return s }()), v1alpha1.ReasonStarting, nil},
		"a restart, nobody comes back": {func() *scene {
			s := wasReady(externalScene())
			s.o.sessions = manager.Observation{Since: now.Add(-silence - time.Second)}
			s.clientsWereReady()
			return s
		}(), v1alpha1.ReasonClientLost, []string{"client 0 was silent"}},
		"the clients are lost": {lost(externalScene().standing()), v1alpha1.ReasonClientLost, []string{"client 0 was silent"}},
		"the clients fail":     {externalScene().clients(func(c *manager.ClientState) { c.Failure = "no route" }), v1alpha1.ReasonClientFailed, []string{"no route"}},
		"the Job is deleted":   {func() *scene { s := externalScene(); s.o.job = nil; return s }(), v1alpha1.ReasonClientLost, []string{"Job"}},
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
			if got.Status == metav1.ConditionUnknown && (p.address != "www.example.org:81" || p.createTarget || p.read) {
				t.Errorf("address %s, createTarget %t, read %t", p.address, p.createTarget, p.read)
			}
			if got.Status == metav1.ConditionUnknown && (p.requeueAfter <= 0 || p.requeueAfter > time.Hour) {
				t.Errorf("it looks again after %s", p.requeueAfter)
			}
		})
	}
}

// clientsWereReady has the status say that all clients were.
func (s *scene) clientsWereReady() {
	s.run.Status.Conditions = append(s.run.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionClientsReady, Status: metav1.ConditionTrue})
}

// TestASlowTargetDoesNotMakeClientsLate has clients wait for their target for
// longer than they may take themselves.
func TestASlowTargetDoesNotMakeClientsLate(t *testing.T) {
	for name, make := range map[string]func() *scene{"external": externalScene, "started": newScene} {
		t.Run(name, func(t *testing.T) {
			s := make()
			s.run.Spec.Target.Readiness.TimeoutSeconds = new(int32(3000))
			s.o.job.CreationTimestamp.Time = now.Add(-2 * clientsGrace)
			p := s.decide()
			if got := stateIn(p); got.Reason != v1alpha1.ReasonStarting {
				t.Errorf("while the target starts: %s: %s", got.Reason, got.Message)
			}
			if p.requeueAfter < time.Second {
				t.Errorf("it looks again after %s", p.requeueAfter)
			}
		})
	}
}

// TestReconcileExternal goes through a run, with the manager restarted at each
// stage.
func TestReconcileExternal(t *testing.T) {
	b := newBench(t, external)
	b.reconcile()
	b.wants(v1alpha1.ReasonStarting)
	for name, obj := range map[string]client.Object{"run-config": &corev1.ConfigMap{}, "run-client": &batchv1.Job{}} {
		if err := b.get(name, obj); err != nil {
			t.Error(err)
		}
	}
	if err := b.get("run-target", &corev1.Pod{}); !apierrors.IsNotFound(err) {
		t.Errorf("a target's pod: %v", err)
	}
	if b.sessions.address != "" || b.sessions.plans[0].Probe != "/" || b.sessions.plans[1].Probe != "" || b.sessions.plans[0].Host != "www.example.org" {
		t.Errorf("watch %q, plans %+v", b.sessions.address, b.sessions.plans)
	}
	restart := func(reason string) {
		t.Helper()
		seen := b.sessions.observation
		b.restarted()
		b.sessions.observation = manager.Observation{Since: b.clock.Now()}
		b.later(silence - time.Second)
		b.reconcile()
		b.wants(reason)
		b.sessions.observation = seen
	}
	restart(v1alpha1.ReasonStarting)

	other := manager.ClientState{Connected: true, Node: "node"}
	first := other
	first.ProbeResult = &session.ProbeResult{Software: "theirs", DocumentLength: 7}
	b.sessions.observation = manager.Observation{Clients: map[int]manager.ClientState{0: first, 1: other}}
	b.reconcile()
	if !meta.IsStatusConditionTrue(b.run.Status.Conditions, v1alpha1.ConditionTargetReady) {
		t.Error("the target isn't ready")
	}
	restart(v1alpha1.ReasonStarting)
	first.Ready, other.Ready = true, true
	b.sessions.observation = manager.Observation{Clients: map[int]manager.ClientState{0: first, 1: other}}
	b.reconcile()
	b.wants(v1alpha1.ReasonMeasuring)
	at := b.sessions.starts[measurementStage]
	if got := b.run.Status.Target; got.Address != "www.example.org:443" || got.ServerSoftware != "theirs" || got.Node != "" {
		t.Errorf("target: %+v", got)
	}
	b.sessions.observation.Starts = map[sessionpb.Stage]int64{measurementStage: at}
	restart(v1alpha1.ReasonMeasuring)
	b.sessions.observation.Agent = &manager.AgentState{} // what measured changes
	b.measured(at)
	b.sessions.observation.Agent = nil
	b.reconcile()
	seen := b.sessions.observation
	b.sessions.observation = manager.Observation{}
	b.restarted()
	b.reconcile()
	b.wants(v1alpha1.ReasonCompleted)
	b.sessions.observation = seen
	if b.run.Status.Result.Target != nil {
		t.Errorf("what the target used: %+v", b.run.Status.Result.Target)
	}
}
