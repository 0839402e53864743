package benchmark

import (
	"math"
	"slices"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/statistics"
)

// maxLevels is the largest number of levels of a load.
const maxLevels = 20

// RunLevel holds a run's figures of one level of its load.
type RunLevel struct {
	// Load is the number of connections, or the arrival rate per second if PerSecond is set, or the
	// number of users if Users is set, over all clients.
	Load             int64
	PerSecond, Users bool
	// Figures are by the positions of result.LevelMetrics, in their units, and negative where the level has none. They
	// are small, because the manager holds those of all runs of a round. A float32 has the 7 digits that Run.Figures
	// have.
	Figures []float32
}

// LevelEstimate has a cell's medians of one level of its load, over the runs that came to it.
type LevelEstimate struct {
	Cell int `json:"cell"`
	// Level counts the levels of the load from 0.
	Level int `json:"level"`
	// Load is the number of connections, or the arrival rate per second if PerSecond is set, or the
	// number of users if Users is set, over all clients.
	Load      int64 `json:"load"`
	PerSecond bool  `json:"perSecond,omitempty"`
	Users     bool  `json:"users,omitempty"`
	// Runs is the number of runs that came to the level: fewer than blocks if a load was ended at a breaking point.
	Runs int `json:"runs"`
	// Medians are by the names and in the units of result.LevelMetrics. A metric that no run has is absent.
	Medians map[v1alpha1.BenchmarkMetric]float64 `json:"medians"`
	// Intervals hold the lower and upper bound of a median, of those metrics whose runs bound it.
	Intervals map[v1alpha1.BenchmarkMetric][2]float64 `json:"intervals,omitempty"`
}

// levelsOf returns the figures of a result's levels.
func levelsOf(r *result.Result) []RunLevel {
	var levels []RunLevel
	for i := range r.Levels[:min(len(r.Levels), maxLevels)] {
		l := &r.Levels[i]
		level := RunLevel{Load: l.Load(), PerSecond: l.TargetRatePerSecond > 0, Users: r.Run.UserConnections > 0, Figures: make([]float32, len(result.LevelMetrics))}
		for n, m := range result.LevelMetrics {
			level.Figures[n] = -1
			if value, exists := m.Of(r, l); exists && value >= 0 && value <= math.MaxFloat32 {
				level.Figures[n] = float32(value)
			}
		}
		levels = append(levels, level)
	}
	return levels
}

// levels returns the medians of a cell's levels over the first blocks. Runs of a cell have the same load, of which
// each came to a part.
func (l *ledger) levels(blocks, cell int, alpha float64) []LevelEstimate {
	var estimates []LevelEstimate
	for level := range maxLevels {
		e := LevelEstimate{Cell: cell, Level: level, Medians: map[v1alpha1.BenchmarkMetric]float64{}}
		values := make([][]float64, len(result.LevelMetrics))
		for block := range blocks {
			run := l.blocks[block][cell].valid()
			if level >= len(run.Levels) {
				continue
			}
			of := &run.Levels[level]
			e.Load, e.PerSecond, e.Users = of.Load, of.PerSecond, of.Users
			e.Runs++
			for n, value := range of.Figures {
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
			e.Medians[name] = rounded(i.Estimate)
			if i.Bounded() {
				if e.Intervals == nil {
					e.Intervals = map[v1alpha1.BenchmarkMetric][2]float64{}
				}
				e.Intervals[name] = [2]float64{rounded(i.Low), rounded(i.High)}
			}
		}
		estimates = append(estimates, e)
	}
	return estimates
}

// IsBreakingPoint reports whether a metric is a breaking point. A run without such a figure has it above its load.
func IsBreakingPoint(metric v1alpha1.BenchmarkMetric) bool {
	return result.BreakingMetrics[string(metric)] != nil
}

// breakingPoint returns the estimate of a breaking point. Runs that met none count as if they had met it above all
// others, so that the median isn't that of the weaker half. There is no estimate if it lies there.
func (p *Planner) breakingPoint(values []float64, known, cell int, metric v1alpha1.BenchmarkMetric) (Estimate, bool) {
	if known == 0 {
		return Estimate{}, false
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
	i, err := statistics.Median(values, p.alpha())
	if err != nil || i.Estimate > highest {
		return Estimate{}, false
	}
	e := Estimate{Cell: cell, Metric: metric, Median: i.Estimate, Low: finite(i.Low), High: finite(i.High), Runs: known}
	if i.High > highest {
		e.High = nil
	}
	return e, true
}

// NoneUpTo returns the highest level that the runs of a cell came to, where a breaking point that has no estimate is
// above it. It returns 0 if the load has no levels, or it isn't known whether runs looked for the breaking point.
func (r *Round) NoneUpTo(cell int, metric v1alpha1.BenchmarkMetric) int64 {
	known := IsBreakingPoint(metric) && metric != v1alpha1.MetricBreakingPointCPU
	if metric == v1alpha1.MetricBreakingPointLatencyP99 { // without a bound, no run has it
		known = slices.ContainsFunc(r.Estimates, func(e Estimate) bool { return e.Metric == metric })
	}
	highest := int64(0)
	for i := range r.Levels {
		l := &r.Levels[i]
		if l.Cell != cell {
			continue
		}
		highest = max(highest, l.Load)
		if _, has := l.Medians["TargetCPU"]; has && metric == v1alpha1.MetricBreakingPointCPU {
			known = true
		}
	}
	if !known {
		return 0
	}
	return highest
}

// PeakLevels returns the highest level that the runs of two cells came to both, of each cell; nil if there is none.
func (r *Round) PeakLevels(a, b int) (ofA, ofB *LevelEstimate) {
	for i := range r.Levels {
		x := &r.Levels[i]
		if x.Cell != a || ofA != nil && x.Load <= ofA.Load {
			continue
		}
		at := slices.IndexFunc(r.Levels, func(y LevelEstimate) bool { return y.Cell == b && y.Load == x.Load && y.PerSecond == x.PerSecond })
		if at >= 0 {
			ofA, ofB = x, &r.Levels[at]
		}
	}
	return ofA, ofB
}
