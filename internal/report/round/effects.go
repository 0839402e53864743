package round

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/statistics"
)

// MetricEffects are the effects of a round or of a comparison in one metric: those of claims, or others.
type MetricEffects struct {
	Metric v1alpha1.BenchmarkMetric
	// Level is the number of the load's level that the metric is of, from 1; 0 for the whole measurement.
	Level int
	Rows  []EffectRow
}

// Name returns the name of the metric in sentences: "p99" or "p99 at level 3".
func (m *MetricEffects) Name() string { return leveled(m.Metric, m.Level) }

func leveled(metric v1alpha1.BenchmarkMetric, level int) string {
	if level > 0 {
		return fmt.Sprintf("%s at level %d", MetricName(metric), level)
	}
	return MetricName(metric)
}

// EffectRow is an effect with the names of its cell and of what that is compared with.
type EffectRow struct {
	*benchmark.Effect
	// Claim is the claim whose effect it is; nil for others.
	Claim *benchmark.Claim
	// Cell and Baseline are the full names, Label and BaselineLabel those in sentences and pictures.
	Cell, Baseline, Label, BaselineLabel string
	// Sides has the medians of both sides of a comparison; nil for a round.
	Sides *ComparedEffect
	// Missing says why there is no ratio; empty if there is one.
	Missing string
}

// Bounds returns the ends of the differences with which the claim is true, in percent; nil without a claim. An end that is
// open is infinite.
func (e *EffectRow) Bounds() []float64 {
	if e.Claim == nil {
		return nil
	}
	region := e.Claim.Region()
	low := math.Inf(-1)
	if region.Low > 0 {
		low = whole(statistics.Percent(region.Low))
	}
	return []float64{low, whole(statistics.Percent(region.High))}
}

// Percents returns the changes that a plot of the effect shows, as far as they are known and finite: the estimate, the interval, the
// bounds of the claim, and others.
func (e *EffectRow) Percents(others ...*float64) (percents []float64) {
	ends := slices.Concat(others, []*float64{e.Percent, e.LowPercent, e.HighPercent})
	for _, bound := range e.Bounds() {
		ends = append(ends, statistics.Finite(bound))
	}
	for _, end := range ends {
		if end != nil {
			percents = append(percents, *end)
		}
	}
	return percents
}

// whole returns a bound in percent as the spec has it: a whole number.
func whole(percent float64) float64 { return math.Round(percent) }

// Change and Interval return the estimate and the interval as text, with as many decimals as keep them apart from the bounds of
// the claim. Without a ratio, Change says why.
func (e *EffectRow) Change() string { return cmp.Or(e.Missing, Change(e.Effect, e.Bounds()...)) }

// Interval is described at Change.
func (e *EffectRow) Interval() string { return Interval(e.Effect, e.Bounds()...) }

// Word returns the verdict on the claim; empty without one.
func (e *EffectRow) Word() string {
	if e.Claim == nil {
		return ""
	}
	return string(e.Claim.Verdict)
}

// Tone returns the tone of the verdict on the claim.
func (e *EffectRow) Tone() doc.Tone {
	if e.Claim == nil {
		return doc.Same
	}
	return cmp.Or(claimTones[e.Claim.Verdict], doc.Unsure)
}

// OneBaseline returns the name of what all cells are compared with; empty if they are compared with different ones.
func (m *MetricEffects) OneBaseline() string {
	first := m.Rows[0].BaselineLabel
	if slices.ContainsFunc(m.Rows, func(e EffectRow) bool { return e.BaselineLabel != first }) {
		return ""
	}
	return first
}

// ClaimsByMetric returns the effects of a round's claims, EffectsByMetric its others.
func (r *Report) ClaimsByMetric() []MetricEffects { return byMetric(r.claimRows()) }

// EffectsByMetric is described at ClaimsByMetric.
func (r *Report) EffectsByMetric() []MetricEffects {
	rows, _ := r.effectRows()
	return byMetric(rows)
}

// EffectsByMetric returns the effects of a comparison.
func (c *Comparison) EffectsByMetric() []MetricEffects { return byMetric(c.effectRows()) }

func byMetric(rows []EffectRow) []MetricEffects {
	var groups []MetricEffects
	for i := range rows {
		e, level := &rows[i], 0
		if e.Claim != nil {
			level = e.Claim.Level
		}
		at := slices.IndexFunc(groups, func(m MetricEffects) bool { return m.Metric == e.Metric && m.Level == level })
		if at < 0 {
			at = len(groups)
			groups = append(groups, MetricEffects{Metric: e.Metric, Level: level})
		}
		groups[at].Rows = append(groups[at].Rows, *e)
	}
	return groups
}

// claimRows returns the claims, those that are contradicted first.
func (r *Report) claimRows() []EffectRow {
	claims := benchmark.Ranked(r.Claims)
	rows := make([]EffectRow, len(claims))
	for i := range claims {
		rows[i] = r.effectRow(&claims[i].Effect, claims[i].Than)
		rows[i].Claim = &claims[i]
	}
	return rows
}

