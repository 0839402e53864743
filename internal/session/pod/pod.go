// Package pod is the pods' end of a session. It connects to the manager that leads
// and reconnects to it, keeps messages that the manager may still need, and
// measures the manager's clock. It doesn't know what a client or an agent does.
package pod

import (
	"log/slog"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// Config configures a session.
type Config struct {
	// Addresses is host:port of the managers. The host may have several addresses.
	// Only the leader listens.
	Addresses string
	// Token returns the token with which the pod authenticates. It is called for each
	// connection, since tokens are rotated.
	Token func() (string, error)
	// CA returns the CA certificates, in PEM, with which the manager is verified. It
	// is called for each connection.
	CA func() ([]byte, error)
	// Role is the pod's role in the run.
	Role sessionpb.Role
	// Log logs the state of the connection. It may be nil.
	Log *slog.Logger
}

// Session is a pod's session with the manager. Its methods are safe to call from
// any goroutine. Only Run waits for the network.
type Session struct {
	config   Config
	log      *slog.Logger
	instance uint64
	clock    *clock
	orders   chan Order
	wake     chan struct{} // wakes the sender

	mu       sync.Mutex
	reports  reports
	kept     kept
	received received
	// sampleRequested is the time at which a usage sample was requested, or 0 if no request is
	// pending.
	sampleRequested int64
	// connected is set while there is a stream on which the manager has sent Welcome.
	connected bool
}

// reports are the messages with the pod's state, by kind; nil for what there is nothing to say
// about. All of it is reported on each connection.
type reports [probeFailed + 1]*sessionpb.PodMessage

// The kinds of reports, in the order in which they are sent.
const (
	failed = iota
	probeSucceeded
	ready
	warmupEnded
	scriptState
	scriptMetrics
	probeFailed
)

// received holds the orders that were delivered.
type received struct {
	prepared       bool
	starts         []*sessionpb.Start
	setup          bool
	end            bool
	endMeasurement bool
	summarize      bool
	watch          []byte
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
		// There is room for more than the orders of a run, so that a slow receiver
		// doesn't block the connection.
		orders: make(chan Order, 64),
		wake:   make(chan struct{}, 1),
		kept:   kept{limit: keptBytes},
	}
}

// Orders returns the channel of the manager's orders. Each is delivered once,
// although the manager repeats it on a new connection. Only Sample may be delivered
// any number of times. Run closes the channel when it returns.
func (s *Session) Orders() <-chan Order { return s.orders }

// Ready reports that a client has initialized k6 and knows the target's address. cpus lists the
// CPUs that it may run on, as in "0-3,8". The report is sent once the manager's clock is known.
func (s *Session) Ready(cpus string) {
	s.report(ready, &sessionpb.PodMessage{Message: &sessionpb.PodMessage_Ready{Ready: &sessionpb.Ready{Cpus: cpus}}})
}

// StageEnded reports that a client has ended its warm-up. SendTotals reports the end
// of the measurement.
func (s *Session) StageEnded(stage sessionpb.Stage) {
	if stage == sessionpb.Stage_STAGE_WARMUP {
		s.report(warmupEnded, &sessionpb.PodMessage{Message: &sessionpb.PodMessage_StageEnded{StageEnded: &sessionpb.StageEnded{Stage: stage}}})
	}
}

// ProbeSucceeded reports a probe's success and its result. A client that probes the
// target calls it before Ready.
func (s *Session) ProbeSucceeded(probed *session.ProbeResult) {
	data, err := probed.Encode()
	if err != nil {
		s.Fail("report a probe: " + err.Error())
		return
	}
	s.report(probeSucceeded, &sessionpb.PodMessage{Message: &sessionpb.PodMessage_ProbeSucceeded{ProbeSucceeded: data}})
}

// ProbeFailed reports why a probe failed. Of several reasons, only the last is sure
// to reach the manager.
func (s *Session) ProbeFailed(reason string) {
	message := &sessionpb.ProbeFailed{Reason: strings.ToValidUTF8(reason, "\uFFFD")}
	s.report(probeFailed, &sessionpb.PodMessage{Message: &sessionpb.PodMessage_ProbeFailed{ProbeFailed: message}})
}

// Fail reports what went wrong, for the run's user. The first reason stands. If
// Run's context ends, Run first tries to send the reason.
func (s *Session) Fail(reason string) { s.FailAs(0, reason) }

// FailAs is like Fail, with the kind of the failure.
func (s *Session) FailAs(kind session.FailureKind, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail(kind, reason)
}

