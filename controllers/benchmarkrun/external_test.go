package benchmarkrun

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/test/wrapper"
)

func external(w *wrapper.Run) {
	w.Spec.Target = v1alpha1.Target{Server: v1alpha1.Server{External: &v1alpha1.ExternalServer{URL: "https://www.example.org"}}}
}

// TestReconcileExternal takes a run through all stages and restarts the manager in
// each.
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
	if b.sessions.address != "" || b.sessions.plans[0].Probes[0].Request.Path != "/" || b.sessions.plans[1].Probes != nil || b.sessions.plans[0].Host != "www.example.org" {
		t.Errorf("watch %q, plans %+v", b.sessions.address, b.sessions.plans)
	}
	restart := func(reason string) {
		t.Helper()
		seen := b.sessions.observation
		b.restarted()
		b.sessions.observation = session.Observation{Since: b.clock.Now()}
		b.later(contactTimeout - time.Second)
		b.reconcile()
		b.wants(reason)
		b.sessions.observation = seen
	}
	restart(v1alpha1.ReasonStarting)

	other := session.ClientState{PodState: session.PodState{Connected: true, Node: "node"}}
	first := other
	first.ProbeResult = &session.ProbeResult{Software: "theirs", DocumentLength: 7}
	b.sessions.observation = session.Observation{Clients: map[int]session.ClientState{0: first, 1: other}}
	b.reconcile()
	if !meta.IsStatusConditionTrue(b.run.Status.Conditions, v1alpha1.ConditionTargetReady) {
		t.Error("the target isn't ready")
	}
	restart(v1alpha1.ReasonStarting)
	first.Ready, other.Ready = true, true
	b.sessions.observation = session.Observation{Clients: map[int]session.ClientState{0: first, 1: other}}
	b.reconcile()
	b.wants(v1alpha1.ReasonMeasuring)
	at := b.sessions.starts[measurementStage]
	if got := b.run.Status.Target; got.Address != "www.example.org:443" || got.ServerSoftware != "theirs" || got.Node != "" {
		t.Errorf("target: %+v", got)
	}
	b.sessions.observation.Starts = map[sessionpb.Stage]int64{measurementStage: at}
	restart(v1alpha1.ReasonMeasuring)
	b.sessions.observation.Agent = &session.AgentState{} // what measured changes
	b.measured(at)
	b.sessions.observation.Agent = nil
	b.reconcile()
	seen := b.sessions.observation
	b.sessions.observation = session.Observation{}
	b.restarted()
	b.reconcile()
	b.wants(v1alpha1.ReasonCompleted)
	b.sessions.observation = seen
	if b.run.Status.Result.Target != nil {
		t.Errorf("what the target used: %+v", b.run.Status.Result.Target)
	}
}
