// Package leader elects a leader among the managers, and records for which time there was none.
package leader

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/internal/run"
)

const (
	// gapsAnnotation is the Lease's annotation with the times without a leader, as JSON.
	gapsAnnotation = "assay.dev/without-leader"
	// maxGaps bounds the times that are kept.
	maxGaps = 64
)

// Lock is the Lease by which a leader is elected. Whoever acquires it adds to an annotation the time
// since the last renewal, in which nobody led; it does so in the update by which it acquires the
// Lease, so that no time is lost or counted twice if it is killed. A leader does the same if it comes
// to renew the Lease only after that has expired: its process or its host was stopped, or its wall
// clock was set.
type Lock struct {
	*resourcelock.LeaseLock
	recorder *recorder
}

// Config configures a Lock.
type Config struct {
	// Namespace and Name are those of the Lease, Identity is this manager's.
	Namespace, Name, Identity string
	// LeaseDuration and RenewDeadline are those of the leader election.
	LeaseDuration, RenewDeadline time.Duration
	// Annotations are kept on the Lease while this manager leads, with those that are empty removed; nil for none. It is
	// called before each renewal.
	Annotations func() map[string]string
	// Returned is called instead of reading the Lease after a manager that doesn't lead could not
	// do so for longer than LeaseDuration. Its caches are behind by then.
	Returned func()
}

// errReturned makes a manager that was cut off not acquire the Lease.
var errReturned = errors.New("the API server was out of reach: the caches are behind")

// New returns a Lock on a Lease.
func New(leases coordination.LeasesGetter, config Config) *Lock {
	r := &recorder{LeaseInterface: leases.Leases(config.Namespace), config: config, contact: time.Now()}
	return &Lock{
		LeaseLock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: config.Namespace, Name: config.Name},
			Client:     r,
			LockConfig: resourcelock.ResourceLockConfig{Identity: config.Identity},
		},
		recorder: r,
	}
}

// Leadership returns what is known at a time of when there was a leader.
func (l *Lock) Leadership(now time.Time) run.Leadership { return l.recorder.leadership(now) }

// Lost reports whether this manager led and has lost the Lease: somebody else holds it, or it was not
// renewed within RenewDeadline.
func (l *Lock) Lost(now time.Time) bool {
	r := l.recorder
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.since.IsZero() && (r.holder != r.config.Identity || now.Sub(r.written) >= r.config.RenewDeadline)
}

// recorder adds the times without a leader to a Lease that is written.
type recorder struct {
	coordination.LeaseInterface
	config Config

	mu      sync.Mutex
	contact time.Time // when the API server last answered a Get, or New was called
	written time.Time // when this process wrote the Lease last
	holder  string
	since   time.Time // when this process acquired the Lease, or zero
	renewed time.Time // when the Lease was renewed last, by anybody
	gaps    []run.Gap
}

// Leases implements coordination.LeasesGetter, for the one namespace.
func (r *recorder) Leases(string) coordination.LeaseInterface { return r }

// Get reads the Lease.
func (r *recorder) Get(ctx context.Context, name string, options metav1.GetOptions) (*coordinationv1.Lease, error) {
	lease, err := r.LeaseInterface.Get(ctx, name, options)
	if (err == nil || apierrors.IsNotFound(err)) && r.returned(time.Now()) {
		r.config.Returned()
		return nil, errReturned
	}
	if err == nil {
		r.read(lease)
	}
	return lease, err
}

// returned notes that the API server answers, and reports whether a manager that doesn't lead could
// not reach it for so long that its caches are behind.
func (r *recorder) returned(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	away := now.Sub(r.contact)
	r.contact = now
	return r.since.IsZero() && away > r.config.LeaseDuration && r.config.Returned != nil
}

// Create creates the Lease and so acquires it.
func (r *recorder) Create(ctx context.Context, lease *coordinationv1.Lease, options metav1.CreateOptions) (*coordinationv1.Lease, error) {
	gaps, err := r.annotate(lease)
	if err != nil {
		return nil, err
	}
	written, err := r.LeaseInterface.Create(ctx, lease, options)
	if err == nil {
		r.wrote(written, gaps)
	}
	return written, err
}

// Update acquires, renews or releases the Lease.
func (r *recorder) Update(ctx context.Context, lease *coordinationv1.Lease, options metav1.UpdateOptions) (*coordinationv1.Lease, error) {
	gaps, err := r.annotate(lease)
	if err != nil {
		return nil, err
	}
	written, err := r.LeaseInterface.Update(ctx, lease, options)
	if err == nil {
		r.wrote(written, gaps)
	}
	return written, err
}

// read takes over what a Lease says. An annotation that somebody damaged says nothing.
func (r *recorder) read(lease *coordinationv1.Lease) {
	var gaps []run.Gap
	if err := json.Unmarshal([]byte(lease.Annotations[gapsAnnotation]), &gaps); err != nil {
		gaps = nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gaps = gaps
	r.note(lease)
}

// note takes over who renewed a Lease, and when.
func (r *recorder) note(lease *coordinationv1.Lease) {
	r.holder = ptr.Deref(lease.Spec.HolderIdentity, "")
	if lease.Spec.RenewTime != nil {
		r.renewed = lease.Spec.RenewTime.Time
	}
}

// annotate adds to a Lease that is about to be written its annotations, and returns the times without a leader.
func (r *recorder) annotate(lease *coordinationv1.Lease) ([]run.Gap, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.config.Annotations != nil {
		for key, value := range r.config.Annotations() {
			metav1.SetMetaDataAnnotation(&lease.ObjectMeta, key, value)
			if value == "" {
				delete(lease.Annotations, key)
			}
		}
	}
	gaps := slices.Clone(r.gaps)
	if at := lease.Spec.RenewTime; at != nil && !r.renewed.IsZero() && (r.since.IsZero() || r.expired(at.Time)) && at.After(r.renewed) {
		gaps = append(gaps, run.Gap{From: r.renewed.Round(0), To: at.Round(0)})
	}
	gaps = gaps[max(0, len(gaps)-maxGaps):]
	if len(gaps) == 0 {
		return nil, nil
	}
	encoded, err := json.Marshal(gaps)
	if err != nil {
		return nil, fmt.Errorf("encode the times without a leader: %w", err)
	}
	metav1.SetMetaDataAnnotation(&lease.ObjectMeta, gapsAnnotation, string(encoded))
	return gaps, nil
}

// expired reports whether a Lease that was renewed last has expired at a time, by the wall clock.
func (r *recorder) expired(at time.Time) bool {
	return at.Round(0).Sub(r.renewed.Round(0)) > r.config.LeaseDuration
}

func (r *recorder) wrote(lease *coordinationv1.Lease, gaps []run.Gap) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gaps, r.written = gaps, time.Now()
	r.note(lease)
	if r.since.IsZero() {
		r.since = time.Now()
	}
}

// leadership adds the time since a renewal that is overdue: this manager may lead no more.
func (r *recorder) leadership(now time.Time) run.Leadership {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := run.Leadership{Since: r.since, Gaps: slices.Clone(r.gaps)}
	if r.expired(now) {
		l.Gaps = append(l.Gaps, run.Gap{From: r.renewed, To: now.Round(0)})
	}
	return l
}