// fail is FailAs with the mutex held.
func (s *Session) fail(kind session.FailureKind, reason string) {
	if s.reports[failed] == nil {
		message := &sessionpb.Failure{Reason: strings.ToValidUTF8(reason, "\uFFFD"), Kind: kind}
		s.reports[failed] = &sessionpb.PodMessage{Message: &sessionpb.PodMessage_Failure{Failure: message}}
		s.notify()
	}
}

// ScriptState reports the progress of a client's k6 script.
func (s *Session) ScriptState(script session.ScriptState) {
	s.report(scriptState, &sessionpb.PodMessage{Message: &sessionpb.PodMessage_ScriptState{ScriptState: session.ScriptStateToWire(script)}})
}

// ScriptMetrics reports the metrics of a client's k6 script so far. Of several reports, only the last is sure to reach
// the manager. limit bounds its size in bytes.
func (s *Session) ScriptMetrics(metrics *session.ScriptMetrics, limit int) {
	data, err := metrics.Encode(limit)
	if err != nil {
		s.Fail("report metrics: " + err.Error())
		return
	}
	s.report(scriptMetrics, &sessionpb.PodMessage{Message: &sessionpb.PodMessage_ScriptMetrics{ScriptMetrics: data}})
}

// SendSummary sends what handleSummary() of a client's k6 script returned.
func (s *Session) SendSummary(summary *result.ScriptSummary) {
	data, err := session.Encode(summary)
	if err != nil {
		s.Fail("send a summary: " + err.Error())
		return
	}
	s.send(&sessionpb.PodMessage{Message: &sessionpb.PodMessage_ScriptSummary{ScriptSummary: data}})
}

// SendSecond sends a sample second of a client. Of its latencies it sends those of the phase total,
// and sketches of the others. The caller may change the second afterwards.
func (s *Session) SendSecond(stage sessionpb.Stage, second *result.ClientSecond) {
	sent := *second
	sent.Sketches = second.Latencies.Sketches()
	encoded, err := session.SecondToWire(stage, &sent, 0)
	if err != nil {
		s.Fail("send a sample: " + err.Error())
		return
	}
	s.send(&sessionpb.PodMessage{Message: &sessionpb.PodMessage_ClientSample{ClientSample: encoded}})
}

// SendTotals sends a client's final metrics.
func (s *Session) SendTotals(totals *result.Totals) {
	data, err := session.EncodeTotals(totals)
	if err != nil {
		s.Fail("send the totals: " + err.Error())
		return
	}
	message := &sessionpb.ClientTotals{Totals: data, ClockError: s.ClockError().Microseconds()}
	s.send(&sessionpb.PodMessage{Message: &sessionpb.PodMessage_ClientTotals{ClientTotals: message}})
}

// SendServerSample sends an agent's usage sample of the target's containers.
func (s *Session) SendServerSample(sample *result.ServerSample) {
	message := session.ServerSampleToWire(sample)
	s.mu.Lock()
	if s.sampleRequested != 0 && sample.Server.At >= s.sampleRequested {
		message.Requested, s.sampleRequested = true, 0
	}
	s.mu.Unlock()
	s.send(&sessionpb.PodMessage{Message: &sessionpb.PodMessage_ServerSample{ServerSample: message}})
}

// At converts a local time, which needs a monotonic reading, to the manager's clock: microseconds since the Unix epoch. Until the
// first connection that is the pod's own clock. From the order to start the measurement on, it isn't corrected any more.
func (s *Session) At(local time.Time) int64 { return s.clock.at(local) }

// Local converts a time of the manager's clock to the pod's. The result has a monotonic reading, so
// that time.Until is right even if the wall clock is stepped.
func (s *Session) Local(at int64) time.Time { return s.clock.local(at) }

// ClockError returns a bound of the error of At and Local. Until the first
// connection it is the longest possible duration.
func (s *Session) ClockError() time.Duration { return s.clock.error() }

func (s *Session) report(kind int, message *sessionpb.PodMessage) {
	s.mu.Lock()
	s.reports[kind] = message
	s.mu.Unlock()
	s.notify()
}

func (s *Session) send(body *sessionpb.PodMessage) {
	s.mu.Lock()
	err := s.kept.add(body)
	s.mu.Unlock()
	if err != nil {
		s.Fail("keep a sample: " + err.Error())
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

// Mounted returns the configuration of a pod's session with the managers at
// host:port. It reads the token and the CA that the operator mounts.
func Mounted(addresses string, role sessionpb.Role, log *slog.Logger) Config {
	return Config{
		Addresses: addresses,
		Token: func() (string, error) {
			token, err := os.ReadFile(session.TokenPath)
			return string(token), err
		},
		CA:   func() ([]byte, error) { return os.ReadFile(session.CAPath) },
		Role: role,
		Log:  log,
	}
}
