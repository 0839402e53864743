package planfile

import (
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/steady"
	"github.com/assay-dev/assay/load/standalone"
)

// Bounds of a warm-up until the target is steady, as a BenchmarkRun has them.
const (
	mostWindowSeconds = 60
	leastWindows      = 2
	mostWindows       = 10
	mostLimitSeconds  = 86_400
)

// warmup writes the warm-up into a job.
func (c *converter) warmup(w *warmup, job *standalone.Job) {
	given := 0
	for _, is := range []bool{w.Requests != nil, w.DurationSeconds != nil, w.Steady != nil} {
		if is {
			given++
		}
	}
	switch {
	case given != 1:
		c.wrong("warmup", "give exactly one of requests, durationSeconds and steady")
	case w.Steady != nil:
		c.steady(w.Steady, job)
	default:
		amount := c.amount("warmup", &w.amount, job.Plan.Connections)
		job.Plan.Warmup = &amount
	}
}

// steady writes into a job when the target counts as warmed up.
func (c *converter) steady(s *steadyState, job *standalone.Job) {
	given := func(field string, n *int, byDefault, least, most int64) int64 {
		if n == nil {
			return byDefault
		}
		return c.within("warmup.steady."+field, int64(*n), least, most)
	}
	d := steady.Defaults
	job.Steady = &steady.Criterion{
		WindowSeconds:     given("windowSeconds", s.WindowSeconds, d.WindowSeconds, 1, mostWindowSeconds),
		Windows:           given("windows", s.Windows, d.Windows, leastWindows, mostWindows),
		ThroughputPercent: given("throughputPercent", s.ThroughputPercent, d.ThroughputPercent, 1, 100),
		P99Percent:        given("p99Percent", s.P99Percent, d.P99Percent, 1, 100),
	}
	limit := given("limitSeconds", s.LimitSeconds, d.LimitSeconds, 1, mostLimitSeconds)
	job.Steady.LimitSeconds = limit
	if least := job.Steady.Windows * job.Steady.WindowSeconds; limit > 0 && limit < least {
		c.wrong("warmup.steady.limitSeconds", "it's %d: give at least windows times windowSeconds, which is %d", limit, least)
	}
	job.Plan.Warmup = &session.Amount{DurationMicroseconds: limit * second}
}
