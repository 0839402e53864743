package round

import (
	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/result"
)

// LevelRun has the levels of a run of a load with stages.
type LevelRun struct {
	// Cell is the index of the run's cell.
	Cell int
	Run  string
	// Unit is the unit of the loads: "connections" or "requests/s".
	Unit   string
	Levels []LevelFigures
}

// LevelFigures are the figures of a level. Those that are unknown are negative.
type LevelFigures struct {
	Load int64
	// P50 and P99 are in milliseconds.
	P50, P99          float64
	RequestsPerSecond float64
	// CPUPercent is the CPU time of all of the target's containers in percent of their limits.
	CPUPercent float64
}

// NewLevelRun returns the levels of a run; nil if its load has none.
func NewLevelRun(cell int, r *result.Result) *LevelRun {
	if len(r.Levels) == 0 {
		return nil
	}
	run := &LevelRun{Cell: cell, Run: r.Run.Name, Unit: "connections"}
	if r.Run.Load == result.LoadOpen {
		run.Unit = "requests/s"
	}
	containers := r.Containers()
	for i := range r.Levels {
		l := &r.Levels[i]
		s := l.Summaries[result.Total]
		if s == nil {
			of := l.Latencies.Get(result.Total).Summarize(0)
			s = &of
		}
		figures := LevelFigures{Load: l.Load(), P50: -1, P99: -1, RequestsPerSecond: l.RequestsPerSecond(), CPUPercent: l.PodCPUPercent(containers, r.Environment.SharedCPULimit)}
		if s.Count > 0 {
			figures.P50, figures.P99 = float64(s.Percentiles[percentile.P50])/1000, float64(s.Percentiles[percentile.P99])/1000
		}
		run.Levels = append(run.Levels, figures)
	}
	return run
}
