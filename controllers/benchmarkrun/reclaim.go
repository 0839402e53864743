package benchmarkrun

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/bucket"
	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/step"
)

// +kubebuilder:rbac:groups=assay.dev,resources=benchmarkruns,verbs=patch

// observeReclaim reads how far the deletion of a deleted run's objects is. Which objects the run has is only in the
// API server: the cache lacks it of runs that have finished.
func (r *Reconciler) observeReclaim(ctx context.Context, br *v1alpha1.BenchmarkRun, o *observed.Run) error {
	o.Reclaim = &observed.Reclaim{}
	if r.Buckets != nil {
		_, o.Reclaim.Timeout = r.Buckets.Reclaims()
		r.observeBucket(br, o)
	}
	if o.Upload != nil && o.Upload.Running {
		o.Reclaim.Uploading = true
		r.known.change(br.UID, func(s *runState) {
			if s.upload != nil && s.upload.stop != nil {
				s.upload.stop() // it fails soon
			}
		})
	}
	o.Reclaim.Attempt = r.attempted(br.UID, reclaims)
	live := &v1alpha1.BenchmarkRun{}
	found, err := r.read(ctx, r.APIReader, client.ObjectKeyFromObject(br), live)
	if err == nil && found && live.UID == br.UID && live.Status.Artifact != nil {
		o.Reclaim.Object = live.Status.Artifact.Object
	}
	return err
}

// reclaim begins an attempt to delete the objects of a deleted run.
func (r *Reconciler) reclaim(ctx context.Context, br *v1alpha1.BenchmarkRun, object *v1alpha1.ArtifactObject) {
	namespace, prefix, location := br.Namespace, bucket.Prefix(br.Namespace, br.Name, string(br.UID)), ""
	if object != nil {
		location = object.Bucket
	}
	log := ctrl.LoggerFrom(ctx).WithValues("prefix", prefix)
	r.attempt(ctx, br.UID, reclaims, func(ctx context.Context) error {
		n, err := r.Buckets.Reclaim(ctx, namespace, location, prefix)
		if err != nil {
			log.Info("Failed to delete the objects of a deleted run", "error", err.Error())
			return err
		}
		log.Info("Deleted the objects of a deleted run", "objects", n)
		return nil
	})
}

// changeFinalizer adds the finalizer of a run's objects, or removes it. Before it removes that of a run whose objects
// stay, it says so: nothing else does once the run is gone.
func (r *Reconciler) changeFinalizer(ctx context.Context, br *v1alpha1.BenchmarkRun, plan *step.Plan) error {
	before := br.DeepCopy()
	changed := controllerutil.AddFinalizer
	if plan.Finalizer == step.RemoveFinalizer {
		changed = controllerutil.RemoveFinalizer
	}
	if plan.Retained != "" {
		ctrl.LoggerFrom(ctx).Info("Objects of a deleted run stay in their bucket", "reason", plan.Retained)
		r.Events.Eventf(br, nil, corev1.EventTypeWarning, v1alpha1.ReasonObjectsRetained, "Delete", "%s", printable.Bounded(plan.Retained, 1024))
	}
	if !changed(br, v1alpha1.FinalizerBucketObjects) {
		return nil
	}
	err := r.Patch(ctx, br, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	if err = client.IgnoreNotFound(err); err != nil {
		return fmt.Errorf("change the finalizers of the run: %w", err)
	}
	return nil
}
