package benchmark

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark/lifecycle"
)

// announce reports by events and metrics how the state of a Benchmark changed, once it is written.
func (r *Reconciler) announce(before, after *v1alpha1.Benchmark) {
	was, is := lifecycle.Succeeded(before), lifecycle.Succeeded(after)
	if was.Reason != is.Reason {
		kind := corev1.EventTypeNormal
		if is.Status == metav1.ConditionFalse {
			kind = corev1.EventTypeWarning
		}
		r.Events.Eventf(after, nil, kind, is.Reason, "Reconcile", "%.1024s", is.Message)
	}
	if a := after.Status.Acceptance; a != nil && (before.Status.Acceptance == nil || before.Status.Acceptance.Request != a.Request) {
		kind, reason := corev1.EventTypeNormal, "RoundAccepted"
		if a.Outcome == v1alpha1.AcceptanceRefused {
			kind, reason = corev1.EventTypeWarning, "RoundNotAccepted"
		}
		r.Events.Eventf(after, nil, kind, reason, "Accept", "%s", a.Message)
	}
	// The next round may have begun in the same step.
	if lifecycle.IsActive(before) && (!lifecycle.IsActive(after) || after.Status.Round.Number != before.Status.Round.Number) {
		r.Metrics.RoundFinished(after.Status.Verdict)
	}
}
