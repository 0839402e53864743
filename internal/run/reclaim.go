package run

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/run/state"
)

// reclaimInterval is the time between two attempts to delete the objects of a deleted run.
const reclaimInterval = 10 * time.Second

// finalizer plans to add or remove the finalizer. A run has it, from before its first object is stored, if and only if
// objects are deleted with their runs. So it disappears from all runs when the manager is started with another policy,
// or without buckets.
func (p *planner) finalizer() {
	has := state.HasFinalizer(p.run)
	switch {
	case has && !p.observed.Reclaims:
		p.Finalizer = RemoveFinalizer
	case !has && p.observed.Reclaims && (p.Upload != nil || meta.IsStatusConditionTrue(p.Status.Conditions, v1alpha1.ConditionArchived)):
		p.Finalizer = AddFinalizer
	}
}

// reclaim deletes the children of a run that is being deleted, and its objects. The run is gone when they are, or when
// that has failed for too long.
func (p *planner) reclaim() {
	p.Forget = true
	p.deleteChildren()
	p.condition(v1alpha1.ConditionReconciling, metav1.ConditionTrue, v1alpha1.ReasonDeletingObjects, "The run's objects are being deleted from their bucket.")
	reclaim := p.observed.Reclaim
	if !p.observed.Reclaims {
		p.retain("Objects aren't deleted with their runs, or the manager has no bucket.")
		return
	}
	attempt, end := reclaim.Attempt, p.run.DeletionTimestamp.Add(reclaim.Timeout)
	switch {
	case reclaim.Uploading: // until that is known to have ended, the object may still appear
	case attempt == nil:
		p.Reclaim = true
	case attempt.Running:
	case attempt.Err == nil:
		p.Finalizer = RemoveFinalizer
	case attempt.Final || !p.now.Before(end):
		p.retain(printable.WithoutPeriod(attempt.Err.Error()) + ".")
		return
	default:
		next := attempt.At.Add(reclaimInterval)
		p.Reclaim = !p.now.Before(next)
		p.requeueAt(next)
		p.requeueAt(end)
	}
	if attempt != nil && attempt.Err != nil {
		p.Retry(attempt.Err)
	}
}

// retain plans to let a deleted run go without its objects.
func (p *planner) retain(why string) {
	p.Finalizer = RemoveFinalizer
	switch object := p.observed.Reclaim.Object; {
	case object != nil:
		p.Retained = "Object " + object.Key + " stays in bucket " + object.Bucket + ": " + why
	case p.observed.Bucket != nil:
		p.Retained = "Objects " + p.observed.Bucket.Prefix + "* may stay in bucket " + p.observed.Bucket.Location + ": " + why
	}
}
