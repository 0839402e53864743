package inference

import (
	"fmt"
	"slices"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/blocks"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/statistics"
)

// CheckRequests returns an error if the spec of a cell's runs doesn't have a request of which the Benchmark names a metric. Axes may
// replace requests, so that the API server can't know.
func CheckRequests(spec *v1alpha1.BenchmarkSpec, cell string, run *v1alpha1.BenchmarkRunSpec) error {
	check := func(path, request string) error {
		if request == "" || slices.ContainsFunc(run.Load.Requests, func(r v1alpha1.Request) bool { return r.Name == request }) {
			return nil
		}
		return fmt.Errorf("spec.%s.request: cell %s has no request with the name %q: set it as the name of one of load.requests, in the template and in the axes that replace requests", path, cell, request)
	}
	if r := spec.Repetitions; r != nil && r.Until != nil {
		if err := check("repetitions.until", r.Until.Request); err != nil {
			return err
		}
	}
	if spec.Comparison == nil {
		return nil
	}
	for i := range spec.Comparison.Metrics {
		if err := check(fmt.Sprintf("comparison.metrics[%d]", i), spec.Comparison.Metrics[i].Request); err != nil {
			return err
		}
	}
	return nil
}

// CheckRepetitions returns an error if repetitions.min is too small for any interval of the gate, which
// counts each of its metrics once for each compared cell. The API server knows the number of metrics alone.
// How many runs a stored baseline has is only known in the round: with too few blocks the round ends as
// Inconclusive.
func CheckRepetitions(spec *v1alpha1.BenchmarkSpec, cells []cells.Cell) error {
	d := Design{Spec: spec, Cells: cells}
	if spec.Comparison == nil || !d.rerun() || d.comparisons() == 0 {
		return nil
	}
	least, _ := blocks.Bounds(spec)
	m := d.comparisons()
	if need := statistics.MinBlocks(statistics.Alpha(d.confidence(), m)); least < need {
		return fmt.Errorf("spec.repetitions.min: %d, must be at least %d for %s at %d%% confidence: with fewer blocks no interval exists",
			least, need, benchmark.Plural(m, "comparison")+" of gate metrics with the baseline", ptr.Deref(spec.Comparison.ConfidencePercent, 95))
	}
	return nil
}
