package result

import "github.com/assay-dev/assay/internal/percentile"

// UsersOrConnections returns what a closed load is counted in: "users" if they load pages, else
// "connections".
func (r *Run) UsersOrConnections() string {
	if r.UserConnections > 0 {
		return "users"
	}
	return "connections"
}

// PageErrorPercent returns the failed pages divided by the completed ones, in percent; 0 without pages.
func (c Counts) PageErrorPercent() float64 { return ratio(c.FailedPages, c.Pages, 100) }

// RoundsPer10Seconds returns the successful rounds divided by the level's length, times 10 seconds.
func (l *Level) RoundsPer10Seconds() float64 {
	return 10 * perSecond(l.Rounds, (l.End-l.Start)*1_000_000)
}

// pageTotals are what the metrics of pages are computed from: of a span of time, or of all of a run.
type pageTotals struct {
	counts Counts
	// time is that of successful pages. microseconds is the length of the span.
	time         Summary
	microseconds int64
}

// pageMetrics are the metrics of loads of pages, for Metrics and LevelMetrics:
//
//   - PageTime…: page times of successful pages in microseconds.
//   - PagesPerSecond: successful pages divided by the time.
//   - PageErrorRate: failed pages divided by completed ones, in percent.
//   - RoundsPer10Seconds: successful rounds divided by the time, times 10 seconds.
var pageMetrics = func() []pageMetric {
	time := func(of func(*Summary) float64) func(*pageTotals) (float64, bool) {
		return func(f *pageTotals) (float64, bool) { return of(&f.time), f.time.Count > 0 }
	}
	all := []pageMetric{
		{"PageTimeMean", time((*Summary).Mean)},
		{"PageTimeMax", time(func(s *Summary) float64 { return float64(s.Max) })},
		{"PagesPerSecond", func(f *pageTotals) (float64, bool) {
			return perSecond(f.counts.SucceededPages(), f.microseconds), f.counts.Pages > 0 && f.microseconds > 0
		}},
		{"PageErrorRate", func(f *pageTotals) (float64, bool) {
			return f.counts.PageErrorPercent(), f.counts.Pages > 0
		}},
		{"RoundsPer10Seconds", func(f *pageTotals) (float64, bool) {
			return 10 * perSecond(f.counts.Rounds, f.microseconds), f.counts.Pages > 0 && f.microseconds > 0
		}},
	}
	for _, p := range []percentile.Percentile{percentile.P50, percentile.P90, percentile.P99} {
		all = append(all, pageMetric{"PageTime" + p.Name(), time(func(s *Summary) float64 { return float64(s.Percentiles[p]) })})
	}
	return all
}()

type pageMetric struct {
	name string
	of   func(*pageTotals) (value float64, exists bool)
}
