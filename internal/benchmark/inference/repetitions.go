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

// CheckCell returns an error if the spec of a cell's runs lacks a request, or a level, of which the Benchmark names a metric. Axes may
// replace both, so that the API server can't know.
func CheckCell(spec *v1alpha1.BenchmarkSpec, cell *cells.Cell, run *v1alpha1.BenchmarkRunSpec) error {
	check := func(path, request string) error {
		if request == "" || slices.ContainsFunc(run.Load.Requests, func(r v1alpha1.Request) bool { return r.Name == request }) {
			return nil
		}
		return fmt.Errorf("spec.%s.request: cell %s has no request with the name %q: set it as the name of one of load.requests, in the template and in the axes that replace requests", path, cell.Name, request)
	}
	levels := 0
	if run.Load.Stages != nil {
		levels = len(run.Load.Stages.Levels)
	}
	for i := range spec.Claims {
		c := &spec.Claims[i]
		if !cell.In(c.Cell) && !cell.In(c.Than) {
			continue
		}
		if err := check(fmt.Sprintf("claims[%d]", i), c.Request); err != nil {
			return err
		}
		if level := int(ptr.Deref(c.Level, 0)); level > levels {
			return fmt.Errorf("spec.claims[%d].level: %d, but the load of cell %s has %s: set load.stages.levels, in the template and in the axes that replace them",
				i, level, cell.Name, benchmark.Plural(levels, "level"))
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

// CheckClaims returns an error if a claim doesn't select two cells, or if the blocks are too few to decide the claims and the
// gate, which counts each of its metrics once for each compared cell. The API server knows the number of metrics
// alone. How many runs a stored baseline has is only known in the round: with too few blocks the round ends as
// Inconclusive.
func CheckClaims(spec *v1alpha1.BenchmarkSpec, cells []cells.Cell) error {
	d := Design{Spec: spec, Cells: cells}
	claims, err := d.Claims()
	if err != nil || len(claims) == 0 {
		return err
	}
	least, most := blocks.Bounds(spec)
	need := statistics.MinBlocks(statistics.Alpha(d.confidence(), len(claims)))
	if most >= need {
		return nil
	}
	field := "min"
	if most > least {
		field = "max"
	}
	return fmt.Errorf("spec.repetitions.%s: %d, must be at least %d for %s, gate comparisons included, at %d%% confidence: with fewer blocks no interval exists",
		field, most, need, benchmark.Plural(len(claims), "claim"), int(d.confidence()))
}
