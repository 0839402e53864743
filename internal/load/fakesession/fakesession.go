// Package fakesession is a client.Session for tests. A function acts as the manager, and nothing is
// sent over a network.
package fakesession

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/pod"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// Event is a report of a client: one of the types below, *session.ProbeResult of a successful probe,
// sessionpb.Stage of a stage that has ended, or result.Totals.
type Event any

type (
	// Connected is the start of the session.
	Connected struct{}
	// Ready is the CPUs of a client that is ready.
	Ready string
	// ProbeFailed is the reason of a failed probe.
	ProbeFailed string
	// Second is a second of a stage, without latencies.
	Second struct {
		Stage sessionpb.Stage
		result.ClientSecond
	}
	// Failed is the failure of a client.
	Failed struct {
		Kind   session.FailureKind
		Reason string
	}
)

// Session is a session whose manager answers each event with orders.
type Session struct {
	answer func(Event) []pod.Order
	orders chan pod.Order
	ended  chan struct{} // closed after Release

	mu     sync.Mutex
	events []Event
}

// New returns a session with a manager.
func New(answer func(Event) []pod.Order) *Session {
	return &Session{answer: answer, orders: make(chan pod.Order, 64), ended: make(chan struct{})}
}

// Regular returns a manager that runs a client's plan against a target. It starts
// each stage lead after the client is ready for it.
func Regular(plan *session.Plan, address string, lead time.Duration) func(Event) []pod.Order {
	start := func(stage sessionpb.Stage) []pod.Order {
		return []pod.Order{pod.Start{Stage: stage, At: at(time.Now()) + lead.Microseconds()}}
	}
	return func(event Event) []pod.Order {
		switch event.(type) {
		case Connected:
			return []pod.Order{pod.Prepare{Plan: plan, Address: address}}
		case Ready:
			if plan.Warmup != nil {
				return start(sessionpb.Stage_STAGE_WARMUP)
			}
			return start(sessionpb.Stage_STAGE_MEASUREMENT)
		case sessionpb.Stage:
			return start(sessionpb.Stage_STAGE_MEASUREMENT)
		case result.Totals:
			return []pod.Order{pod.Release{}}
		}
		return nil
	}
}

// Events returns the client's reports so far.
func (s *Session) Events() []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.events)
}

// Report records an event and sends the manager's orders in answer to it.
func (s *Session) Report(event Event) {
	s.mu.Lock()
	s.events = append(s.events, event)
	s.mu.Unlock()
	for _, order := range s.answer(event) {
		s.Send(order)
		if _, ok := order.(pod.Release); ok {
			close(s.ended)
		}
	}
}

// Release sends the last order and ends the session.
func (s *Session) Release() {
	s.Send(pod.Release{})
	close(s.ended)
}

// Send sends the client an order.
func (s *Session) Send(order pod.Order) { s.orders <- order }

// Run implements client.Session.
func (s *Session) Run(ctx context.Context) error {
	defer close(s.orders)
	s.Report(Connected{})
	select {
	case <-s.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Orders implements client.Session.
func (s *Session) Orders() <-chan pod.Order { return s.orders }

// Ready implements client.Session.
func (s *Session) Ready(cpus string) { s.Report(Ready(cpus)) }

// ProbeSucceeded implements client.Session.
func (s *Session) ProbeSucceeded(probed *session.ProbeResult) { s.Report(probed) }

// ProbeFailed implements client.Session.
func (s *Session) ProbeFailed(reason string) { s.Report(ProbeFailed(reason)) }

// StageEnded implements client.Session.
func (s *Session) StageEnded(stage sessionpb.Stage) { s.Report(stage) }

// SendSecond implements client.Session.
func (s *Session) SendSecond(stage sessionpb.Stage, second *result.ClientSecond) {
	kept := *second
	kept.Latencies = result.Latencies{}
	s.Report(Second{stage, kept})
}

// SendTotals implements client.Session.
func (s *Session) SendTotals(totals *result.Totals) { s.Report(*totals) }

// FailAs implements client.Session.
func (s *Session) FailAs(kind session.FailureKind, reason string) {
	s.Report(Failed{Kind: kind, Reason: reason})
}

var machine = session.NewClock()

// At implements client.Session.
func (s *Session) At(local time.Time) int64 { return at(local) }

// at returns the manager's clock, which is an hour ahead of this machine's.
func at(local time.Time) int64 { return machine.At(local.Add(time.Hour)) }

// Local implements client.Session.
func (s *Session) Local(at int64) time.Time {
	return machine.Local(at).Add(-time.Hour)
}
