// Package fakesession is a session for tests. A function plays the manager, and there
// is no network.
package fakesession

import (
	"context"
	"sync"
	"time"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/pod"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// ClockOffset is the offset of the manager's clock, in microseconds.
const ClockOffset = int64(time.Hour / time.Microsecond)

// Event is a report of a client: Connected, ProbeSucceeded, ProbeFailed, Ready,
// StageEnded, Second, Totals, ScriptState or Failed.
type Event any

type (
	// Connected is the start of the session.
	Connected struct{}
	// Ready is a call of that name.
	Ready struct{ CPUs string }
	// ProbeSucceeded is a call of that name.
	ProbeSucceeded struct{ *session.ProbeResult }
	// ProbeFailed is a call of that name.
	ProbeFailed struct{ Reason string }
	// StageEnded is a call of that name.
	StageEnded struct{ Stage sessionpb.Stage }
	// Second is a call of SendSecond.
	Second struct {
		Stage sessionpb.Stage
		result.ClientSecond
	}
	// Totals is a call of SendTotals.
	Totals struct{ result.Totals }
	// ScriptState is a call of that name.
	ScriptState struct{ session.ScriptState }
	// Failed is a call of Fail or FailAs.
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
		return []pod.Order{pod.Start{Stage: stage, At: now() + lead.Microseconds()}}
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
		case StageEnded:
			return start(sessionpb.Stage_STAGE_MEASUREMENT)
		case Totals:
			return []pod.Order{pod.Release{}}
		}
		return nil
	}
}

// Scripted returns the sessions of the clients of a k6 script, by the index of their
// plans. One manager runs all of them against a target.
func Scripted(plans []*session.Plan, address string) []*Session {
	sessions := make([]*Session, len(plans))
	var mu sync.Mutex
	ready, have, ended := 0, 0, 0
	everyone := func(order pod.Order) {
		for _, s := range sessions {
			s.orders <- order
		}
	}
	for i, plan := range plans {
		var had session.ScriptState
		sessions[i] = New(func(event Event) []pod.Order {
			mu.Lock()
			defer mu.Unlock()
			switch event := event.(type) {
			case Connected:
				return []pod.Order{pod.Prepare{Plan: plan, Address: address}}
			case Ready:
				if ready++; ready == len(plans) {
					everyone(pod.Start{Stage: sessionpb.Stage_STAGE_SETUP, At: now()})
				}
			case ScriptState:
				if event.SetupEnded && !had.SetupEnded {
					if plan.Script.Leads {
						for j, other := range sessions {
							if j != i {
								other.orders <- pod.SetupData{Data: event.SetupData}
							}
						}
					}
					if have++; have == len(plans) {
						everyone(pod.Start{Stage: sessionpb.Stage_STAGE_MEASUREMENT, At: now() + 50_000})
					}
				}
				if event.LoadEnded && !had.LoadEnded {
					if ended++; ended == len(plans) {
						sessions[session.ScriptLeader].orders <- pod.Start{Stage: sessionpb.Stage_STAGE_TEARDOWN, At: now()}
					}
				}
				had = event.ScriptState
			case Totals:
				return []pod.Order{pod.Release{}}
			}
			return nil
		})
	}
	return sessions
}

// Events returns the client's reports so far.
func (s *Session) Events() []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Event(nil), s.events...)
}

func (s *Session) report(event Event) {
	s.mu.Lock()
	s.events = append(s.events, event)
	s.mu.Unlock()
	for _, order := range s.answer(event) {
		s.orders <- order
		if _, ok := order.(pod.Release); ok {
			close(s.ended)
		}
	}
}

// Run works like that of pod.Session.
func (s *Session) Run(ctx context.Context) error {
	defer close(s.orders)
	s.report(Connected{})
	select {
	case <-s.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Orders works like that of pod.Session.
func (s *Session) Orders() <-chan pod.Order { return s.orders }

// Ready works like that of pod.Session.
func (s *Session) Ready(cpus string) { s.report(Ready{cpus}) }

// ProbeSucceeded works like that of pod.Session.
func (s *Session) ProbeSucceeded(probed *session.ProbeResult) { s.report(ProbeSucceeded{probed}) }

// ProbeFailed works like that of pod.Session.
func (s *Session) ProbeFailed(reason string) { s.report(ProbeFailed{reason}) }

// StageEnded works like that of pod.Session.
func (s *Session) StageEnded(stage sessionpb.Stage) { s.report(StageEnded{stage}) }

// SendSecond works like that of pod.Session. Of the measure it keeps the counts.
func (s *Session) SendSecond(stage sessionpb.Stage, second *result.ClientSecond) {
	kept := *second
	kept.Latencies = result.Latencies{}
	s.report(Second{stage, kept})
}

// SendTotals works like that of pod.Session.
func (s *Session) SendTotals(totals *result.Totals) { s.report(Totals{*totals}) }

// Fail works like that of pod.Session.
func (s *Session) Fail(reason string) { s.report(Failed{Reason: reason}) }

// FailAs works like that of pod.Session.
func (s *Session) FailAs(kind session.FailureKind, reason string) { s.report(Failed{kind, reason}) }

// ScriptState works like that of pod.Session.
func (s *Session) ScriptState(state session.ScriptState) { s.report(ScriptState{state}) }

// Now works like that of pod.Session.
func (s *Session) Now() int64 { return now() }

func now() int64 { return time.Now().UnixMicro() + ClockOffset }

// Local works like that of pod.Session.
func (s *Session) Local(at int64) time.Time {
	local := time.Now()
	return local.Add(time.Duration(at-now()) * time.Microsecond)
}
