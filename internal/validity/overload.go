package validity

import (
	"fmt"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/statistics"
)

const (
	// minTrendSeconds is the smallest number of seconds in which the Mann-Kendall test can find a trend at
	// trendSignificance: with five even the clearest has a p value of 1.7%.
	minTrendSeconds = 6
	// trendSignificance bounds how often noise of independent seconds counts as a trend.
	trendSignificance = 0.01
	// backlogDoubles is the growth of the median latency, from the first third to the last, from which on
	// it says more about the measurement's length than about the target.
	backlogDoubles = 2.0
)

// overloaded finds an open load of which the target can't serve all. The requests that it doesn't serve
// pile up, in front of it or within, and each waits for those before it. When rate arrive each second but
// only served are completed, one that completes t seconds after the start began at t*served/rate, so that
// its latency grows by 1-served/rate seconds each second: by the share that isn't served. Percentiles of
// such latencies are those of the measurement's length.
func overloaded(r *result.Result, d Declared) *result.Finding {
	if r.Arrivals == nil {
		return nil
	}
	for _, s := range spans(r, d) {
		rate := r.Arrivals.TargetRatePerSecond()
		switch {
		case s.level != nil:
			rate = float64(s.level.TargetRatePerSecond)
		case d.RampMicroseconds > 0 && r.Run.TargetRatePerSecond > 0:
			rate = r.Run.TargetRatePerSecond
		}
		latencies := medians(s.seconds)
		if rate == 0 || len(latencies) < minTrendSeconds {
			continue
		}
		trend := statistics.TrendOf(latencies)
		unserved := trend.Slope / 1e6 / float64(s.seconds[0].Seconds)
		if unserved < shortfallWarnsPercent/100 || trend.P > trendSignificance {
			continue
		}
		first, last := thirds(latencies)
		severity, where := result.Invalidates, ""
		switch {
		case s.level != nil:
			severity, where = result.Warns, fmt.Sprintf(" at the level of %d/s (seconds %d to %d)", s.level.TargetRatePerSecond, s.level.Start, s.level.End)
		case unserved < shortfallInvalidatesPercent/100 && last < backlogDoubles*first:
			severity = result.Warns
		}
		f := found(ReasonNotKeepingUp, severity,
			"The target did not keep up with %.2f requests/s%s: the median latency rose by %s each second, from %s in the first third to %s in the last, "+
				"as it does if the target serves %.1f%% less. Latencies are those of a growing backlog. Lower the rate, or give the target more resources.",
			rate, where, milliseconds(int64(trend.Slope/float64(s.seconds[0].Seconds))), milliseconds(int64(first)), milliseconds(int64(last)), 100*unserved)
		if s.level != nil {
			happened(f, s.level.Start, s.level.End)
		}
		return f
	}
	return nil
}
