package standalone

import (
	"context"
	"time"

	"github.com/assay-dev/assay/internal/breakingpoint"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/pod"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/internal/steady"
)

// StartDelay is the time from a stage being ready to its start time.
const StartDelay = 5 * time.Millisecond

// localSession implements client.Session without a manager. It sends the client the orders that a
// manager sends to a run with one client. It never releases the client: the process exits instead.
type localSession struct {
	session.Clock
	job     *Job
	watcher Watcher
	ready   func()
	orders  chan pod.Order

	series []result.Second
	// warmup holds the seconds of a warm-up that ends when the target is steady.
	// steady compares its last windows.
	warmup steady.Seconds
	steady *result.Steadiness
	// started is the start time of the measurement. stop is the breaking point that ended it, or nil.
	started int64
	stop    *result.Stop
	// totals receives the measurement's totals.
	totals chan *result.Totals
}

// newLocalSession returns a session for job. It calls ready when the client is
// ready, before the first stage starts.
func newLocalSession(job *Job, watcher Watcher, ready func()) *localSession {
	// A client receives at most five orders: Prepare, Start, End, Start and EndMeasurement.
	return &localSession{Clock: session.NewClock(), job: job, watcher: watcher, ready: ready, orders: make(chan pod.Order, 5), totals: make(chan *result.Totals, 1)}
}

// Run sends the client its plan and returns when ctx is done.
func (s *localSession) Run(ctx context.Context) error {
	s.orders <- pod.Prepare{Plan: s.job.Plan, Address: s.job.address}
	<-ctx.Done()
	return ctx.Err()
}

// Orders returns the channel of the client's orders.
func (s *localSession) Orders() <-chan pod.Order { return s.orders }

// Ready starts the first stage.
func (s *localSession) Ready(string) {
	s.ready()
	if s.job.Plan.Warmup != nil {
		s.start(sessionpb.Stage_STAGE_WARMUP, *s.job.Plan.Warmup)
	} else {
		s.start(sessionpb.Stage_STAGE_MEASUREMENT, s.job.Plan.Measurement)
	}
}

// StageEnded starts the measurement when the warm-up has ended.
func (s *localSession) StageEnded(sessionpb.Stage) {
	s.start(sessionpb.Stage_STAGE_MEASUREMENT, s.job.Plan.Measurement)
}

func (s *localSession) start(stage sessionpb.Stage, amount session.Amount) {
	s.watcher.Begin(stage == sessionpb.Stage_STAGE_WARMUP, amount)
	at := s.At(time.Now()) + StartDelay.Microseconds()
	if stage == sessionpb.Stage_STAGE_MEASUREMENT {
		s.started = at
	}
	s.orders <- pod.Start{Stage: stage, At: at}
}

// SendSecond records one second of a stage.
func (s *localSession) SendSecond(stage sessionpb.Stage, second *result.ClientSecond) {
	s.watcher.Second(second.Counts)
	if stage == sessionpb.Stage_STAGE_MEASUREMENT {
		s.series = append(s.series, Point(second))
		s.checkStop()
	} else if s.job.Steady != nil {
		s.checkSteady(second)
	}
}

// checkSteady ends the warm-up when the target has become steady.
func (s *localSession) checkSteady(second *result.ClientSecond) {
	if s.steady != nil && s.steady.Reached {
		return
	}
	c := s.job.Steady
	s.warmup.Add(second, 1)
	s.steady = c.Judge(s.warmup.Windows(*c, second.Second+1))
	if s.steady.Reached {
		s.orders <- pod.End{}
	}
}

// checkStop ends the measurement when a breaking point is reached.
func (s *localSession) checkStop() {
	stages := s.job.Stages
	if stages == nil || s.stop != nil || stages.StopAt == (breakingpoint.Bounds{}) {
		return
	}
	first := breakingpoint.First(breakingpoint.Find(s.series, &stages.Load, stages.StopAt))
	if first == nil {
		return
	}
	end := (s.At(time.Now())-s.started)/1_000_000 + 1
	if end < stages.Load.End {
		s.stop = &result.Stop{BreakingPoint: *first, End: end}
		s.orders <- pod.EndMeasurement{At: s.started + end*1_000_000}
	}
}

// SendTotals passes on the totals of the measurement.
func (s *localSession) SendTotals(totals *result.Totals) { s.totals <- totals }

// ProbeSucceeded does nothing: Job.Prepare probes the target, so that the client doesn't.
func (s *localSession) ProbeSucceeded(*session.ProbeResult) {}

// ProbeFailed does nothing: see ProbeSucceeded.
func (s *localSession) ProbeFailed(string) {}

// FailAs does nothing: the client's Run returns the same reason.
func (s *localSession) FailAs(session.FailureKind, string) {}

// Point converts a second to a point of a result's series.
func Point(s *result.ClientSecond) result.Second {
	p := result.Second{Second: s.Second, Seconds: 1, ServerCPU: -1, ServerResident: -1}
	times := s.Phases
	times.SetExact(&s.Latencies)
	p.SetCounts(s.Counts, times)
	p.SetLatency(s.Latencies.Get(result.Total))
	p.SetUsage(s.Usage)
	p.ClientNode = s.Node
	return p
}