// effectRows returns the effects about which nobody claimed anything, without those that have too few blocks for an interval, and
// the number of these.
func (r *Report) effectRows() (rows []EffectRow, few int) {
	for i := range r.Effects {
		e := &r.Effects[i]
		if e.Percent != nil && e.LowPercent == nil && e.HighPercent == nil {
			few++
			continue
		}
		rows = append(rows, r.effectRow(e, r.Cells[e.Cell].Baseline))
	}
	return rows, few
}

func (r *Report) effectRow(e *benchmark.Effect, than int) EffectRow {
	row := EffectRow{Effect: e, Cell: r.Cells[e.Cell].Name, Label: r.Label(e.Cell), Baseline: r.ComparedWith(than), BaselineLabel: r.ComparedWith(than)}
	var sides [2]*float64
	if than != cells.NoBaseline {
		row.Baseline = r.Cells[than].Name
		for i, cell := range []int{than, e.Cell} {
			if own := r.Estimate(cell, e.Metric); own != nil {
				sides[i] = &own.Median
			}
		}
	}
	row.Missing = missing(e, sides[0], sides[1])
	if than != cells.NoBaseline && row.Missing != "" {
		if highest := max(r.NoneUpTo(e.Cell, e.Metric), r.NoneUpTo(than, e.Metric)); highest > 0 {
			row.Missing = noneUpTo(highest) + " on a side"
		}
	}
	return row
}

// missing says why an effect has no ratio, by the medians of both sides, which are nil if they are unknown.
func missing(e *benchmark.Effect, baseline, own *float64) string {
	metric, _ := benchmark.SplitMetric(e.Metric)
	errors := metric == v1alpha1.BenchmarkMetric(v1alpha1.MetricErrorRate) || metric == v1alpha1.MetricPageErrorRate
	switch {
	case e.Percent != nil:
		return ""
	case e.Message != "":
		return "not compared"
	case baseline == nil || own == nil || *baseline != 0:
		return "a side has no value"
	case errors && *own > 0:
		return "errors where the baseline had none"
	case errors:
		return "no errors on either side"
	case *own > 0:
		return "above 0 where the baseline is 0"
	}
	return "0 on both sides"
}

func (c *Comparison) effectRows() (rows []EffectRow) {
	for _, one := range c.All() {
		for i := range one.Effects {
			e := &one.Effects[i]
			row := EffectRow{Effect: &e.Effect, Cell: one.Cells[e.Cell], Label: cmp.Or(one.Cells[e.Cell], one.Candidate.Name), Baseline: c.Baseline.Name, BaselineLabel: c.Baseline.Name, Sides: e, Missing: missing(&e.Effect, &e.BaselineMedian, &e.CandidateMedian)}
			if len(c.Others) > 0 && row.Cell != "" {
				row.Label = one.Candidate.Name + " " + row.Cell
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// The columns of tables of effects.
var (
	cellField       = doc.Word("cell", func(e *EffectRow) string { return e.Cell })
	baselineField   = doc.Word("compared with", func(e *EffectRow) string { return e.Baseline })
	differenceField = doc.Number("difference", (*EffectRow).Change)
	intervalField   = doc.Number("interval", (*EffectRow).Interval)
	detectableField = doc.Number("detectable", func(e *EffectRow) string { return Detectable(e.Effect) })
	claimField      = doc.Word("claim", func(e *EffectRow) string { return e.Claim.Name })
	statementField  = doc.Word("statement", func(e *EffectRow) string { return statement(e, e.Cell, e.Baseline) })
	verdictField    = doc.Word("verdict", (*EffectRow).Word)
	blocksField     = doc.Number("blocks to decide", func(e *EffectRow) string {
		return number.OrDash(e.Claim.BlocksToDecide > 0, strconv.Itoa(e.Claim.BlocksToDecide))
	})

	baselineMedianField  = doc.Number("baseline", func(e *EffectRow) string { return Value(e.Metric, e.Sides.BaselineMedian) })
	candidateMedianField = doc.Number("candidate", func(e *EffectRow) string { return Value(e.Metric, e.Sides.CandidateMedian) })
	runsField            = doc.Number("runs", func(e *EffectRow) string { return fmt.Sprintf("%d, %d", e.Sides.BaselineRuns, e.Sides.CandidateRuns) })
)

// droppable are the columns that a narrow terminal can do without: others have what decides.
var droppable = []string{"baseline", "candidate", "median", "detectable", "blocks to decide", "statement"}

func effectsTable(caption string, rows []EffectRow, fields ...doc.Field[EffectRow]) *doc.Table {
	t := doc.TableOf(caption, rows, fields...)
	t.Droppable = droppable
	return t
}

var metricField = doc.Word("metric", func(e *EffectRow) string { return string(e.Metric) })
