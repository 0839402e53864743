package benchmarkrun

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/test/wrapper"
)

// TestReconcileContinuesUnverified checks a run whose server's log can't be read.
func TestReconcileContinuesUnverified(t *testing.T) {
	b := newBench(t, func(w *wrapper.Run) { w.Tomcat() })
	b.Logs = func(_ context.Context, namespace, pod, container string) (string, error) {
		if namespace != b.run.Namespace || pod != "run-target" || container != server.ContainerName {
			t.Errorf("the log of %s/%s/%s", namespace, pod, container)
		}
		return "", errKilled
	}
	b.reconcile()
	b.podsRun()
	b.reconcile()
	b.wants(v1alpha1.ReasonStarting, "Waiting for the server's log", errKilled.Error())
	if !meta.IsStatusConditionTrue(b.run.Status.Conditions, v1alpha1.ConditionTargetReady) {
		t.Error("the target isn't ready")
	}
	b.later(verificationTimeout + time.Second)
	b.reconcile()
	b.wants(v1alpha1.ReasonMeasuring)
	b.measured(b.sessions.starts[measurementStage])
	b.reconcile()
	b.reconcile()
	b.wants(v1alpha1.ReasonCompleted)
}
