package ending

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/run/state"
	"github.com/assay-dev/assay/internal/run/step"
)

// ReclaimInterval is the time between two attempts to delete the objects of a deleted run.
const ReclaimInterval = 10 * time.Second

// Finalizer plans to add or remove the finalizer. A run has it, from before its first object is stored, if and only if
// objects are deleted with their runs. So it disappears from all runs when the manager is started with another policy,
// or without buckets.
func Finalizer(p *step.Planner) {
	has := state.HasFinalizer(p.Run)
	switch {
	case has && !p.Observed.Reclaims:
		p.Finalizer = step.RemoveFinalizer
	case !has && p.Observed.Reclaims && (p.Upload != nil || meta.IsStatusConditionTrue(p.Status.Conditions, v1alpha1.ConditionArchived)):
		p.Finalizer = step.AddFinalizer
	}
}

// Reclaim deletes the children of a run that is being deleted, and its objects. The run is gone when they are, or when
// that has failed for too long.
func Reclaim(p *step.Planner) {
	p.Forget = true
	DeleteChildren(p)
	p.SetCondition(v1alpha1.ConditionReconciling, metav1.ConditionTrue, v1alpha1.ReasonDeletingObjects, "The run's objects are being deleted from their bucket.")
	reclaim := p.Observed.Reclaim
	if !p.Observed.Reclaims {
		retain(p, "Objects aren't deleted with their runs, or the manager has no bucket.")
		return
	}
	attempt, end := reclaim.Attempt, p.Run.DeletionTimestamp.Add(reclaim.Timeout)
	switch {
	case reclaim.Uploading: // until that is known to have ended, the object may still appear
	case attempt == nil:
		p.Reclaim = true
	case attempt.Running:
	case attempt.Err == nil:
		p.Finalizer = step.RemoveFinalizer
	case attempt.Final || !p.Now.Before(end):
		retain(p, printable.WithoutPeriod(attempt.Err.Error())+".")
		return
	default:
		next := attempt.At.Add(ReclaimInterval)
		p.Reclaim = !p.Now.Before(next)
		p.RequeueAt(next)
		p.RequeueAt(end)
	}
	if attempt != nil && attempt.Err != nil {
		p.Retry(attempt.Err)
	}
}

// retain plans to let a deleted run go without its objects.
func retain(p *step.Planner, why string) {
	p.Finalizer = step.RemoveFinalizer
	switch object := p.Observed.Reclaim.Object; {
	case object != nil:
		p.Retained = "Object " + object.Key + " stays in bucket " + object.Bucket + ": " + why
	case p.Observed.Bucket != nil:
		p.Retained = "Objects " + p.Observed.Bucket.Prefix + "* may stay in bucket " + p.Observed.Bucket.Location + ": " + why
	}
}
