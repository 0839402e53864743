// Package fakesession is a session for tests, with the manager at its other end
// played by a function and no network in between.
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

// ClockOffset is by how much the manager's clock is ahead, in microseconds.
const ClockOffset = int64(time.Hour / time.Microsecond)

// Event is what a client told: Connected, ProbeSucceeded, ProbeFailed, Ready,
// StageEnded, Second, Totals, ScriptState or Failed.
type Event any

type (
	// Connected is the begin of the session.
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

// Regular is a manager that takes a client through a plan against a target,
// with each stage beginning lead after it may.
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

// Scripted is a manager that takes the clients of a k6 script, of which each has
// the index of its plan, through their plans against a target. A session of its
// own belongs to each index.
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

// Events are what the client told so far.
func (s *Session) Events() []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Event(nil), s.events...)
}

func (s *Session) tell(event Event) {
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

// Run is as pod.Session's.
func (s *Session) Run(ctx context.Context) error {
	defer close(s.orders)
	s.tell(Connected{})
	select {
	case <-s.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Orders is as pod.Session's.
func (s *Session) Orders() <-chan pod.Order { return s.orders }

// Ready is as pod.Session's.
func (s *Session) Ready(cpus string) { s.tell(Ready{cpus}) }

// ProbeSucceeded is as pod.Session's.
func (s *Session) ProbeSucceeded(evidence *session.ProbeResult) { s.tell(ProbeSucceeded{evidence}) }

// ProbeFailed is as pod.Session's.
func (s *Session) ProbeFailed(reason string) { s.tell(ProbeFailed{reason}) }

// StageEnded is as pod.Session's.
func (s *Session) StageEnded(stage sessionpb.Stage) { s.tell(StageEnded{stage}) }

// SendSecond is as pod.Session's. Of the measure it keeps the counts.
func (s *Session) SendSecond(stage sessionpb.Stage, second *result.ClientSecond) {
	kept := *second
	kept.Latencies = result.Latencies{}
	s.tell(Second{stage, kept})
}

// SendTotals is as pod.Session's.
func (s *Session) SendTotals(totals *result.Totals) { s.tell(Totals{*totals}) }

// Fail is as pod.Session's.
func (s *Session) Fail(reason string) { s.tell(Failed{Reason: reason}) }

// FailAs is as pod.Session's.
func (s *Session) FailAs(kind session.FailureKind, reason string) { s.tell(Failed{kind, reason}) }

// ScriptState is as pod.Session's.
func (s *Session) ScriptState(state session.ScriptState) { s.tell(ScriptState{state}) }

// Now is as pod.Session's.
func (s *Session) Now() int64 { return now() }

func now() int64 { return time.Now().UnixMicro() + ClockOffset }

// Local is as pod.Session's.
func (s *Session) Local(at int64) time.Time {
	local := time.Now()
	return local.Add(time.Duration(at-now()) * time.Microsecond)
}
