package chart

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/report/round"
)

// maxRows is the largest number of rows of a panel; the table has all.
const maxRows = 40

// Forest holds the effects in one metric.
type Forest struct {
	Metric v1alpha1.BenchmarkMetric
	// Gate reports whether the metric decides.
	Gate   bool
	Better v1alpha1.Direction
	// TolerancePercent is the difference that doesn't matter.
	TolerancePercent int32
	// Caption says what the intervals hold.
	Caption string
	Rows    []ForestRow
	// Omitted is the number of effects that have no row.
	Omitted int
	// Each reports whether rows have different baselines, which then have no rows of their own.
	Each bool
}

// ForestRow is a row of a forest plot.
type ForestRow struct {
	Label string
	// Effect is nil for a row that names a baseline.
	Effect *benchmark.Effect
	// Baseline is the name of what the cell is compared with.
	Baseline string
}

// NewForests returns a forest plot for each metric of a round's comparison, those of the gate first.
func NewForests(r *round.Report) []Forest {
	var forests []Forest
	for i := range r.Effects {
		e := &r.Effects[i]
		at := slices.IndexFunc(forests, func(f Forest) bool { return f.Metric == e.Metric })
		if at < 0 {
			at = len(forests)
			forests = append(forests, Forest{
				Metric: e.Metric, Gate: e.Role == v1alpha1.RoleGate, Better: e.Better, TolerancePercent: e.TolerancePercent, Caption: confidenceOf(r, e),
			})
		}
		forests[at].Rows = append(forests[at].Rows, ForestRow{Label: r.Label(e.Cell), Effect: e, Baseline: r.ComparedWith(e)})
	}
	slices.SortStableFunc(forests, func(a, b Forest) int { return compareBool(b.Gate, a.Gate) })
	for i := range forests {
		forests[i].arrange()
	}
	return forests
}

// NewComparisonForests returns a forest plot for each metric of a comparison of two sides.
func NewComparisonForests(c *round.Comparison) []Forest {
	var forests []Forest
	for i := range c.Effects {
		e := &c.Effects[i].Effect
		at := slices.IndexFunc(forests, func(f Forest) bool { return f.Metric == e.Metric })
		if at < 0 {
			at = len(forests)
			forests = append(forests, Forest{
				Metric: e.Metric, Better: e.Better, TolerancePercent: e.TolerancePercent,
				Caption: fmt.Sprintf("Of the differences that are found at most %d%% are false on average.", 100-c.ConfidencePercent),
			})
		}
		forests[at].Rows = append(forests[at].Rows, ForestRow{Label: cmp.Or(c.Cells[e.Cell], c.Candidate.Name), Effect: e, Baseline: c.Baseline.Name})
	}
	for i := range forests {
		forests[i].arrange()
	}
	return forests
}

// confidenceOf says what the intervals of a metric hold.
func confidenceOf(r *round.Report, e *benchmark.Effect) string {
	confidence := int32(95)
	if c := r.Spec.Comparison; c != nil {
		confidence = ptr.Deref(c.ConfidencePercent, confidence)
	}
	if e.Role == v1alpha1.RoleGate {
		return fmt.Sprintf("All intervals of the gate together hold the true differences with a confidence of %d%%.", confidence)
	}
	return fmt.Sprintf("Of the differences that are found at most %d%% are false on average. None of them decides.", 100-confidence)
}

// arrange puts a row that names the baseline above the others, if they have the same. Of too many rows the worst are
// kept.
func (f *Forest) arrange() {
	if len(f.Rows) > maxRows {
		byEffect := map[*benchmark.Effect]bool{}
		all := make([]benchmark.Effect, len(f.Rows))
		for i := range f.Rows {
			all[i] = *f.Rows[i].Effect
		}
		for _, e := range benchmark.Ranked(all)[:maxRows] {
			at := slices.IndexFunc(f.Rows, func(row ForestRow) bool { return row.Effect.Cell == e.Cell })
			byEffect[f.Rows[at].Effect] = true
		}
		f.Omitted = len(f.Rows) - maxRows
		f.Rows = slices.DeleteFunc(f.Rows, func(row ForestRow) bool { return !byEffect[row.Effect] })
	}
	f.Each = slices.ContainsFunc(f.Rows, func(row ForestRow) bool { return row.Baseline != f.Rows[0].Baseline })
	if f.Each {
		return
	}
	f.Rows = slices.Insert(f.Rows, 0, ForestRow{Label: f.Rows[0].Baseline, Baseline: f.Rows[0].Baseline})
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
