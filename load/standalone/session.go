package standalone

import (
	"context"
	"time"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/pod"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/internal/steady"
)

// lead is how long after it stands ready that a stage begins.
const lead = 5 * time.Millisecond

// alone is a session without a manager: it gives the orders that a manager
// would give to a run's only client. It never releases the client, whose end is
// that of the process.
type alone struct {
	job     *Job
	watcher Watcher
	ready   func()
	orders  chan pod.Order

	series []result.Second
	// warmup are the seconds of a warm-up that lasts until the target is steady,
	// steady whether that is so, by the last windows.
	warmup steady.Seconds
	steady *result.Steadiness
	// totals has the figures once they are complete.
	totals chan *result.Totals
}

func newAlone(job *Job, watcher Watcher, ready func()) *alone {
	// A client is given four orders at most.
	return &alone{job: job, watcher: watcher, ready: ready, orders: make(chan pod.Order, 4), totals: make(chan *result.Totals, 1)}
}

// Run gives the client its plan and lasts as long as the context.
func (s *alone) Run(ctx context.Context) error {
	s.orders <- pod.Prepare{Plan: s.job.Plan, Address: s.job.address}
	<-ctx.Done()
	return ctx.Err()
}

// Orders are what the client is told to do.
func (s *alone) Orders() <-chan pod.Order { return s.orders }

// Ready has the first stage begin.
func (s *alone) Ready(string) {
	s.ready()
	if s.job.Plan.Warmup != nil {
		s.start(sessionpb.Stage_STAGE_WARMUP, *s.job.Plan.Warmup)
	} else {
		s.start(sessionpb.Stage_STAGE_MEASUREMENT, s.job.Plan.Measurement)
	}
}

// StageEnded has the measurement begin when the warm-up has ended.
func (s *alone) StageEnded(sessionpb.Stage) {
	s.start(sessionpb.Stage_STAGE_MEASUREMENT, s.job.Plan.Measurement)
}

func (s *alone) start(stage sessionpb.Stage, amount session.Amount) {
	s.watcher.Begin(stage == sessionpb.Stage_STAGE_WARMUP, amount)
	s.orders <- pod.Start{Stage: stage, At: s.Now() + lead.Microseconds()}
}

// SendSecond takes the figures of a second.
func (s *alone) SendSecond(stage sessionpb.Stage, second *result.ClientSecond) {
	s.watcher.Second(second.Counts)
	if stage == sessionpb.Stage_STAGE_MEASUREMENT {
		s.series = append(s.series, point(second))
	} else if s.job.Steady != nil {
		s.settle(second)
	}
}

// settle ends the warm-up when the target has become steady.
func (s *alone) settle(second *result.ClientSecond) {
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

// SendTotals takes the figures of the measurement.
func (s *alone) SendTotals(totals *result.Totals) { s.totals <- totals }

// TargetAnswered isn't called: the target was asked before.
func (s *alone) TargetAnswered(*session.Evidence) {}

// TargetSilent isn't called either.
func (s *alone) TargetSilent(string) {}

// Fail tells nothing that the client's Run doesn't return.
func (s *alone) Fail(string) {}

// Now is this machine's clock: there is no other.
func (s *alone) Now() int64 { return time.Now().UnixMicro() }

// Local is an instant by this process's clock.
func (s *alone) Local(at int64) time.Time {
	now := time.Now()
	return now.Add(time.Duration(at-now.UnixMicro()) * time.Microsecond)
}

// point is a second as a result's series has it.
func point(s *result.ClientSecond) result.Second {
	total := s.Latencies.Get(result.Total)
	p := result.Second{
		Second: s.Second, Seconds: 1, Requests: s.Requests, Errors: s.Errors.Total(),
		P50: total.Percentile(50), P90: total.Percentile(90), P99: total.Percentile(99), Max: total.Max(),
		BytesReceived: s.BytesReceived, ServerCPU: -1, ServerResident: -1,
	}
	p.SetUsage(s.Usage)
	return p
}
