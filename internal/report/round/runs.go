package round

import (
	"cmp"
	"maps"
	"slices"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
)

// Estimate returns the median of a cell in a metric; nil if it is unknown.
func (r *Report) Estimate(cell int, metric v1alpha1.BenchmarkMetric) *benchmark.Estimate {
	for i := range r.Estimates {
		if e := &r.Estimates[i]; e.Cell == cell && e.Metric == metric {
			return e
		}
	}
	return nil
}

// EffectText returns the effect of a cell in a metric, or why it has no ratio; "-" for a cell that isn't compared.
func (r *Report) EffectText(cell int, metric v1alpha1.BenchmarkMetric) string {
	e := r.Effect(cell, metric)
	if e == nil {
		return "-"
	}
	row := r.effectRow(e, r.Cells[cell].Baseline)
	return row.Change()
}

// Effect returns the effect of a cell in a metric; nil if it is a baseline, or the metric isn't compared.
func (r *Report) Effect(cell int, metric v1alpha1.BenchmarkMetric) *benchmark.Effect {
	for i := range r.Claims {
		if c := &r.Claims[i]; c.Gate && c.Cell == cell && c.Metric == metric {
			return &c.Effect
		}
	}
	for i := range r.Effects {
		if e := &r.Effects[i]; e.Cell == cell && e.Metric == metric {
			return e
		}
	}
	return nil
}

// RunsOf returns the runs of a cell that have ended, without trials, in the order of the blocks. A run counts if it is
// valid and its block is one of r.Blocks.
func (r *Report) RunsOf(cell int) []*benchmark.Run {
	var runs []*benchmark.Run
	for i := range r.Runs {
		if run := &r.Runs[i]; run.Cell == cell && !run.Trial && !run.Ended.IsZero() {
			runs = append(runs, run)
		}
	}
	slices.SortStableFunc(runs, func(a, b *benchmark.Run) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Replacement, b.Replacement))
	})
	return runs
}

// Replacement returns the name of the run that was made in place of an invalid one; empty if none was.
func (r *Report) Replacement(run *benchmark.Run) string {
	key := run.RunKey
	key.Replacement++
	at := slices.IndexFunc(r.Runs, func(other benchmark.Run) bool { return other.RunKey == key })
	if at < 0 {
		return ""
	}
	return r.Runs[at].Name
}

// Warnings returns the reasons that more than half of a cell's runs that count have, such as NetworkLimited.
func (r *Report) Warnings(cell int) []string {
	runs, count := 0, map[string]int{}
	for _, run := range r.RunsOf(cell) {
		if run.Valid && run.Number < r.Blocks {
			runs++
			for _, reason := range run.Warnings {
				count[reason]++
			}
		}
	}
	maps.DeleteFunc(count, func(_ string, n int) bool { return 2*n <= runs })
	return slices.Sorted(maps.Keys(count))
}

// Metrics returns the metrics in which single runs are shown: those that are compared, then requests/s, p99 and the
// received data, as far as runs have them.
func (r *Report) Metrics() []v1alpha1.BenchmarkMetric {
	all := r.Compared()
	for _, m := range []v1alpha1.BenchmarkMetric{
		v1alpha1.BenchmarkMetric(v1alpha1.MetricRequestsPerSecond), v1alpha1.BenchmarkMetric(v1alpha1.MetricLatencyP99), v1alpha1.MetricBytesPerSecond,
	} {
		if !slices.Contains(all, m) {
			all = append(all, m)
		}
	}
	return slices.DeleteFunc(all, func(m v1alpha1.BenchmarkMetric) bool {
		return !slices.ContainsFunc(r.Runs, func(run benchmark.Run) bool {
			_, ok := run.Metrics[m]
			return ok && run.Valid && !run.Trial
		})
	})
}
