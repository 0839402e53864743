package result

import (
	"math"

	"github.com/assay-dev/assay/internal/percentile"
)

// LevelMetric is a metric of a load while it was held at a level.
type LevelMetric struct {
	// Name is that of the metric of Metrics with the same meaning and unit, if there is one.
	Name string
	// Of returns the metric of a level of a result, and whether there is one.
	Of func(r *Result, l *Level) (value float64, exists bool)
}

// LevelMetrics are the metrics of levels in a fixed order. Those that Metrics has too are of the requests
// that completed while the level was held. The others are:
//
//   - TargetCPU: CPU time of all containers of the target in percent of their PodCPULimit.
//   - TargetCPUIdle: what they left of that limit, in percent of it. It is what a machine of that size
//     would report as idle.
//
// Of a load of pages there are those of pageMetrics as well.
var LevelMetrics = func() []LevelMetric {
	all := []LevelMetric{
		{"RequestsPerSecond", func(_ *Result, l *Level) (float64, bool) { return l.RequestsPerSecond(), l.End > l.Start }},
		{"BytesPerSecond", func(_ *Result, l *Level) (float64, bool) { return l.BytesPerSecond(), l.End > l.Start }},
		{"ErrorRate", func(_ *Result, l *Level) (float64, bool) { return l.ErrorPercent(), l.Requests > 0 }},
		{"LatencyMean", levelLatency((*Summary).Mean)},
		{"LatencyMax", levelLatency(func(s *Summary) float64 { return float64(s.Max) })},
		{"TargetCPU", targetCPU},
		{"TargetCPUIdle", func(r *Result, l *Level) (float64, bool) {
			used, known := targetCPU(r, l)
			return math.Max(0, 100-used), known
		}},
		{"TargetPeakMemory", func(r *Result, l *Level) (float64, bool) {
			resident := l.Resident(r.Containers())
			return float64(resident), resident != Unknown
		}},
	}
	for _, p := range percentile.Common {
		all = append(all, LevelMetric{"Latency" + p.Name(), levelLatency(func(s *Summary) float64 { return float64(s.Percentiles[p]) })})
	}
	for _, m := range pageMetrics {
		all = append(all, LevelMetric{m.name, func(_ *Result, l *Level) (float64, bool) {
			return m.of(&pageTotals{l.Counts, l.summary(Page), (l.End - l.Start) * 1_000_000})
		}})
	}
	return all
}()

func levelLatency(metric func(*Summary) float64) func(*Result, *Level) (float64, bool) {
	return func(_ *Result, l *Level) (float64, bool) {
		total := l.Total()
		return metric(&total), total.Count > 0
	}
}

func targetCPU(r *Result, l *Level) (float64, bool) {
	percent := l.PodCPUPercent(r.Containers(), r.Environment.SharedCPULimit)
	return percent, percent >= 0
}

// Total returns the total times of the successful requests that completed while the level was held.
func (l *Level) Total() Summary { return l.summary(Total) }

// PageTime returns the page times of the successful pages that completed while the level was held.
func (l *Level) PageTime() Summary { return l.summary(Page) }

func (l *Level) summary(p Phase) Summary {
	if s := l.Summaries[p]; s != nil {
		return *s
	}
	return l.Latencies.Get(p).Summarize(0)
}
