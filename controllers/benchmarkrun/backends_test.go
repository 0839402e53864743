package benchmarkrun

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/test/wrapper"
)

// TestReconcileSharesCPU checks that the API server keeps the limit of the whole pod, that the result has it, and
// that a run ends if the API server doesn't keep it.
func TestReconcileSharesCPU(t *testing.T) {
	shared := func(w *wrapper.Run) {
		w.Spec.Target.SharedCPU = new(resource.MustParse("150m"))
		w.Spec.Target.Backends = []v1alpha1.Backend{{
			Name: "app", Image: "app:1", Server: v1alpha1.BackendServer{Generic: &v1alpha1.GenericServer{Port: new(int32(8081))}},
		}}
	}
	b := newBench(t, shared)
	b.reconcile()
	pod := b.targetPod()
	if pod.Spec.Resources == nil || pod.Spec.Resources.Limits.Cpu().MilliValue() != 150 || pod.Status.QOSClass != corev1.PodQOSGuaranteed {
		t.Fatalf("the pod has %+v, its class is %s", pod.Spec.Resources, pod.Status.QOSClass)
	}
	b.podsRun()
	agent := b.sessions.observation.Agent
	agent.Backends = []session.BackendState{{Name: "app", Usage: session.Usage{Latest: &result.ServerUsage{CPUs: "1", AgentCPUs: "0"}}}}
	b.reconcile()
	b.wants(v1alpha1.ReasonMeasuring)
	b.measured(b.sessions.starts[measurementStage])
	b.reconcile()
	b.reconcile()
	b.wants(v1alpha1.ReasonCompleted)
	var stored corev1.ConfigMap
	if err := b.get("run-result", &stored); err != nil {
		t.Fatal(err)
	}
	r, err := artifact.Decode(stored.BinaryData[artifact.Key])
	if err != nil {
		t.Fatal(err)
	}
	if e := r.Environment; e.SharedCPULimit != 150 || e.TargetCPULimit != 100 || e.Backends[0].CPULimit != 150 {
		t.Errorf("limits %d, %d and %d", e.SharedCPULimit, e.TargetCPULimit, e.Backends[0].CPULimit)
	}

	b = newBench(t, shared)
	b.intercept(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, obj client.Object, options ...client.CreateOption) error {
			if pod, ok := obj.(*corev1.Pod); ok {
				pod.Spec.Resources = nil // an API server without the feature
			}
			return c.Create(ctx, obj, options...)
		},
	})
	b.reconcile()
	b.reconcile()
	if got := b.state(); got.Reason != v1alpha1.ReasonInvalidSpec || !strings.Contains(got.Message, "spec.target.sharedCPU needs pod-level resources") {
		t.Errorf("%+v", got)
	}
}

// TestReconcileMeasuresBackends checks the usage of a backend in status and result.
func TestReconcileMeasuresBackends(t *testing.T) {
	b := newBench(t, func(w *wrapper.Run) {
		w.Spec.Target.Backends = []v1alpha1.Backend{{
			Name: "app", Image: "app:1", Server: v1alpha1.BackendServer{Generic: &v1alpha1.GenericServer{Port: new(int32(8081))}},
		}}
	})
	b.reconcile()
	if got := manifest.Servers(b.run, b.targetPod())[1]; got.Image != "app:1" || got.Resources.Limits.Cpu().MilliValue() != 1000 {
		t.Errorf("the backend's container: %+v", got)
	}
	b.podsRun()
	agent := b.sessions.observation.Agent
	agent.Backends = []session.BackendState{{Name: "app", Usage: session.Usage{Latest: &result.ServerUsage{CPUs: "2", AgentCPUs: "0"}}}}
	b.reconcile()
	b.wants(v1alpha1.ReasonMeasuring)
	at := b.sessions.starts[measurementStage]
	b.measured(at)
	agent.Backends[0] = session.BackendState{
		Name: "app", Usage: session.Usage{
			Begin: &result.ServerUsage{At: at}, Latest: &result.ServerUsage{At: at + 1_000_000, UserCPU: 250_000, MaxResident: 9, CPUs: "2", AgentCPUs: "0"},
		},
	}
	agent.Latest.AgentCPUs = "0"
	b.reconcile()
	b.reconcile()
	b.wants(v1alpha1.ReasonCompleted)
	usage := b.run.Status.Target.Backends[0].Usage
	if usage == nil || *usage.UserCPUMicroseconds != 250_000 || *usage.CPUPercent != 25 || *usage.MaxResidentBytes != 9 {
		t.Errorf("usage: %+v", usage)
	}
}
