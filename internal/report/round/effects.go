package round

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/benchmark/inference"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/number"
)

// MetricEffects are the effects of a round or of a comparison in one metric.
type MetricEffects struct {
	Metric v1alpha1.BenchmarkMetric
	// Gate reports whether the metric decides.
	Gate bool
	Rows []EffectRow
}

// EffectRow is an effect with the names of its cell and of what that is compared with.
type EffectRow struct {
	*benchmark.Effect
	// Cell and Baseline are the full names, Label and BaselineLabel those in sentences and pictures.
	Cell, Baseline, Label, BaselineLabel string
	// Sides has the medians of both sides of a comparison; nil for a round.
	Sides *ComparedEffect
}

func (e *EffectRow) gate() bool { return e.Role == v1alpha1.RoleGate }

// OneBaseline returns the name of what all cells are compared with; empty if they are compared with different ones.
func (m *MetricEffects) OneBaseline() string {
	first := m.Rows[0].BaselineLabel
	if slices.ContainsFunc(m.Rows, func(e EffectRow) bool { return e.BaselineLabel != first }) {
		return ""
	}
	return first
}

// Worst returns the rows of the worst effects, at most n, in their order.
func (m *MetricEffects) Worst(n int) []EffectRow {
	if len(m.Rows) <= n {
		return m.Rows
	}
	all := make([]benchmark.Effect, len(m.Rows))
	for i := range m.Rows {
		all[i] = *m.Rows[i].Effect
	}
	worst := map[int]bool{}
	for _, e := range benchmark.Ranked(all)[:n] {
		worst[e.Cell] = true
	}
	return slices.DeleteFunc(slices.Clone(m.Rows), func(e EffectRow) bool { return !worst[e.Effect.Cell] })
}

// EffectsByMetric returns the effects of a round.
func (r *Report) EffectsByMetric() []MetricEffects { return byMetric(r.effectRows(r.Effects)) }

// EffectsByMetric returns the effects of a comparison.
func (c *Comparison) EffectsByMetric() []MetricEffects { return byMetric(c.effectRows()) }

func byMetric(rows []EffectRow) []MetricEffects {
	var groups []MetricEffects
	for i := range rows {
		e := &rows[i]
		at := slices.IndexFunc(groups, func(m MetricEffects) bool { return m.Metric == e.Metric })
		if at < 0 {
			at = len(groups)
			groups = append(groups, MetricEffects{Metric: e.Metric, Gate: e.gate()})
		}
		groups[at].Rows = append(groups[at].Rows, *e)
	}
	return groups
}

func (r *Report) effectRows(effects []benchmark.Effect) []EffectRow {
	rows := make([]EffectRow, len(effects))
	for i := range effects {
		e := &effects[i]
		baseline := r.ComparedWith(e)
		rows[i] = EffectRow{Effect: e, Cell: r.Cells[e.Cell].Name, Baseline: baseline, Label: r.Label(e.Cell), BaselineLabel: baseline}
		if at := r.Cells[e.Cell].Baseline; at != cells.NoBaseline {
			rows[i].Baseline = r.Cells[at].Name
		}
	}
	return rows
}

func (c *Comparison) effectRows() []EffectRow {
	rows := make([]EffectRow, len(c.Effects))
	for i := range rows {
		e := &c.Effects[i]
		rows[i] = EffectRow{Effect: &e.Effect, Cell: c.Cells[e.Cell], Label: cmp.Or(c.Cells[e.Cell], c.Candidate.Name), Baseline: c.Baseline.Name, BaselineLabel: c.Baseline.Name, Sides: e}
	}
	return rows
}

// The columns of tables of effects.
var (
	cellField       = doc.Word("cell", func(e *EffectRow) string { return e.Cell })
	baselineField   = doc.Word("compared with", func(e *EffectRow) string { return e.Baseline })
	differenceField = doc.Number("difference", func(e *EffectRow) string { return Change(e.Effect) })
	intervalField   = doc.Number("interval", func(e *EffectRow) string { return Interval(e.Effect) })
	conclusionField = doc.Word("conclusion", func(e *EffectRow) string { return inference.Phrase(e.Word) })
	verdictField    = doc.Word("verdict", func(e *EffectRow) string { return cmp.Or(string(e.Verdict), "-") })
	toleranceField  = doc.Number("tolerance", func(e *EffectRow) string { return strconv.Itoa(int(e.TolerancePercent)) + "%" })
	detectableField = doc.Number("detectable", func(e *EffectRow) string { return Detectable(e.Effect) })
	blocksField     = doc.Number("blocks to decide", func(e *EffectRow) string { return number.OrDash(e.BlocksToDecide > 0, strconv.Itoa(e.BlocksToDecide)) })

	baselineMedianField  = doc.Number("baseline", func(e *EffectRow) string { return Value(e.Metric, e.Sides.BaselineMedian) })
	candidateMedianField = doc.Number("candidate", func(e *EffectRow) string { return Value(e.Metric, e.Sides.CandidateMedian) })
	runsField            = doc.Number("runs", func(e *EffectRow) string { return fmt.Sprintf("%d, %d", e.Sides.BaselineRuns, e.Sides.CandidateRuns) })
)

// droppable are the columns that a narrow terminal can do without: others have what decides.
var droppable = []string{"baseline", "candidate", "median", "detectable", "blocks to decide", "tolerance"}

func effectsTable(caption string, rows []EffectRow, fields ...doc.Field[EffectRow]) *doc.Table {
	t := doc.TableOf(caption, rows, fields...)
	t.Droppable = droppable
	return t
}

var metricField = doc.Word("metric", func(e *EffectRow) string { return string(e.Metric) })
