package benchmarkrun

import (
	"testing"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/test/wrapper"
)

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
