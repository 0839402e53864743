// Package leader elects a leader among the managers, and says when this one has to start from scratch.
package leader

import (
	"context"
	"errors"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/ptr"
)

// Lock is the Lease by which a leader is elected.
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

// Lost reports whether this manager led and has lost the Lease: somebody else holds it, or it was not
// renewed within RenewDeadline.
func (l *Lock) Lost(now time.Time) bool {
	r := l.recorder
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.written.IsZero() && (r.holder != r.config.Identity || now.Sub(r.written) >= r.config.RenewDeadline)
}

// recorder notes who holds the Lease.
type recorder struct {
	coordination.LeaseInterface
	config Config

	mu      sync.Mutex
	contact time.Time // when the API server last answered a Get, or New was called
	written time.Time // when this process wrote the Lease last, or zero: it has never led
	holder  string
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
		r.note(lease, time.Time{})
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
	return r.written.IsZero() && away > r.config.LeaseDuration && r.config.Returned != nil
}

// Create creates the Lease and so acquires it.
func (r *recorder) Create(ctx context.Context, lease *coordinationv1.Lease, options metav1.CreateOptions) (*coordinationv1.Lease, error) {
	written, err := r.LeaseInterface.Create(ctx, lease, options)
	if err == nil {
		r.note(written, time.Now())
	}
	return written, err
}

// Update acquires, renews or releases the Lease.
func (r *recorder) Update(ctx context.Context, lease *coordinationv1.Lease, options metav1.UpdateOptions) (*coordinationv1.Lease, error) {
	written, err := r.LeaseInterface.Update(ctx, lease, options)
	if err == nil {
		r.note(written, time.Now())
	}
	return written, err
}

// note takes over who holds a Lease, and when this process wrote it if it did.
func (r *recorder) note(lease *coordinationv1.Lease, written time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.holder = ptr.Deref(lease.Spec.HolderIdentity, "")
	if !written.IsZero() {
		r.written = written
	}
}
