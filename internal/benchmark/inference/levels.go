package inference

import (
	"math"
	"slices"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/blocks"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/statistics"
)

// levels returns the medians of a cell's levels over the first blocks. Runs of a cell have the same load, of which
// each came to a part.
func levels(l *blocks.Ledger, blocks, cell int, alpha float64) []benchmark.LevelEstimate {
	var estimates []benchmark.LevelEstimate
	for level := range benchmark.MaxLevels {
		e := benchmark.LevelEstimate{Cell: cell, Level: level, Medians: map[v1alpha1.BenchmarkMetric]float64{}}
		values := make([][]float64, len(result.LevelMetrics))
		for block := range blocks {
			run := l.Blocks[block][cell].Valid()
			if level >= len(run.Levels) {
				continue
			}
			of := &run.Levels[level]
			e.Load, e.PerSecond, e.Users = of.Load, of.PerSecond, of.Users
			e.Runs++
			for n, value := range of.Metrics {
				if value >= 0 {
					values[n] = append(values[n], float64(value))
				}
			}
		}
		if e.Runs == 0 {
			break
		}
		for n, m := range result.LevelMetrics {
			i, err := statistics.Median(values[n], alpha)
			if err != nil {
				continue
			}
			name := v1alpha1.BenchmarkMetric(m.Name)
			e.Medians[name] = benchmark.Rounded(i.Estimate)
			if i.Bounded() {
				if e.Intervals == nil {
					e.Intervals = map[v1alpha1.BenchmarkMetric][2]float64{}
				}
				e.Intervals[name] = [2]float64{benchmark.Rounded(i.Low), benchmark.Rounded(i.High)}
			}
		}
		estimates = append(estimates, e)
	}
	return estimates
}

// valuesOf returns the values of a metric of a cell in each of the first blocks: of a level of the load, or of the whole
// measurement if level is 0.
func valuesOf(l *blocks.Ledger, blocks, cell int, metric v1alpha1.BenchmarkMetric, level int) []float64 {
	values := l.Values(blocks, cell, metric)
	if level == 0 {
		return values
	}
	at := slices.IndexFunc(result.LevelMetrics, func(m result.LevelMetric) bool { return m.Name == string(metric) })
	for block := range values {
		values[block] = math.NaN()
		if levels := l.Blocks[block][cell].Valid().Levels; level <= len(levels) && at >= 0 && levels[level-1].Metrics[at] >= 0 {
			values[block] = float64(levels[level-1].Metrics[at])
		}
	}
	return values
}

// breakingPoint returns the estimate of a breaking point. Runs that met none count as if they had met it above all
// others, so that the median isn't that of the weaker half. There is no estimate if it lies there.
func (d *Design) breakingPoint(values []float64, known, cell int, metric v1alpha1.BenchmarkMetric) (benchmark.Estimate, bool) {
	if known == 0 {
		return benchmark.Estimate{}, false
	}
	highest := 0.0
	for _, v := range values {
		if v > highest { // false for NaN
			highest = v
		}
	}
	values = slices.Clone(values)
	for i, v := range values {
		if math.IsNaN(v) {
			values[i] = 2*highest + 1
		}
	}
	i, err := statistics.Median(values, d.alpha())
	if err != nil || i.Estimate > highest {
		return benchmark.Estimate{}, false
	}
	e := benchmark.Estimate{Cell: cell, Metric: metric, Median: i.Estimate, Low: statistics.Finite(i.Low), High: statistics.Finite(i.High), Runs: known}
	if i.High > highest {
		e.High = nil
	}
	return e, true
}
