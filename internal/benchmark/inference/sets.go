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
// a side doesn't have are omitted. None of the effects decides: each interval has the confidence by itself, and what
// changed between the two times is part of it. Runs that weren't made under the same conditions are compared all
// the same. Of more runs than statistics.MaxRuns the last are taken.
func CompareSets(pairs []Sets, metrics []v1alpha1.BenchmarkMetric, confidencePercent int32) []benchmark.Effect {
	var effects []benchmark.Effect
	for _, pair := range pairs {
		for _, metric := range metrics {
			c, err := statistics.Unpaired(MetricsIn(pair.Baseline, metric), MetricsIn(pair.Candidate, metric))
			if err != nil { // a side has no such metric
				continue
			}
			e := benchmark.Effect{Cell: pair.Cell, Metric: metric, DifferentTimes: true}
			set(&e, c, statistics.Alpha(float64(confidencePercent), 1), anyDifference)
			effects = append(effects, e)
		}
	}
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
