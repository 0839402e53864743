package main

import (
	"context"
	"os"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/assay-dev/assay/controllers/leader"
	"github.com/assay-dev/assay/controllers/traces"
	"github.com/assay-dev/assay/internal/tracing"
)

// flushTimeout is the time that a manager that stops has to send its last traces. It is shorter than
// shutdownTimeout.
const flushTimeout = 3 * time.Second

// traces returns what sends traces to the OTLP receiver that the environment names, and sends the last ones when
// the manager stops, or nil if it names none.
func (o *options) traces(ctx context.Context, mgr ctrl.Manager, lock *leader.Lock, sent func(spans int, err error)) (*traces.Traces, error) {
	tracer, err := tracing.New(ctx, tracing.Options{
		Version: version, Namespace: o.namespace, Pod: o.podName, Sent: sent, Log: ctrl.Log.WithName("traces"),
	}, os.Getenv)
	if tracer == nil || err != nil {
		return nil, err
	}
	started := time.Now()
	since := func() time.Time {
		if lock == nil {
			return started
		}
		leadership := lock.Leadership(time.Now())
		return leadership.Inherited()
	}
	return traces.New(tracer, since), mgr.Add(flush{tracer})
}

// flush sends the last traces when the manager stops: after its controllers, which are stopped first.
type flush struct {
	tracer interface{ Shutdown(context.Context) error }
}

var _ manager.LeaderElectionRunnable = flush{}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (flush) NeedLeaderElection() bool { return false }

// Start implements manager.Runnable.
func (f flush) Start(ctx context.Context) error {
	<-ctx.Done()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
	defer cancel()
	if err := f.tracer.Shutdown(ctx); err != nil {
		ctrl.Log.WithName("traces").Info("Failed to send the last traces within the time to stop")
	}
	return nil
}
