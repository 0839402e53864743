package benchmarkrun

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/run/state"
)

// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// announce reports by events and metrics how the state of a run changed, once it is written. findings are
// those about the result of a run that has finished.
func (r *Reconciler) announce(before, after *v1alpha1.BenchmarkRun, findings []result.Finding) {
	was, is := state.Succeeded(before), state.Succeeded(after)
	if was.Reason == is.Reason {
		return
	}
	kind := corev1.EventTypeNormal
	if is.Status == metav1.ConditionFalse {
		kind = corev1.EventTypeWarning
	}
	r.Events.Eventf(after, nil, kind, is.Reason, "Reconcile", "%s", printable.Bounded(is.Message, 1024))
	if !state.IsFinished(after) {
		return
	}
	r.Metrics.RunFinished(after, findings)
	valid := meta.FindStatusCondition(after.Status.Conditions, v1alpha1.ConditionValid)
	if is.Status == metav1.ConditionTrue && valid.Status == metav1.ConditionFalse {
		r.Events.Eventf(after, nil, corev1.EventTypeWarning, valid.Reason, "Judge", "%s", printable.Bounded(valid.Message, 1024))
	}
}
