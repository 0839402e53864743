package benchmarkrun

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/test/wrapper"
)

// changesIn creates the target of a new run, and a client as the Job controller does, and returns what the API server has changed
// in them.
func changesIn(t *testing.T, b *bench) (target, clientPod []manifest.Change) {
	t.Helper()
	b.reconcile()
	b.bind()
	b.reconcile()
	var pod corev1.Pod
	if err := b.get("run-target", &pod); err != nil {
		t.Fatal(err)
	}
	var job batchv1.Job
	if err := b.get("run-client", &job); err != nil {
		t.Fatal(err)
	}
	template := job.Spec.Template
	made := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: "run-client-0-", Namespace: b.run.Namespace, Labels: template.Labels, Annotations: template.Annotations}, Spec: template.Spec}
	mustCreate(t, made)
	return manifest.Changes(trimPod(&pod)), manifest.Changes(trimPod(made))
}

// TestChangesOfPodsOnAnAPIServer compares pods with what was written: as the API server's defaulting and its own admission plugins leave
// them, which is no change, and with a policy that adds a container.
func TestChangesOfPodsOnAnAPIServer(t *testing.T) {
	for name, change := range map[string]func(*wrapper.Run){
		"plain": func(*wrapper.Run) {}, "TLS": mutual(selfSigned(), selfSigned()),
		"odd quantities": func(w *wrapper.Run) {
			w.Clients(1, "1000m", "131072Ki").Obj().Spec.Target.Resources = wrapper.Resources("0.5", "0.25Gi")
		},
	} {
		if target, clientPod := changesIn(t, newBench(t, change)); target != nil || clientPod != nil {
			t.Errorf("%s: target %+v, client %+v", name, target, clientPod)
		}
	}

	b := newBench(t)
	policy, binding := wrapper.Injection(b.run.Namespace, "proxy:1", "")
	mustCreate(t, policy)
	mustCreate(t, binding)
	t.Cleanup(func() {
		_ = api.Delete(context.Background(), binding)
		_ = api.Delete(context.Background(), policy)
	})
	if err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		probe := clientPodSpec(b.run.Namespace, "")
		probe.GenerateName = "x-"
		err := api.Create(ctx, probe, client.DryRunAll)
		return len(probe.Spec.Containers) > 1, err
	}); err != nil {
		t.Fatalf("the policy has no effect: %v", err)
	}
	want := []manifest.Change{
		{Field: "containers[proxy]", Is: "proxy:1", Effect: manifest.AddsContainer}, {Field: "qosClass", Was: "Guaranteed", Is: "Burstable", Effect: manifest.ChangesResources},
	}
	target, clientPod := changesIn(t, b)
	if diff := cmp.Diff(want, target); diff != "" {
		t.Errorf("the target (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, clientPod); diff != "" {
		t.Errorf("the client (-want +got):\n%s", diff)
	}
}

// TestReconcileWaitsForAQueue suspends the Job of a run with a queue, as Kueue does. Meanwhile another run has the lane.
func TestReconcileWaitsForAQueue(t *testing.T) {
	b := newBench(t, func(w *wrapper.Run) { w.Obj().Labels = map[string]string{manifest.LabelQueue: "team-a"} })
	b.reconcile()
	other := b.with(b.run.Spec.Lane) // later, so that the first has the lane
	suspend := func(is bool) {
		t.Helper()
		var job batchv1.Job
		if err := b.get("run-client", &job); err != nil || job.Labels[manifest.LabelQueue] != "team-a" {
			t.Fatalf("%v, labels %v", err, job.Labels)
		}
		job.Spec.Suspend = &is
		if err := api.Update(t.Context(), &job); err != nil {
			t.Fatal(err)
		}
		b.reconcile()
	}
	suspend(true)
	b.wantState(v1alpha1.ReasonQueued, "Job run-client is suspended by Kueue, queue team-a.")
	if err := b.get("run-target", &corev1.Pod{}); !apierrors.IsNotFound(err) {
		t.Errorf("the target of a run that waits: %v", err)
	}
	other.reconcile()
	other.wantState(v1alpha1.ReasonStarting, "")

	suspend(false)
	b.reconcile()
	b.wantState(v1alpha1.ReasonQueued, "hold the lane")
	if err := api.Delete(t.Context(), other.run); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Reconcile(t.Context(), other.request()); err != nil {
		t.Fatal(err)
	}
	var target corev1.Pod
	if err := other.get("run-target", &target); err != nil {
		t.Fatal(err)
	}
	if err := api.Delete(t.Context(), &target, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
	b.reconcile()
	b.wantState(v1alpha1.ReasonStarting, "")
	if err := b.get("run-target", &corev1.Pod{}); err != nil {
		t.Errorf("the target of a run whose Job was resumed: %v", err)
	}
}
