package main

import (
	"errors"
	"flag"
	"fmt"
	"time"

	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/assay-dev/assay/controllers/leader"
)

// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,namespace=system,verbs=create
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,resourceNames=assay-manager,namespace=system,verbs=get;update

// election configures the leader election.
type election struct {
	enabled bool
	// lease is the name of the Lease.
	lease string
	// duration is the time that the others wait for a leader that doesn't renew its Lease. A manager
	// that restarts in its pod continues at once, since its identity is the pod's name. deadline is
	// the time after which a leader that can't renew it gives up, retry the interval of both.
	duration, deadline, retry time.Duration
}

func (e *election) bind(flags *flag.FlagSet) {
	flags.BoolVar(&e.enabled, "leader-elect", true, "Elect a leader among several managers. Only the leader acts.")
	flags.StringVar(&e.lease, "leader-elect-lease-name", "assay-manager", "Name of the Lease for leader election, in the manager's namespace.")
	flags.DurationVar(&e.duration, "leader-elect-lease-duration", 10*time.Second, "Time for which other managers wait for a leader that doesn't renew its Lease.")
	flags.DurationVar(&e.deadline, "leader-elect-renew-deadline", 7*time.Second, "Time for which a leader tries to renew its Lease before it stops leading. Must be less than the lease duration.")
	flags.DurationVar(&e.retry, "leader-elect-retry-period", time.Second, "Interval at which managers try to get or renew the Lease.")
}

// jitter is the factor by which client-go lengthens the retry period at random, at most.
const jitter = 1.2

func (e *election) check() error {
	switch {
	case !e.enabled:
		return nil
	case e.lease == "":
		return errors.New("--leader-elect-lease-name must not be empty")
	case e.retry <= 0 || e.deadline.Seconds() <= jitter*e.retry.Seconds():
		return fmt.Errorf("--leader-elect-renew-deadline is %s: it must be more than %.1f times --leader-elect-retry-period, %s", e.deadline, jitter, e.retry)
	case e.duration <= e.deadline:
		return fmt.Errorf("--leader-elect-lease-duration is %s: it must be longer than --leader-elect-renew-deadline, %s", e.duration, e.deadline)
	}
	return nil
}

// lock returns the Lease. It calls returned when the API server is back after an outage that was longer
// than the Lease of this manager, which doesn't lead.
func (e *election) lock(config *rest.Config, namespace, identity string, returned func()) (*leader.Lock, error) {
	config = rest.AddUserAgent(rest.CopyConfig(config), "leader-election")
	config.Timeout = e.deadline / 2
	leases, err := coordination.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("create a client for leader election: %w", err)
	}
	return leader.New(leases, leader.Config{
		Namespace: namespace, Name: e.lease, Identity: identity,
		LeaseDuration: e.duration, RenewDeadline: e.deadline, Returned: returned,
	}), nil
}

// configure sets leader election in the options of a manager. lock is nil without it.
func (e *election) configure(options *ctrl.Options, lock *leader.Lock) {
	options.LeaderElection = e.enabled
	if !e.enabled {
		return
	}
	options.LeaderElectionID = e.lease // the label of leader_election_master_status
	options.LeaderElectionReleaseOnCancel = true
	options.LeaseDuration, options.RenewDeadline, options.RetryPeriod = &e.duration, &e.deadline, &e.retry
	options.LeaderElectionResourceLockInterface = lock
}
