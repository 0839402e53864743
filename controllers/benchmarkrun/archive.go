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

// uploadTimeout limits one attempt to store a whole result in a bucket.
const uploadTimeout = 30 * time.Second

// upload is the state of storing a whole result. Attempts run in the background: a bucket that doesn't answer must not
// keep other runs waiting.
type upload struct {
	mu    sync.Mutex
	state run.Upload
}

// begin reports whether an attempt may begin: none is running. Then it is.
func (u *upload) begin() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.state.Running {
		return false
	}
	u.state.Running = true
	return true
}

func (u *upload) end(err error, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.state = run.Upload{Err: err, At: at, Final: errors.Is(err, bucket.ErrOther)}
}

func (u *upload) observe() *run.Upload {
	u.mu.Lock()
	defer u.mu.Unlock()
	state := u.state
	return &state
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

// upload keeps an artifact until its whole result is stored, and begins an attempt if the plan says so. Each attempt
// ends with a reconciliation.
func (r *Reconciler) upload(ctx context.Context, br *v1alpha1.BenchmarkRun, plan *run.Plan) {
	r.unstored.Store(br.UID, plan.Upload)
	if !plan.Attempt {
		return
	}
	begun, _ := r.uploads.LoadOrStore(br.UID, &upload{})
	u := begun.(*upload)
	if !u.begin() {
		return
	}
	whole, namespace, uid, log := plan.Upload.Whole, br.Namespace, br.UID, ctrl.LoggerFrom(ctx)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), uploadTimeout)
	go func() {
		defer cancel()
		err := r.Buckets.Put(ctx, namespace, whole.Key, whole.Data)
		if err != nil {
			log.Info("Failed to store the whole result", "error", err.Error())
			r.Metrics.ArtifactFailed(metrics.KindBenchmarkRun, err)
		}
		u.end(err, r.Clock.Now())
		if r.uploaded != nil {
			r.uploaded <- event.TypedGenericEvent[types.UID]{Object: uid}
		}
	}()
}
