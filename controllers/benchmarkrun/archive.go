package benchmarkrun

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/controllers/metrics"
	"github.com/assay-dev/assay/internal/bucket"
	"github.com/assay-dev/assay/internal/run"
)

// attemptTimeout limits one attempt to store a whole result in a bucket, or to delete it from there.
const attemptTimeout = 30 * time.Second

// upload is the state of storing a whole result, or of deleting it. Attempts run in the background: a bucket that
// doesn't answer must not keep other runs waiting.
type upload struct {
	mu    sync.Mutex
	state run.Upload
	stop  context.CancelFunc // of the attempt that is running
}

// begin reports whether an attempt may begin: none is running. Then it is, until stop is called.
func (u *upload) begin(stop context.CancelFunc) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.state.Running {
		return false
	}
	u.state.Running, u.stop = true, stop
	return true
}

// cancel makes an attempt that is running fail soon.
func (u *upload) cancel() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.stop != nil {
		u.stop()
	}
}

func (u *upload) end(err error, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.state, u.stop = run.Upload{Err: err, At: at, Final: errors.Is(err, bucket.ErrOther) || errors.Is(err, bucket.ErrNotConfigured)}, nil
}

func (u *upload) observe() *run.Upload {
	u.mu.Lock()
	defer u.mu.Unlock()
	state := u.state
	return &state
}

// attempt runs an attempt in the background, unless one is running. Its end triggers a reconciliation of the run.
func (r *Reconciler) attempt(ctx context.Context, of *sync.Map, uid types.UID, do func(context.Context) error) {
	begun, _ := of.LoadOrStore(uid, &upload{})
	u := begun.(*upload)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), attemptTimeout)
	if !u.begin(cancel) {
		cancel()
		return
	}
	go func() {
		defer cancel()
		u.end(do(ctx), r.Clock.Now())
		if r.uploaded != nil {
			r.uploaded <- event.TypedGenericEvent[types.UID]{Object: uid}
		}
	}()
}

// observeBucket reads which bucket the whole result goes to, and how far it is.
func (r *Reconciler) observeBucket(br *v1alpha1.BenchmarkRun, o *run.Observed) {
	if r.Buckets == nil {
		return
	}
	location := r.Buckets.Location(br.Namespace)
	if location == "" {
		return
	}
	o.Bucket = &run.Bucket{Location: location, Prefix: bucket.Prefix(br.Namespace, br.Name, string(br.UID))}
	if begun, ok := r.uploads.Load(br.UID); ok {
		o.Upload = begun.(*upload).observe()
	}
}

// upload keeps an artifact until its whole result is stored, and begins an attempt if the plan says so.
func (r *Reconciler) upload(ctx context.Context, br *v1alpha1.BenchmarkRun, plan *run.Plan) {
	r.unstored.Store(br.UID, plan.Upload)
	if !plan.Attempt {
		return
	}
	whole, namespace, log := plan.Upload.Whole, br.Namespace, ctrl.LoggerFrom(ctx)
	r.attempt(ctx, &r.uploads, br.UID, func(ctx context.Context) error {
		err := r.Buckets.Put(ctx, namespace, whole.Key, whole.Data)
		if err != nil {
			log.Info("Failed to store the whole result", "error", err.Error())
			r.Metrics.ArtifactFailed(metrics.KindBenchmarkRun, err)
		}
		return err
	})
}
