// Package inference estimates from the runs of a round: medians of its cells, their differences from the baseline, and
// whether runs can be compared at all.
package inference

import (
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/statistics"
)

// Design says which runs are compared with which.
type Design struct {
	Spec *v1alpha1.BenchmarkSpec
	// Cells are those of the spec.
	Cells []cells.Cell
	// Stored has the runs of a stored baseline by the names of the cells that are compared with them: those
	// of the same cells of another round, or for each cell all selected runs.
	Stored map[string][]benchmark.Run
}

// confidence returns the confidence of intervals in percent, and alpha the error rate of a single one.
func (d *Design) confidence() float64 {
	if c := d.Spec.Comparison; c != nil {
		return float64(ptr.Deref(c.ConfidencePercent, 95))
	}
	return 95
}

func (d *Design) alpha() float64 { return statistics.Alpha(d.confidence(), 1) }

// compared reports whether a cell is compared with another cell or with stored runs.
func (d *Design) compared(cell int) bool {
	if d.Spec.Comparison == nil {
		return false
	}
	if d.rerun() {
		return d.Cells[cell].Baseline != cells.NoBaseline
	}
	return len(d.Stored[d.Cells[cell].Name]) > 0
}

// rerun reports whether the baseline is a cell of the round.
func (d *Design) rerun() bool { return d.Spec.Comparison.Baseline.Cell != nil }

// comparisons returns the number of comparisons of a gate: that of its metrics times that of the cells that
// are compared.
func (d *Design) comparisons() int {
	cells, metrics := 0, 0
	for cell := range d.Cells {
		if d.compared(cell) {
			cells++
		}
	}
	for _, m := range d.Spec.Comparison.Metrics {
		if benchmark.RoleOf(&m) == v1alpha1.RoleGate {
			metrics++
		}
	}
	return cells * metrics
}
