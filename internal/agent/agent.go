package agent

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"time"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/pod"
)

// Session is what the agent needs of a pod.Session, where the methods are
// described.
type Session interface {
	Run(ctx context.Context) error
	Orders() <-chan pod.Order
	ProbeSucceeded(evidence *session.ProbeResult)
	ProbeFailed(reason string)
	SendServerSample(reading *result.ServerSample)
	Fail(reason string)
	Now() int64
	Local(at int64) time.Time
}

// Sampler reads what the target's containers use.
type Sampler interface {
	// Tell says which containers are sampled apart, as session.Watch does.
	Tell(containers map[string]string)
	// Read reads all of them. now is the clock that the reading's instant is taken
	// from, in microseconds since the Unix epoch.
	Read(now func() int64) (*result.ServerSample, error)
}

// Run attends the session: it asks the target until it answers, and from the
// start of each stage on reads what the server uses, each whole second. It
// returns nil when the manager has released the agent, or the context ends.
func Run(ctx context.Context, s Session, sampler Sampler, log *slog.Logger) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	a := &attending{session: s, sampler: sampler, log: log, tick: time.NewTimer(0), stopWatching: func() {}}
	a.tick.Stop()
	defer a.tick.Stop()
	for {
		select {
		case order, open := <-s.Orders():
			if !open {
				if err := <-ended; err != nil && ctx.Err() == nil {
					return err
				}
				return nil
			}
			if err := a.do(ctx, order); err != nil {
				s.Fail(err.Error())
				cancel() // Run delivers the failure first
				<-ended
				return err
			}
		case <-a.tick.C:
			a.read()
			a.next = a.next.Add(max(time.Since(a.next).Truncate(time.Second), 0) + time.Second)
			a.tick.Reset(time.Until(a.next))
		}
	}
}

// attending is the state of an agent's session.
type attending struct {
	session      Session
	sampler      Sampler
	log          *slog.Logger
	tick         *time.Timer
	next         time.Time     // of the tick
	watched      session.Watch // what is asked of the target; no more than that
	stopWatching func()
}

// do carries out an order.
func (a *attending) do(ctx context.Context, order pod.Order) error {
	switch order := order.(type) {
	case pod.Watch:
		a.sampler.Tell(order.Containers)
		return a.watch(ctx, order.Watch)
	case pod.Start:
		a.next = a.session.Local(order.At)
		a.tick.Reset(time.Until(a.next))
	case pod.Sample:
		a.read()
	case pod.Release:
		a.tick.Stop()
		a.stopWatching()
	default:
		return fmt.Errorf("the manager sent the agent an order for clients: %T", order)
	}
	return nil
}

// watch begins to ask the target, unless it has been asked the same before: a
// target under load is left alone.
func (a *attending) watch(ctx context.Context, order session.Watch) error {
	order.Containers = nil
	if reflect.DeepEqual(order, a.watched) {
		return nil
	}
	q, err := question(&order, session.TLSDirectory)
	if err != nil {
		return err
	}
	a.stopWatching()
	a.watched = order
	watching, stop := context.WithCancel(ctx)
	a.stopWatching = stop
	go watch(watching, a.session, q)
	return nil
}

// read sends one reading.
func (a *attending) read() {
	reading, err := a.sampler.Read(a.session.Now)
	if err != nil {
		a.log.Error("What the server uses can't be read", "error", err)
		a.session.Fail("what the server uses can't be read: " + err.Error())
		return
	}
	a.session.SendServerSample(reading)
}
