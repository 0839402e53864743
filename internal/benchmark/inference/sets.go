package inference

import (
	"math"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/statistics"
)

// Sets are two sets of runs that were measured at different times. Cell is the number that their effects have.
type Sets struct {
	Cell                int
	Baseline, Candidate []benchmark.Run
}

// CompareSets returns the differences of the candidates from their baselines, by pair and then by metric. Metrics that
// a side doesn't have are omitted. None of the effects decides: their intervals share a false discovery rate, and what
// changed between the two times is part of them. Runs that weren't made under the same conditions are compared all
// the same. Of more runs than statistics.MaxRuns the last are taken.
func CompareSets(pairs []Sets, metrics []v1alpha1.ComparedMetric, confidencePercent int32) []benchmark.Effect {
	var effects []benchmark.Effect
	var comparisons []statistics.Comparison
	var all []int
	for _, pair := range pairs {
		for i := range metrics {
			m := &metrics[i]
			baseline, candidate := MetricsIn(pair.Baseline, benchmark.KeyOf(m)), MetricsIn(pair.Candidate, benchmark.KeyOf(m))
			c, err := statistics.Unpaired(baseline, candidate)
			if err != nil { // a side has no such metric
				continue
			}
			rule := ruleOf(m)
			all = append(all, len(effects))
			comparisons = append(comparisons, c)
			effects = append(effects, benchmark.Effect{
				Cell: pair.Cell, Metric: benchmark.KeyOf(m), Role: v1alpha1.RoleReport, Better: v1alpha1.Direction(rule.Better),
				TolerancePercent: int32(rule.TolerancePercent), DifferentTimes: true,
			})
		}
	}
	d := Design{Spec: &v1alpha1.BenchmarkSpec{Comparison: &v1alpha1.Comparison{ConfidencePercent: &confidencePercent}}}
	d.decideReported(effects, comparisons, all)
	return effects
}

// MetricsIn returns the values of a metric of the runs that have it, as CompareSets takes them.
func MetricsIn(runs []benchmark.Run, metric v1alpha1.BenchmarkMetric) []float64 {
	var values []float64
	newest := benchmark.Newest(runs)
	for i := range newest {
		if v := newest[i].Metric(metric); !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	return values
}
