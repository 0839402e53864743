package state

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/printable"
)

// Draft is the status of a run that is being written.
type Draft struct {
	*v1alpha1.BenchmarkRunStatus
	Generation int64
	Now        time.Time
}

// Set sets a condition.
func (d *Draft) Set(kind string, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&d.Conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: printable.Bounded(message, MaxMessage), ObservedGeneration: d.Generation,
		LastTransitionTime: metav1.NewTime(d.Now), // used only if the status changes
	})
}
