// Package inference estimates from the runs of a round: medians of its cells, their differences from the baseline, and
// whether runs can be compared at all.
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

// Design says which runs are compared with which.
type Design struct {
	Spec *v1alpha1.BenchmarkSpec
	// Cells are those of the spec.
	Cells []cells.Cell
	// Stored has the runs of a stored baseline by the names of the cells that are compared with them: those
	// of the same cells of another round, or for each cell all selected runs.
	Stored map[string][]benchmark.Run
}

// confidence returns the confidence of the Benchmark in percent, and alpha the error rate of an interval that has it by itself.
func (d *Design) confidence() float64 { return float64(ptr.Deref(d.Spec.ConfidencePercent, 95)) }

func (d *Design) alpha() float64 { return statistics.Alpha(d.confidence(), 1) }

// nominal returns the error rate of the interval of each of m claims after a number of blocks.
func (d *Design) nominal(m, after int) float64 {
	least, most := blocks.Bounds(d.Spec)
	return statistics.Nominal(statistics.Alpha(d.confidence(), m), least, most, after)
}

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

// Claims returns the claims of the spec and of the gate, without their answers. Errors begin with the path of the field that is
// wrong.
func (d *Design) Claims() ([]benchmark.Claim, error) {
	claims, err := d.stated()
	if err != nil || d.Spec.Comparison == nil {
		return claims, err
	}
	for cell := range d.Cells {
		if !d.compared(cell) {
			continue
		}
		for _, m := range benchmark.GateMetrics(d.Spec) {
			claims = append(claims, d.notWorse(cell, m))
		}
	}
	return claims, nil
}

// stated returns the claims of the spec.
func (d *Design) stated() ([]benchmark.Claim, error) {
	var claims []benchmark.Claim
	for i := range d.Spec.Claims {
		c := &d.Spec.Claims[i]
		claim := benchmark.Claim{Name: c.Name, Level: int(ptr.Deref(c.Level, 0)), Is: c.Is, BoundPercent: ptr.Deref(c.ByAtLeastPercent, 0)}
		if c.Is == v1alpha1.ClaimSame {
			claim.BoundPercent = ptr.Deref(c.WithinPercent, 5)
		}
		claim.Metric = benchmark.MetricKey(c.Metric, c.Request)
		var err error
		if claim.Cell, err = cells.Select(d.Cells, c.Cell); err != nil {
			return nil, fmt.Errorf("spec.claims[%d].cell: %w", i, err)
		}
		if claim.Than, err = cells.Select(d.Cells, c.Than); err != nil {
			return nil, fmt.Errorf("spec.claims[%d].than: %w", i, err)
		}
		if claim.Cell == claim.Than {
			return nil, fmt.Errorf("spec.claims[%d].than: it selects %s, as cell does: select another", i, d.Cells[claim.Cell].Name)
		}
		claims = append(claims, claim)
	}
	return claims, nil
}

// notWorse returns the claim of a gate metric.
func (d *Design) notWorse(cell int, m *v1alpha1.ComparedMetric) benchmark.Claim {
	c := benchmark.Claim{Than: cells.NoBaseline, Is: v1alpha1.ClaimLower, BoundPercent: -ptr.Deref(m.TolerancePercent, 5), Gate: true}
	c.Cell, c.Metric, c.DifferentTimes = cell, benchmark.KeyOf(m), !d.rerun()
	c.Name = fmt.Sprintf("not-worse/%s/%s", c.Metric, d.Cells[cell].Name)
	if d.rerun() {
		c.Than = d.Cells[cell].Baseline
	}
	if m.Better == v1alpha1.HigherIsBetter || m.Better == "" && benchmark.HigherIsBetter(m.Name) {
		c.Is = v1alpha1.ClaimHigher
	}
	return c
}
