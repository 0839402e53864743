// Package scope keeps two installations of the manager from serving the same runs. Whoever serves all namespaces holds a Lease for
// that, and whoever serves a namespace holds one in it. The replicas of one installation share them: which of those acts is decided by
// the leader election.
package scope

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
)

// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=create
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,resourceNames=assay-namespace;assay-all-namespaces,verbs=get;update

const (
	// NamespaceLease is the name of the Lease in each namespace that is served.
	NamespaceLease = "assay-namespace"
	// AllLease is the name of the Lease for all namespaces.
	AllLease = "assay-all-namespaces"
	// AllNamespace is the namespace of that Lease. Every cluster has it.
	AllNamespace = metav1.NamespaceDefault

	// Interval is the interval at which Leases are renewed, and at which those of others are looked at.
	Interval = 10 * time.Second
	// Duration is the time after which a Lease that its holder doesn't renew may be taken.
	Duration = 4 * Interval
	// idleTimeout is the time after which the Lease of a namespace without active runs isn't renewed any more.
	idleTimeout = 5 * time.Minute
)

// ErrLost is the error of a manager whose Lease another one has taken.
var ErrLost = errors.New("another manager took the Lease")

// Scope is what a manager serves. A nil one serves everything.
type Scope struct {
	Leases coordination.LeasesGetter
	// Identity names the installation: the namespace and the name of its Lease for leader election.
	Identity string
	// Namespaces are those that it serves, or empty for all.
	Namespaces []string
	Clock      clock.PassiveClock

	mu    sync.Mutex
	known map[types.NamespacedName]*lease
}

// lease is what is known of a Lease.
type lease struct {
	// other is the identity of the installation that holds it, version that of the Lease when it was first seen like this, at since.
	other   string
	version string
	since   time.Time
	// checked is the time at which it was looked at last, used that at which an active run needed it, and mine reports whether this
	// installation holds it.
	checked, used time.Time
	mine          bool
}

// Conflict is another installation that serves what this one is to serve.
type Conflict struct {
	// Lease is the namespace and the name of the Lease that Holder holds.
	Lease  types.NamespacedName
	Holder string
}

func (c *Conflict) String() string {
	what := "namespace " + c.Lease.Namespace
	if c.Lease.Name == AllLease {
		what = "all namespaces"
	}
	return fmt.Sprintf("Manager %s serves %s already (Lease %s). This one stays out. Uninstall one of them, or let them serve different namespaces (the chart's value namespaces).",
		c.Holder, what, c.Lease)
}

// required returns the Leases without which a manager doesn't start.
func (s *Scope) required() []types.NamespacedName {
	if len(s.Namespaces) == 0 {
		return []types.NamespacedName{{Namespace: AllNamespace, Name: AllLease}}
	}
	var names []types.NamespacedName
	for _, namespace := range s.Namespaces {
		names = append(names, types.NamespacedName{Namespace: namespace, Name: NamespaceLease})
	}
	return names
}

// Acquire takes the Leases without which the manager doesn't start. It returns who holds one of them, and then takes none.
func (s *Scope) Acquire(ctx context.Context) (*Conflict, error) {
	for _, take := range []bool{false, true} {
		for _, name := range s.required() {
			other, err := s.look(ctx, name, take)
			if other != "" || err != nil {
				return &Conflict{Lease: name, Holder: other}, err
			}
		}
	}
	return nil, nil
}

// Serves reports whether this manager serves a namespace. If it serves all, another one may serve this one alone. An active run makes
// it take the namespace's Lease.
func (s *Scope) Serves(ctx context.Context, namespace string, active bool) (bool, error) {
	if s == nil || len(s.Namespaces) > 0 {
		return true, nil
	}
	name, now := types.NamespacedName{Namespace: namespace, Name: NamespaceLease}, s.Clock.Now()
	s.mu.Lock()
	l := s.of(name)
	if active {
		l.used = now
	}
	fresh, mine, other := now.Sub(l.checked) < Interval, l.mine, l.other
	s.mu.Unlock()
	if fresh && (mine || !active || other != "") {
		return other == "", nil
	}
	holder, err := s.look(ctx, name, active || mine)
	if holder != other && holder != "" {
		ctrl.LoggerFrom(ctx).Info("Another manager serves the namespace", "namespace", namespace, "manager", holder)
	}
	return holder == "" && err == nil, err
}

