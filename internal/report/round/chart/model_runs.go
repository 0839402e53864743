package chart

import (
	"cmp"
	"slices"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/report/round"
)

// Runs holds a figure of every run of a round, by block.
type Runs struct {
	Metric v1alpha1.BenchmarkMetric
	// Axis is the name of the y axis with its unit.
	Axis string
	// Blocks is the number of blocks that have begun, Whole that of those that count.
	Blocks, Whole int
	Cells         []RunsCell
	Invalid       []InvalidRun
}

// RunsCell holds the runs of a cell.
type RunsCell struct {
	Label string
	Dots  []RunDot
	// Estimate is the median over the whole blocks; nil if it is unknown.
	Estimate *benchmark.Estimate
}

// RunDot is the figure of a valid run.
type RunDot struct {
	Run string
	// Block counts from 0.
	Block int
	// Figure is in the unit of round.MetricUnit.
	Figure float64
	// Whole reports whether every cell has a valid run in the block, so that the run counts.
	Whole bool
}

// InvalidRun is a run that has no valid result.
type InvalidRun struct {
	Run, Cell, Reason string
	Block             int
	// Replacement is the name of the run that was made in its place; empty if none was.
	Replacement string
}

// NewRuns returns the runs of a round in a metric.
func NewRuns(r *round.Report, metric v1alpha1.BenchmarkMetric) *Runs {
	runs := &Runs{Metric: metric, Axis: r.AxisTitle(metric), Whole: r.Blocks}
	for i := range r.Cells {
		runs.Cells = append(runs.Cells, RunsCell{Label: r.Label(i)})
	}
	for i := range r.Estimates {
		if e := &r.Estimates[i]; e.Metric == metric {
			runs.Cells[e.Cell].Estimate = e
		}
	}
	for i := range r.Runs {
		run := &r.Runs[i]
		if run.Trial || run.Ended.IsZero() {
			continue
		}
		runs.Blocks = max(runs.Blocks, run.Number+1)
		if !run.Valid {
			runs.Invalid = append(runs.Invalid, InvalidRun{
				Run: run.Name, Cell: r.Label(run.Cell), Block: run.Number, Reason: cmp.Or(run.Message, "unknown"), Replacement: replacement(r, run),
			})
			continue
		}
		if figure, ok := run.Figures[metric]; ok {
			c := &runs.Cells[run.Cell]
			c.Dots = append(c.Dots, RunDot{Run: run.Name, Block: run.Number, Figure: round.InUnit(metric, figure), Whole: run.Number < r.Blocks})
		}
	}
	for i := range runs.Cells {
		slices.SortStableFunc(runs.Cells[i].Dots, func(a, b RunDot) int { return cmp.Compare(a.Block, b.Block) })
	}
	slices.SortStableFunc(runs.Invalid, func(a, b InvalidRun) int { return cmp.Or(cmp.Compare(a.Block, b.Block), cmp.Compare(a.Run, b.Run)) })
	return runs
}

func replacement(r *round.Report, run *benchmark.Run) string {
	key := run.RunKey
	key.Replacement++
	at := slices.IndexFunc(r.Runs, func(other benchmark.Run) bool { return other.RunKey == key })
	if at < 0 {
		return ""
	}
	return r.Runs[at].Name
}

// Metrics returns the metrics of a round's pictures: those that are compared, then requests/s, p99 and errors, as far
// as runs have them.
func Metrics(r *round.Report) []v1alpha1.BenchmarkMetric {
	var all []v1alpha1.BenchmarkMetric
	if c := r.Spec.Comparison; c != nil {
		for _, m := range c.Metrics {
			all = append(all, m.Name)
		}
	}
	for _, m := range []v1alpha1.BenchmarkMetric{
		v1alpha1.BenchmarkMetric(v1alpha1.MetricRequestsPerSecond), v1alpha1.BenchmarkMetric(v1alpha1.MetricLatencyP99), v1alpha1.MetricBytesPerSecond,
	} {
		if !slices.Contains(all, m) {
			all = append(all, m)
		}
	}
	return slices.DeleteFunc(all, func(m v1alpha1.BenchmarkMetric) bool {
		return !slices.ContainsFunc(r.Runs, func(run benchmark.Run) bool {
			_, ok := run.Figures[m]
			return ok && run.Valid && !run.Trial
		})
	})
}
