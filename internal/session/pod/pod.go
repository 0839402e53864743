// Package pod is the pods' end of a session: it finds the manager that leads,
// connects and reconnects, keeps what the manager may still need, and keeps the
// time by the manager's clock. What a client or an agent does is not here.
package pod

import (
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// Config is what a session needs to know of its surroundings.
type Config struct {
	// Addresses is host:port of the managers. The host may have several
	// addresses, of which only the leader's is listened on.
	Addresses string
	// Token returns the token by which the pod proves who it is. It is called
	// for each connect, since tokens are replaced now and then.
	Token func() (string, error)
	// CA returns the certificates, in PEM, by which the manager is checked. It is
	// called for each connect.
	CA func() ([]byte, error)
	// Role is what the pod does.
	Role sessionpb.Role
	// Log gets what happens to the connection; nil for nothing.
	Log *slog.Logger
}

// Session is a pod's session with the manager. Its methods may be called from
// any goroutine, and none but Run waits for the network.
type Session struct {
	config   Config
	log      *slog.Logger
	instance uint64
	clock    *clock
	orders   chan Order
	wake     chan struct{} // tells the sender of something new

	mu     sync.Mutex
	state  state
	kept   kept
	had    had
	readAt int64 // when a reading was asked for; 0 when none is
	// connected is whether the manager has welcomed the pod on a stream that
	// still stands.
	connected bool
}

// state is what a pod tells of itself. It is told again on each connect.
type state struct {
	ready       *sessionpb.Ready
	warmupEnded bool
	answered    *sessionpb.ProbeSucceeded
	silent      string
	failure     string
	failureKind session.FailureKind
	script      *sessionpb.ScriptState
}

// had are the orders that were given on.
type had struct {
	prepared bool
	starts   []*sessionpb.Start
	setup    bool
	end      bool
	watch    *sessionpb.Watch
}

// New returns a session; Run connects it.
func New(config Config) *Session {
	log := config.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Session{
		config:   config,
		log:      log,
		instance: rand.Uint64(),
		clock:    newClock(),
		// More than the orders of a run, so that a busy receiver doesn't hold up the
		// connection.
		orders: make(chan Order, 64),
		wake:   make(chan struct{}, 1),
		kept:   kept{limit: keptBytes},
	}
}

// Orders are the manager's orders. Each comes once, though the manager repeats
// it after a break; only Sample may come any number of times. The channel is
// closed when Run returns.
func (s *Session) Orders() <-chan Order { return s.orders }

// Ready tells that a client has initialised k6 and knows the target's address;
// cpus lists the CPUs that it may run on, as in "0-3,8". The manager hears of it
// once the clock is set.
func (s *Session) Ready(cpus string) {
	s.tell(func(t *state) { t.ready = &sessionpb.Ready{Cpus: cpus} })
}

// StageEnded tells that a client has ended its warm-up; the end of the
// measurement is told by SendTotals.
func (s *Session) StageEnded(stage sessionpb.Stage) {
	if stage != sessionpb.Stage_STAGE_WARMUP {
		return
	}
	s.tell(func(t *state) { t.warmupEnded = true })
}

// ProbeSucceeded tells that the target answered with success, and what it
// showed of itself. A client that asks the target tells it before Ready.
func (s *Session) ProbeSucceeded(evidence *session.ProbeResult) {
	result, err := session.ProbeResultToWire(evidence)
	if err != nil {
		s.Fail("what the target showed can't be sent: " + err.Error())
		return
	}
	s.tell(func(t *state) { t.answered = &sessionpb.ProbeSucceeded{Result: result} })
}

// ProbeFailed tells what was seen of the target instead of success. Only the
// last reason is sure to reach the manager.
func (s *Session) ProbeFailed(reason string) {
	s.tell(func(t *state) { t.silent = reason })
}

// Fail tells what went wrong, for the run's user. The first reason stands. When
// Run's context ends, Run first tries to deliver it.
func (s *Session) Fail(reason string) {
	s.tell(func(t *state) {
		if t.failure == "" {
			t.failure = reason
		}
	})
}

// FailAs is Fail with the kind of the failure.
func (s *Session) FailAs(kind session.FailureKind, reason string) {
	s.tell(func(t *state) {
		if t.failure == "" {
			t.failure, t.failureKind = reason, kind
		}
	})
}

// ScriptState tells how far a client is with its k6 script.
func (s *Session) ScriptState(script session.ScriptState) {
	s.tell(func(t *state) { t.script = session.ScriptStateToWire(script) })
}

// SendSecond sends a sample second of a client. Of its latencies only those of
// the total are sent: the series has no others. The second isn't kept, so that
// the caller may change it afterwards.
func (s *Session) SendSecond(stage sessionpb.Stage, second *result.ClientSecond) {
	measure := result.Measure{Counts: second.Counts}
	measure.Latencies[result.Total] = second.Latencies[result.Total]
	encoded, err := session.MeasureToWire(&measure)
	if err != nil {
		s.Fail("a sample can't be sent: " + err.Error())
		return
	}
	s.send(&sessionpb.PodMessage{Message: &sessionpb.PodMessage_ClientSample{ClientSample: &sessionpb.ClientSample{
		Stage:   stage,
		Second:  second.Second,
		Measure: encoded,
		Usage:   session.ClientUsageToWire(second.Usage),
	}}})
}

// SendTotals sends a client's final figures.
func (s *Session) SendTotals(totals *result.Totals) {
	encoded, err := session.MeasureToWire(&totals.Measure)
	if err != nil {
		s.Fail("the totals can't be sent: " + err.Error())
		return
	}
	levels, err := session.LevelsToWire(totals.Levels)
	if err != nil {
		s.Fail("the totals can't be sent: " + err.Error())
		return
	}
	script, err := session.ScriptTotalsToWire(totals.Script)
	if err != nil {
		s.Fail("the totals can't be sent: " + err.Error())
		return
	}
	message := &sessionpb.ClientTotals{
		Script:     script,
		Levels:     levels,
		Measure:    encoded,
		StartedAt:  totals.StartedAt,
		EndedAt:    totals.EndedAt,
		Usage:      session.ClientUsageToWire(totals.Usage),
		ClockError: s.ClockError().Microseconds(),
		Arrivals:   session.ArrivalsToWire(totals.Arrivals),

		WarmupDuration: totals.WarmupMicroseconds,
	}
	if totals.Warmup != nil {
		message.Warmup = session.CountsToWire(totals.Warmup)
	}
	s.send(&sessionpb.PodMessage{Message: &sessionpb.PodMessage_ClientTotals{ClientTotals: message}})
}

// SendServerSample sends an agent's reading of the target's containers.
func (s *Session) SendServerSample(reading *result.ServerSample) {
	message := session.ServerSampleToWire(reading)
	s.mu.Lock()
	if s.readAt != 0 && reading.Server.At >= s.readAt {
		message.Asked, s.readAt = true, 0
	}
	s.mu.Unlock()
	s.send(&sessionpb.PodMessage{Message: &sessionpb.PodMessage_ServerSample{ServerSample: message}})
}

// Now is the manager's clock: microseconds since the Unix epoch. It is the
// pod's own clock until the manager was first reached. From the order to start
// the measurement on, it runs evenly.
func (s *Session) Now() int64 { return s.clock.now() }

// Local is the pod's time of an instant by the manager's clock. It has a
// monotonic reading, so that time.Until is right even if the wall clock is
// stepped.
func (s *Session) Local(at int64) time.Time { return s.clock.local(at) }

// ClockError bounds the error of Now and Local. It is the longest possible
// duration until the manager was first reached.
func (s *Session) ClockError() time.Duration { return s.clock.error() }

// tell changes what the pod tells of itself.
func (s *Session) tell(change func(*state)) {
	s.mu.Lock()
	change(&s.state)
	s.mu.Unlock()
	s.notify()
}

// send keeps a numbered message and has it sent.
func (s *Session) send(body *sessionpb.PodMessage) {
	s.mu.Lock()
	err := s.kept.add(body)
	s.mu.Unlock()
	if err != nil {
		s.Fail("a sample can't be kept: " + err.Error())
		return
	}
	s.notify()
}

func (s *Session) notify() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
