package benchmarkrun

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/test/wrapper"
)

func TestReconcileGoesOnAfterALateRestart(t *testing.T) {
	b := newBench(t)
	b.measuring()
	b.clock.SetTime(b.clock.Now().Add(6 * time.Minute)) // past every grace of the start
	b.sessions.observation = session.Observation{Since: b.clock.Now()}
	b.reconcile()
	if got := b.state(); got.Reason != v1alpha1.ReasonMeasuring {
		t.Errorf("before the pods came back: %+v", got)
	}
	b.clock.SetTime(b.clock.Now().Add(contactTimeout + time.Second))
	b.reconcile()
	if got := b.state(); got.Reason != v1alpha1.ReasonTargetLost {
		t.Errorf("when they never did: %+v", got)
	}
}

// TestReconcileDoesNotTakeOver uses a client that reads what the manager's cache
// holds: only runs, and objects with the label of a run.
func TestReconcileDoesNotTakeOver(t *testing.T) {
	b := newBench(t)
	theirs := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: b.run.Namespace, Name: "run-config"}, Data: map[string]string{"mine": "yes"}}
	if err := api.Create(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
	b.Client = asCached(t)
	b.reconcile()
	if got := b.state(); got.Reason != v1alpha1.ReasonNameConflict {
		t.Errorf("%+v", got)
	}
	b.reconcile() // cleans up
	var after corev1.ConfigMap
	if err := b.get("run-config", &after); err != nil || len(after.OwnerReferences) != 0 || after.Data["mine"] != "yes" {
		t.Errorf("their ConfigMap: %v, owners %v", err, after.OwnerReferences)
	}
}

func TestReconcileAwaitsTheEndOfAnEarlierRun(t *testing.T) {
	b := newBench(t)
	b.measuring()
	b.measured(b.sessions.starts[measurementStage])
	b.reconcile()
	b.reconcile()
	if err := api.Delete(t.Context(), b.run, client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
		t.Fatal(err)
	}
	again := b.run.DeepCopy()
	again.ObjectMeta = metav1.ObjectMeta{Namespace: b.run.Namespace, Name: b.run.Name}
	if err := api.Create(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	b.sessions.observation, b.run = session.Observation{}, again
	b.reconcile()
	if got := b.state(); got.Status != metav1.ConditionUnknown || b.run.Status.Result != nil {
		t.Errorf("next to what is left of an earlier run: %+v", got)
	}
}

func TestReconcileResumesWhenTheOldPodsAreGone(t *testing.T) {
	b := newBench(t)
	b.measuring()
	b.suspend(true)
	b.reconcile()
	b.sessions.observation = session.Observation{}
	b.suspend(false)
	b.reconcile()
	if got := b.state(); got.Reason != v1alpha1.ReasonQueued {
		t.Errorf("while the old target stops: %+v", got)
	}
	var pod corev1.Pod
	if err := b.get("run-target", &pod); err != nil {
		t.Fatal(err)
	}
	if err := api.Delete(t.Context(), &pod, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
	b.reconcile()
	if got := b.state(); got.Reason != v1alpha1.ReasonStarting {
		t.Errorf("afterwards: %+v", got)
	}
}

func (b *bench) suspend(suspend bool) {
	b.t.Helper()
	b.run.Spec.Suspend = ptr.To(suspend)
	if err := api.Update(b.t.Context(), b.run); err != nil {
		b.t.Fatal(err)
	}
}

func TestReconcileKeepsNoPodThatHoldsTheLaneForEver(t *testing.T) {
	first := newBench(t, func(w *wrapper.Run) { w.Retain(v1alpha1.RetainOnFailure) })
	first.reconcile()
	first.sessions.observation = session.Observation{Agent: &session.AgentState{PodState: session.PodState{Failure: "on purpose"}}}
	first.reconcile() // fails while no node has taken its target
	first.reconcile() // cleans up
	var pod corev1.Pod
	if err := first.get("run-target", &pod); !apierrors.IsNotFound(err) {
		t.Errorf("the Pending target is kept: %v", err)
	}
}
