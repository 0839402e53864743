package benchmarkrun

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/assay-dev/assay/controllers/metrics"
	"github.com/assay-dev/assay/controllers/scope"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/memory"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/internal/steady"
)

// Sessions is the manager's end of the pods' sessions. It keeps everything that is sent to the pods
// of a run, and sends it again to pods that connect later.
type Sessions interface {
	Observe(run string) session.Observation
	Series(run string) []result.Second
	Passed(run string, clients int) []result.Second
	Window(run string, clients int, from int64) result.Second
	TargetUsage(run string, from, to int64) result.TargetUsage
	Windows(run string, clients int, c steady.Criterion) []result.WarmupWindow
	Watch(run string, watch session.Watch)
	Prepare(run string, plans []*session.Plan, address string)
	Now() int64
	StartTogether(runs []string, stage sessionpb.Stage, at int64)
	End(run string)
	EndMeasurement(run string, second int64)
	Summarize(run string, client int, data []byte)
	RequestSample(run string)
	Release(run string)
	Forget(run string)
}

// Buckets are the buckets of namespaces.
type Buckets interface {
	// Location returns the URL by which readers find the bucket of a namespace, or "" if it has none.
	Location(namespace string) string
	// Put creates an object in the bucket of a namespace. It succeeds if the object is there already. The error wraps
	// bucket.ErrOther if the object is another one.
	Put(ctx context.Context, namespace, key string, data []byte) error
	// Reclaims reports whether the objects of a run are deleted with it, and how long they may keep it from being
	// deleted.
	Reclaims() (bool, time.Duration)
	// Reclaim deletes the objects whose keys begin with prefix from the bucket of a namespace, and from the one at
	// location, and returns their number. The error wraps bucket.ErrNotConfigured if there is none at location, which
	// may be empty.
	Reclaim(ctx context.Context, namespace, location, prefix string) (int, error)
}

// Reconciler reconciles BenchmarkRuns.
type Reconciler struct {
	client.Client
	// APIReader reads past the cache.
	APIReader client.Reader
	Events    events.EventRecorder
	// Buckets may be nil: results are stored in ConfigMaps alone.
	Buckets Buckets
	// Metrics may be nil.
	Metrics  *metrics.Metrics
	Clock    clock.PassiveClock
	Sessions Sessions
	// CA returns the CA bundle, in PEM, by which pods verify the manager, or nil before there is
	// one.
	CA       func() []byte
	Settings manifest.Settings
	// Logs reads a part of a container's log. It may be nil.
	Logs Logs
	// WatchCertificates watches cert-manager's Certificates from its first call on. It may be nil.
	WatchCertificates func() error

	// Memory accounts for the inputs of active runs and for artifacts. It may be nil.
	Memory *memory.Account
	// Overdue is called when a reconciliation has taken a minute. It must end the process.
	Overdue func()
	// Scope is what the manager serves. It may be nil.
	Scope *scope.Scope

	// lanes holds the admissions to each lane. freed carries the namespace and the lane of runs for which a lane was
	// reserved and which were not admitted.
	lanes lanes
	freed chan event.TypedGenericEvent[types.NamespacedName]
	// known holds what this manager knows of each run.
	known knownRuns
	// since is the time since which this manager leads: reconcilers start when it does.
	since atomic.Pointer[time.Time]
	// nodesForbidden reports that the API server has refused to show a node.
	nodesForbidden atomic.Bool
	// uploaded carries the UIDs of runs after each attempt to store or to delete a full result. It may be nil.
	uploaded chan event.TypedGenericEvent[types.UID]
}

// leaderSince returns the time since which this manager leads, in whole seconds as those of the API are. When the wall clock
// is set it begins again: limits by that clock would pass too early.
func (r *Reconciler) leaderSince() time.Time {
	now := r.Clock.Now()
	since := r.since.Load()
	if since == nil || session.ClockStep(*since, now) > 0 {
		since = &now
		r.since.Store(since)
	}
	return since.Truncate(time.Second)
}

// errCacheBehind reports that what was observed is older than what the API server or this manager knows.
var errCacheBehind = errors.New("what was observed is out of date")

// Logs reads the end of a container's log, or its beginning from since on unless that is zero.
type Logs func(ctx context.Context, namespace, pod, container string, since time.Time) (string, error)

func (r *Reconciler) kind(obj client.Object) string {
	gvk, err := r.GroupVersionKindFor(obj)
	if err != nil {
		return fmt.Sprintf("%T", obj)
	}
	return gvk.Kind
}

func (r *Reconciler) read(ctx context.Context, from client.Reader, name types.NamespacedName, obj client.Object) (bool, error) {
	err := from.Get(ctx, name, obj)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("get %s %s: %w", r.kind(obj), name.Name, err)
	}
	return err == nil, nil
}
