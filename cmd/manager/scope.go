package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/assay-dev/assay/controllers/scope"
)

// scopeInterval is the interval at which a manager that stays out tries again.
const scopeInterval = 5 * time.Second

// newScope returns what the manager serves. Its replicas have the Lease for leader election in common, which names them.
func newScope(config *rest.Config, o *options) (*scope.Scope, error) {
	config = rest.AddUserAgent(rest.CopyConfig(config), "scope")
	config.Timeout = scope.Interval / 2
	leases, err := coordination.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("create a client for Leases: %w", err)
	}
	return &scope.Scope{Leases: leases, Identity: o.namespace + "/" + o.election.lease, Namespaces: o.namespaces, Clock: clock.RealClock{}}, nil
}

// awaitScope waits until no other installation serves what this one is to serve. Meanwhile it is healthy but not ready, and writes
// nothing.
func awaitScope(ctx context.Context, s *scope.Scope, healthAddr string, report func(string)) error {
	var why atomic.Pointer[string]
	ask := func(ctx context.Context) (bool, error) {
		conflict, err := s.Acquire(ctx)
		message := ""
		switch {
		case err != nil:
			message = "Failed to get the Leases of what this manager serves: " + err.Error()
		case conflict != nil:
			message = conflict.String()
		default:
			return true, nil
		}
		if last := why.Swap(&message); last == nil || *last != message {
			ctrl.Log.Info(message)
			report(message)
		}
		return false, nil
	}
	return await(ctx, healthAddr, scopeInterval, func() error { return errors.New(*why.Load()) }, ask)
}

// reportStayingOut returns a function that makes an event of the manager's pod.
func reportStayingOut(ctx context.Context, mgr manager.Manager, pod types.NamespacedName) func(string) {
	events := mgr.GetEventRecorder("assay")
	return func(message string) {
		var own corev1.Pod
		if err := mgr.GetAPIReader().Get(ctx, pod, &own); err == nil {
			events.Eventf(&own, nil, corev1.EventTypeWarning, "StaysOut", "Wait", "%s", message)
		}
	}
}

// keepScope renews the Leases, and starts the manager from scratch when another installation has taken one: it stays out then.
type keepScope struct {
	*scope.Scope
	lost func(error)
}

// Start implements manager.Runnable.
func (k keepScope) Start(ctx context.Context) error {
	err := k.Scope.Start(ctx)
	if err != nil {
		k.lost(fmt.Errorf("%w: %w", errRestart, err))
	}
	return nil
}
