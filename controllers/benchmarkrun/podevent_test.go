package benchmarkrun

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// TestReconcileReadsEventsOfPodsThatDoNotStart creates a kubelet's event at a real
// API server, and one of another pod.
func TestReconcileReadsEventsOfPodsThatDoNotStart(t *testing.T) {
	b := newBench(t)
	b.reconcile()
	b.podsRun()
	pod := b.targetPod()
	pod.Status.Phase = corev1.PodPending
	if err := api.Status().Update(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	b.sessions.observation.Agent = nil
	for uid, message := range map[types.UID]string{pod.UID: `secret "mine" not found`, "another": `secret "theirs" not found`} {
		event := &corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{Namespace: pod.Namespace, GenerateName: "event-"},
			InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: uid},
			Type:           "Warning", Reason: "FailedMount", Message: message, LastTimestamp: metav1.Now(),
		}
		if err := api.Create(t.Context(), event); err != nil {
			t.Fatal(err)
		}
	}
	b.later(podEventDelay + time.Second)
	b.reconcile()
	b.wants(v1alpha1.ReasonStarting, `secret "mine" not found`)
	b.later(inputTimeout)
	b.reconcile()
	b.wants(v1alpha1.ReasonConfigurationMissing, `secret "mine" not found`)
}
