package benchmark

import (
	"fmt"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/statistics"
)

// CheckRepetitions returns an error if repetitions.min is too small for any interval of the gate, which
// counts each of its metrics once for each compared cell. The API server knows the number of metrics alone.
// How many runs a stored baseline has is only known in the round: with too few blocks the round ends as
// Inconclusive.
func CheckRepetitions(spec *v1alpha1.BenchmarkSpec, cells []Cell) error {
	p := Planner{Spec: spec, Cells: cells}
	if spec.Comparison == nil || !p.rerun() || p.comparisons() == 0 {
		return nil
	}
	least, _ := p.bounds()
	m := p.comparisons()
	if need := statistics.MinBlocks(statistics.Alpha(p.confidence(), m)); least < need {
		return fmt.Errorf("spec.repetitions.min: %d, must be at least %d for %s at %d%% confidence: with fewer blocks no interval exists",
			least, need, plural(m, "comparison")+" of gate metrics with the baseline", ptr.Deref(spec.Comparison.ConfidencePercent, 95))
	}
	return nil
}
