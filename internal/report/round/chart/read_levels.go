package chart

import (
	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/report/round"
	"github.com/assay-dev/assay/internal/result"
)

// NewLevelRun returns the levels of a run; nil if its load has none.
func NewLevelRun(cell int, r *result.Result) *round.LevelRun {
	if len(r.Levels) == 0 {
		return nil
	}
	run := &round.LevelRun{Cell: cell, Run: r.Run.Name, Unit: "connections"}
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
		figures := round.LevelFigures{Load: l.Load(), P50: -1, P99: -1, RequestsPerSecond: l.RequestsPerSecond(), CPUPercent: l.PodCPUPercent(containers, r.Environment.SharedCPULimit)}
		if s.Count > 0 {
			figures.P50, figures.P99 = float64(s.Percentiles[percentile.P50])/1000, float64(s.Percentiles[percentile.P99])/1000
		}
		run.Levels = append(run.Levels, figures)
	}
	return run
}