// Start implements manager.Runnable: it renews the Leases.
func (s *Scope) Start(ctx context.Context) error {
	ticker := time.NewTicker(Interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		if err := s.renew(ctx); err != nil {
			return err
		}
	}
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: the installation's Leases are renewed also while it elects a leader.
func (s *Scope) NeedLeaderElection() bool { return false }

// renew renews the Leases that this manager holds. It forgets those of namespaces without active runs.
func (s *Scope) renew(ctx context.Context) error {
	conflict, err := s.Acquire(ctx)
	if conflict != nil && conflict.Holder != "" {
		return fmt.Errorf("%w: %s", ErrLost, conflict)
	} else if err != nil {
		ctrl.LoggerFrom(ctx).Info("Failed to renew a Lease", "error", err.Error())
	}
	if len(s.Namespaces) > 0 {
		return nil
	}
	now := s.Clock.Now()
	s.mu.Lock()
	var names []types.NamespacedName
	for name, l := range s.known {
		switch {
		case name.Name != NamespaceLease:
		case now.Sub(l.used) > idleTimeout && now.Sub(l.checked) > Duration:
			delete(s.known, name)
		case l.mine && now.Sub(l.used) <= idleTimeout:
			names = append(names, name)
		}
	}
	s.mu.Unlock()
	for _, name := range names {
		if other, err := s.look(ctx, name, true); other != "" || err != nil {
			ctrl.LoggerFrom(ctx).Info("Failed to renew the Lease of a namespace", "namespace", name.Namespace, "holder", other, "error", err)
		}
	}
	return nil
}

// of returns what is known of a Lease. The caller holds mu.
func (s *Scope) of(name types.NamespacedName) *lease {
	if s.known == nil {
		s.known = map[types.NamespacedName]*lease{}
	}
	l := s.known[name]
	if l == nil {
		l = &lease{}
		s.known[name] = l
	}
	return l
}

func (s *Scope) forget(name types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.known, name)
}

// look reads a Lease, and takes or renews it if it should. It returns the identity of another installation that holds it.
func (s *Scope) look(ctx context.Context, name types.NamespacedName, take bool) (other string, err error) {
	leases := s.Leases.Leases(name.Namespace)
	read, err := leases.Get(ctx, name.Name, metav1.GetOptions{})
	exists := err == nil
	if err != nil && !apierrors.IsNotFound(err) {
		return "", fmt.Errorf("get Lease %s: %w", name, err)
	}
	now := s.Clock.Now()
	if exists {
		other = s.holder(name, read, now)
	}
	mine := exists && other == "" && ptr.Deref(read.Spec.HolderIdentity, "") == s.Identity
	if take && other == "" && (!mine || now.Sub(ptr.Deref(read.Spec.RenewTime, metav1.MicroTime{}).Time).Abs() >= Interval/2) {
		if !exists {
			read = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}}
		}
		if !mine {
			read.Spec.AcquireTime = new(metav1.NewMicroTime(now))
			read.Spec.LeaseTransitions = new(ptr.Deref(read.Spec.LeaseTransitions, -1) + 1)
		}
		read.Spec.HolderIdentity, read.Spec.RenewTime = &s.Identity, new(metav1.NewMicroTime(now))
		read.Spec.LeaseDurationSeconds = new(int32(Duration.Seconds()))
		if exists {
			_, err = leases.Update(ctx, read, metav1.UpdateOptions{})
		} else {
			_, err = leases.Create(ctx, read, metav1.CreateOptions{})
		}
		if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
			return s.look(ctx, name, false) // another replica of the installation has, or another manager
		}
		if len(s.Namespaces) == 0 && (apierrors.IsNotFound(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)) {
			s.forget(name) // with its namespace, in which nothing is left to serve
			return "", nil
		}
		if err != nil {
			return "", fmt.Errorf("write Lease %s: %w", name, err)
		}
		mine = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.of(name)
	l.checked, l.mine, l.other = now, mine, other
	return other, nil
}

// holder returns the other installation that holds a Lease, or "". It does as long as the Lease changes within Duration, by this
// process's clock.
func (s *Scope) holder(name types.NamespacedName, read *coordinationv1.Lease, now time.Time) string {
	holder := ptr.Deref(read.Spec.HolderIdentity, "")
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.of(name)
	if l.version != read.ResourceVersion {
		l.version, l.since = read.ResourceVersion, now
	}
	if holder == s.Identity || now.Sub(l.since) >= Duration {
		return ""
	}
	return holder
}
