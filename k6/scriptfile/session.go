package scriptfile

import (
	"context"
	"sync"
	"time"

	"github.com/assay-dev/assay/internal/k6metric"
	"github.com/assay-dev/assay/internal/load/standalone"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/pod"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// scriptSession implements script.Session without a manager. It sends the client the orders that a
// manager sends to a script's only client.
type scriptSession struct {
	session.Clock
	plan     *session.Plan
	watcher  standalone.Watcher
	orders   chan pod.Order
	released chan struct{} // closed after pod.Release

	mu      sync.Mutex
	started bool // the measurement was started

	had session.ScriptState // the client's last report
	// series, totals and summary are complete when released is closed.
	series  []result.Second
	totals  *result.Totals
	summary *result.ScriptSummary
	// abort is the threshold with abortOnFail that ended the load, or nil.
	abort *result.ScriptAbort
}

// newSession returns a session for a script's file in the script's directory.
func newSession(file string, watcher standalone.Watcher) *scriptSession {
	return &scriptSession{
		Clock: session.NewClock(),
		// A client receives at most seven orders: Prepare, three Starts, EndMeasurement, Summarize and Release.
		watcher: watcher, orders: make(chan pod.Order, 7), released: make(chan struct{}),
		plan: &session.Plan{Script: &session.Script{File: file, Segment: "0:1", Sequence: "0,1", Leads: true}},
	}
}

// end ends the measurement. It reports whether the measurement was started.
func (s *scriptSession) end() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started {
		s.orders <- pod.EndMeasurement{At: s.At(time.Now())}
	}
	return s.started
}

// Run sends the client its plan and returns when it is released or ctx is done.
func (s *scriptSession) Run(ctx context.Context) error {
	s.orders <- pod.Prepare{Plan: s.plan}
	select {
	case <-s.released:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Orders returns the channel of the client's orders.
func (s *scriptSession) Orders() <-chan pod.Order { return s.orders }

// Ready starts setup().
func (s *scriptSession) Ready(string) { s.start(sessionpb.Stage_STAGE_SETUP) }

// ScriptState starts the stage after the one that has ended.
func (s *scriptSession) ScriptState(state session.ScriptState) {
	switch had := s.had; {
	case state.SetupEnded && !had.SetupEnded:
		s.watcher.Begin(false, session.Amount{})
		s.start(sessionpb.Stage_STAGE_MEASUREMENT)
	case state.LoadEnded && !had.LoadEnded:
		s.start(sessionpb.Stage_STAGE_TEARDOWN)
	}
	s.had = state
}

func (s *scriptSession) start(stage sessionpb.Stage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started = s.started || stage == sessionpb.Stage_STAGE_MEASUREMENT
	s.orders <- pod.Start{Stage: stage, At: s.At(time.Now()) + standalone.StartDelay.Microseconds()}
}

// SendSecond records one second of the measurement.
func (s *scriptSession) SendSecond(_ sessionpb.Stage, second *result.ClientSecond) {
	s.watcher.Second(second.Counts)
	s.series = append(s.series, standalone.Point(second))
}

// SendTotals records the totals. It makes the client run handleSummary() if the script may define that, and else
// releases the client.
func (s *scriptSession) SendTotals(totals *result.Totals) {
	s.totals, s.abort = totals, aborted(totals.Script)
	if !totals.Script.Summarizes {
		s.release()
		return
	}
	data, err := result.SummaryData([]*result.ScriptTotals{totals.Script}, s.abort, s.had.SetupData)
	if err != nil {
		s.SendSummary(&result.ScriptSummary{Error: err.Error()})
		return
	}
	s.orders <- pod.Summarize{Data: data}
}

// SendSummary records what handleSummary() returned and releases the client.
func (s *scriptSession) SendSummary(summary *result.ScriptSummary) {
	s.summary = summary
	s.release()
}

func (s *scriptSession) release() {
	s.orders <- pod.Release{}
	close(s.released)
}

// ScriptMetrics does nothing: the client itself evaluates thresholds with abortOnFail.
func (s *scriptSession) ScriptMetrics(*session.ScriptMetrics, int) {}

// StageEnded does nothing: a script has no warm-up.
func (s *scriptSession) StageEnded(sessionpb.Stage) {}

// ProbeSucceeded does nothing: a script's target isn't probed.
func (s *scriptSession) ProbeSucceeded(*session.ProbeResult) {}

// ProbeFailed does nothing: see ProbeSucceeded.
func (s *scriptSession) ProbeFailed(string) {}

// FailAs does nothing: the client's Run returns the same reason.
func (s *scriptSession) FailAs(session.FailureKind, string) {}

// aborted returns the threshold for which the client ended its load, or nil. The client's metrics are those of the full load, so
// that the threshold is one that ended the load of all clients, as the manager's decision is in a cluster.
func aborted(s *result.ScriptTotals) *result.ScriptAbort {
	for i := range s.Thresholds {
		t := &s.Thresholds[i]
		if !t.Aborted {
			continue
		}
		t.Aborted = false
		ran := time.Duration(s.RunMicroseconds) * time.Microsecond
		a := &result.ScriptAbort{Metric: t.Metric, Bound: t.Source, End: max(int64(ran.Round(time.Second)/time.Second), 1)}
		if outcome, err := t.Evaluate(k6metric.Find(s.Metrics, t.Metric), ran); err == nil { // k6 has checked it
			a.Actual = outcome.Actual
		}
		return a
	}
	return nil
}
