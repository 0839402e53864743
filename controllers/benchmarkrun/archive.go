package benchmarkrun

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/controllers/metrics"
	"github.com/assay-dev/assay/internal/bucket"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/step"
)

// attemptTimeout limits one attempt to store a full result in a bucket, or to delete it from there.
const attemptTimeout = 30 * time.Second

// attempt runs an attempt in the background, unless one is running. Its end triggers a reconciliation of the run.
func (r *Reconciler) attempt(ctx context.Context, uid types.UID, of func(*runState) **attempts, do func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), attemptTimeout)
	var begun *attempts
	r.known.change(uid, func(s *runState) {
		known := of(s)
		if *known == nil {
			*known = &attempts{}
		}
		if a := *known; !a.last.Running {
			begun, a.last.Running, a.stop = a, true, cancel
		}
	})
	if begun == nil {
		cancel()
		return
	}
	go func() {
		defer cancel()
		err := do(ctx)
		r.known.mu.Lock()
		begun.stop = nil
		begun.last = observed.Upload{Err: err, At: r.Clock.Now(), Final: errors.Is(err, bucket.ErrOther) || errors.Is(err, bucket.ErrNotConfigured)}
		r.known.mu.Unlock()
		if r.uploaded != nil {
			r.uploaded <- event.TypedGenericEvent[types.UID]{Object: uid}
		}
	}()
}

// attempted returns the state of the attempts of a run, or nil if none was made.
func (r *Reconciler) attempted(uid types.UID, of func(*runState) **attempts) (last *observed.Upload) {
	r.known.change(uid, func(s *runState) {
		if a := *of(s); a != nil {
			last = new(a.last)
		}
	})
	return last
}

// observeBucket reads which bucket the full result goes to, and how far it is.
func (r *Reconciler) observeBucket(br *v1alpha1.BenchmarkRun, o *observed.Run) {
	if r.Buckets == nil {
		return
	}
	location := r.Buckets.Location(br.Namespace)
	if location == "" {
		return
	}
	o.Bucket = &observed.Bucket{Location: location, Prefix: bucket.Prefix(br.Namespace, br.Name, string(br.UID))}
	o.Upload = r.attempted(br.UID, uploads)
}

// upload keeps an artifact until its full result is stored, and begins an attempt if the plan says so. Without memory for it the
// attempt fails.
func (r *Reconciler) upload(ctx context.Context, br *v1alpha1.BenchmarkRun, plan *step.Plan) {
	kept := r.keep(br, plan.Upload)
	if !plan.Attempt {
		return
	}
	full, namespace, log := plan.Upload.Full, br.Namespace, ctrl.LoggerFrom(ctx)
	r.attempt(ctx, br.UID, uploads, func(ctx context.Context) error {
		err := kept
		if err == nil {
			err = r.Buckets.Put(ctx, namespace, full.Key, full.Data)
		}
		if err != nil {
			log.Info("Failed to store the full result", "error", err.Error())
			r.Metrics.ArtifactFailed(metrics.KindBenchmarkRun, err)
		}
		return err
	})
}
