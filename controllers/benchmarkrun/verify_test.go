package benchmarkrun

import (
	"context"
	"strings"
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
	b.Logs = func(_ context.Context, namespace, pod, container string, _ time.Time) (string, error) {
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

// TestReconcileReadsTheLogOfTheLoad checks that the log of the load is read when it is over, and once.
func TestReconcileReadsTheLogOfTheLoad(t *testing.T) {
	b := newBench(t, func(w *wrapper.Run) { w.Tomcat() })
	var since []time.Time
	b.Logs = func(_ context.Context, _, _, _ string, from time.Time) (string, error) {
		if from.IsZero() {
			return "", errKilled
		}
		since = append(since, from)
		return "22-Nov-2026 17:27:24.691 SEVERE [a] b\n", nil
	}
	b.reconcile()
	b.podsRun()
	b.reconcile()
	b.later(verificationTimeout + time.Second)
	b.reconcile()
	b.wants(v1alpha1.ReasonMeasuring)
	if len(since) > 0 {
		t.Errorf("the log was read under load, since %v", since)
	}
	b.measured(b.sessions.starts[measurementStage])
	b.reconcile()
	b.reconcile()
	b.wants(v1alpha1.ReasonCompleted)
	if start := time.UnixMicro(b.sessions.starts[measurementStage]); len(since) != 1 || since[0].Sub(start).Abs() > time.Second {
		t.Errorf("the log was read since %v, want once since %s", since, start)
	}
	if valid := meta.FindStatusCondition(b.run.Status.Conditions, v1alpha1.ConditionValid); !strings.Contains(valid.Message, "ServerLogErrors") {
		t.Errorf("Valid: %s", valid.Message)
	}
}
