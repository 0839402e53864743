package plan

import (
	"slices"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/blocks"
	"github.com/assay-dev/assay/internal/benchmark/search"
	"github.com/assay-dev/assay/internal/statistics"
)

// capacitiesOf returns the results of the capacity searches that have begun, by cell. from is nil without any.
func capacitiesOf(l *blocks.Ledger, from *v1alpha1.Capacity) (capacities []benchmark.Capacity) {
	if from == nil {
		return nil
	}
	for cell := range l.Trials {
		if len(l.Trials[cell]) == 0 {
			continue
		}
		runs := l.TrialsOf(cell)
		step := search.Next(from, trialsOf(runs))
		c := benchmark.Capacity{Cell: cell, Sustained: step.Sustained, Failed: step.Failed, Limit: step.Limit, Trials: len(runs)}
		derive(&c, slices.DeleteFunc(runs, func(r *benchmark.Run) bool { return r.Load != step.Sustained || r.Outcome != benchmark.OutcomePassed }))
		capacities = append(capacities, c)
	}
	return capacities
}

const secondsPerDay = 24 * 60 * 60

// derive sets the metrics at the sustained load from the trials that passed there.
func derive(c *benchmark.Capacity, passed []*benchmark.Run) {
	c.AchievedPerSecond = middle(passed, func(r *benchmark.Run) float64 { return r.Achieved })
	c.RequestsPerDay = secondsPerDay * c.AchievedPerSecond
	c.BytesPerSecond = middle(passed, func(r *benchmark.Run) float64 { return r.Metrics[v1alpha1.MetricBytesPerSecond] })
	// Microseconds per request are seconds per million requests.
	c.CPUSecondsPerMillionRequests = middle(passed, func(r *benchmark.Run) float64 { return r.Metrics[v1alpha1.MetricTargetCPUPerRequest] })
	c.BytesPerConnection = middle(passed, func(r *benchmark.Run) float64 {
		return r.Metrics[v1alpha1.MetricTargetPeakMemory] / float64(max(1, r.Connections))
	})
	if len(passed) == 0 || passed[0].Connections == 0 {
		c.BytesPerConnection = 0
	}
}

// middle returns the median of a metric; 0 without runs.
func middle(runs []*benchmark.Run, of func(*benchmark.Run) float64) float64 {
	if len(runs) == 0 {
		return 0
	}
	values := make([]float64, len(runs))
	for i, r := range runs {
		values[i] = of(r)
	}
	return statistics.MedianOf(values)
}

func trialsOf(runs []*benchmark.Run) []search.Trial {
	trials := make([]search.Trial, len(runs))
	for i, r := range runs {
		trials[i] = search.Trial{Load: r.Load, Outcome: r.Outcome}
	}
	return trials
}
