package inference

import (
	"fmt"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/blocks"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/statistics"
)

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
