package roundpage

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/report/plot"
	"github.com/assay-dev/assay/internal/report/round"
	"github.com/assay-dev/assay/internal/report/round/chart"
)

const (
	// fewCells is the largest number of cells whose runs are shown before the grid, and open.
	fewCells = 12
	// maxRemarks is the largest number of remarks of the answer.
	maxRemarks = 8
)

const howEffectsAreDrawn = "Each dot is the estimate, each line its interval. The bracket below a line is as wide as the difference that a round like this one finds in 4 of 5 cases. A hollow dot is that of a claim that is undecided."

// addEffects adds a plot of the effects in each metric.
func addEffects(s *doc.Section, metrics []round.MetricEffects) {
	for i := range metrics {
		m, caption := &metrics[i], ""
		if m.OneBaseline() == "" {
			caption = "Each row is compared with its own baseline, which the table names."
		}
		if omitted := len(m.Rows) - chart.MaxRows; omitted > 0 {
			caption += fmt.Sprintf(" %d more effects are only in the table.", omitted)
		}
		s.Add(doc.Group{Title: m.Name(), Blocks: plots(chart.Effects(m), nil, strings.TrimSpace(caption))})
	}
}

// plots returns the blocks of a figure, which may be nil, with its table and caption.
func plots(f *plot.Figure, table *doc.Table, caption string) []doc.Block {
	p := doc.Plot{Table: table, Caption: caption}
	if f != nil {
		p.Drawing = f
	}
	return []doc.Block{p}
}

// runsSection has every run as a dot, one plot for each metric.
func runsSection(r *round.Report) doc.Section {
	metrics := r.Metrics()
	if len(metrics) == 0 {
		return doc.Section{}
	}
	text := fmt.Sprintf("Every valid run is a mark; those of a block are joined. At the right is each cell's median over %s", number.Plural(r.Blocks, "whole block"))
	switch {
	case len(r.Estimates) == 0:
		text = "Every valid run is a mark; those of a block are joined. No cell has a median."
	case slices.ContainsFunc(r.Estimates, func(e benchmark.Estimate) bool { return e.Low != nil && e.High != nil }):
		text += fmt.Sprintf(", with an interval that holds the true median with a confidence of %d%%.", r.Confidence())
	default:
		text += fmt.Sprintf(". They are too few for an interval with a confidence of %d%%.", r.Confidence())
	}
	s := doc.Section{ID: "runs", Title: "Runs", Question: "Is that the data, or one odd run?", Blocks: []doc.Block{doc.Paragraph{text}}}
	var valid []*benchmark.Run
	for cell := range r.Cells {
		valid = append(valid, slices.DeleteFunc(r.RunsOf(cell), func(run *benchmark.Run) bool { return !run.Valid })...)
	}
	for i, m := range metrics {
		s.Add(doc.Group{Title: round.MetricTitle(m), Folded: i > 0 || len(r.Cells) > fewCells, Blocks: plots(chart.Runs(r, m), runsTable(r, m, valid), "")})
	}
	return s
}

func runsTable(r *round.Report, metric v1alpha1.BenchmarkMetric, runs []*benchmark.Run) *doc.Table {
	type run = *benchmark.Run
	runs = slices.DeleteFunc(slices.Clone(runs), func(run *benchmark.Run) bool { _, has := run.Metrics[metric]; return !has })
	return doc.TableOf(round.MetricTitle(metric)+" of each run", runs,
		doc.Word("cell", func(run *run) string { return r.Label((*run).Cell) }),
		doc.Number("block", func(run *run) string { return strconv.Itoa((*run).Number + 1) }),
		doc.Word("run", func(run *run) string { return (*run).Name }),
		doc.Number(round.MetricTitle(metric), func(run *run) string { return number.Significant(round.InUnit(metric, (*run).Metrics[metric])) }),
		doc.Word("counts", func(run *run) string {
			if (*run).Number < r.Blocks {
				return "yes"
			}
			return "no: not in a whole block"
		}))
}

func invalidTable(r *round.Report) *doc.Table {
	type run = benchmark.Run
	runs := slices.DeleteFunc(slices.Clone(r.Runs), func(run run) bool { return run.Valid || run.Ended.IsZero() })
	slices.SortStableFunc(runs, func(a, b run) int { return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Name, b.Name)) })
	return doc.TableOf("Invalid runs", runs,
		doc.Word("run", func(run *run) string { return run.Name }),
		doc.Word("cell", func(run *run) string { return r.Label(run.Cell) }),
		doc.Number("block", func(run *run) string { return strconv.Itoa(run.Number + 1) }),
		doc.Word("reason", func(run *run) string { return cmp.Or(run.Message, "unknown") }),
		doc.Word("replaced by", func(run *run) string { return cmp.Or(r.Replacement(run), "-") }))
}

// gridSection has a heat map and lines of the medians for each metric, and a heat map of the effects.
func gridSection(r *round.Report) doc.Section {
	s := doc.Section{ID: "grid", Title: "Grid", Question: "How do two axes act together?"}
	for _, m := range r.Metrics() {
		g := r.Grids(m)
		if g == nil {
			continue
		}
		title := chart.GridTitle(g)
		switch runs := sameRuns(r, m); {
		case runs == 1:
			title += ", one run per cell"
		case runs > 1:
			title += ", medians of " + number.Plural(runs, "run")
		}
		s.Add(doc.Group{Title: title, Folded: len(s.Blocks) > 0, Blocks: plots(chart.HeatMap(r, g), gridTable(r, g, false), "")})
		if lines := chart.Lines(r, g); lines != nil {
			s.Add(doc.Group{Title: chart.GridTitle(g) + ", as lines", Folded: len(s.Blocks) > 1, Blocks: plots(lines, nil, "")})
		}
		if effects := chart.EffectMap(r, g); effects != nil {
			s.Add(doc.Group{Title: chart.EffectTitle(g), Folded: true, Blocks: plots(effects, gridTable(r, g, true), "")})
		}
	}
	return s
}

// sameRuns returns the number of runs of all medians of a metric, or 0 if they have different ones.
func sameRuns(r *round.Report, metric v1alpha1.BenchmarkMetric) (runs int) {
	for i := range r.Estimates {
		if e := &r.Estimates[i]; e.Metric == metric {
			if runs != 0 && runs != e.Runs {
				return 0
			}
			runs = e.Runs
		}
	}
	return runs
}

// gridTable has the medians, or the effects, of a grid's cells in its order.
func gridTable(r *round.Report, g *round.Pivot, effects bool) *doc.Table {
	title, texts := chart.GridTitle(g), func(cell int) (text, interval string) {
		if e := r.Estimate(cell, g.Metric); e != nil {
			text, interval = round.EstimateTexts(e)
		}
		return cmp.Or(text, "-"), cmp.Or(interval, "-")
	}
	if effects {
		title, texts = chart.EffectTitle(g), func(cell int) (text, interval string) {
			if e := r.Effect(cell, g.Metric); e != nil {
				return r.EffectText(cell, g.Metric), round.Interval(e)
			}
			return "-", "-"
		}
	}
	var cells []int
	for _, grid := range g.Grids {
		for _, row := range grid.Cells {
			cells = append(cells, slices.DeleteFunc(slices.Clone(row), func(cell int) bool { return cell < 0 })...)
		}
	}
	fields := []doc.Field[int]{
		doc.Word("cell", func(cell *int) string { return r.Cells[*cell].Name }),
		doc.Number("value", func(cell *int) string { text, _ := texts(*cell); return text }),
		doc.Number("interval", func(cell *int) string { _, interval := texts(*cell); return interval }),
		doc.Word("warnings", func(cell *int) string { return cmp.Or(strings.Join(r.Warnings(*cell), ", "), "-") }),
	}
	return doc.TableOf(title, cells, fields...)
}

// addCapacities adds the search of each cell.
func addCapacities(s *doc.Section, r *round.Report) {
	if r.Spec.Capacity == nil {
		return // the spec that the status knows is another
	}
	for i := range r.Capacities {
		c := &r.Capacities[i]
		s.Add(doc.Group{Title: r.Sustains(c), Blocks: plots(chart.Capacity(r, c), trialsTable(r, c.Cell), "")})
	}
}

func trialsTable(r *round.Report, cell int) *doc.Table {
	type trial = round.Trial
	unit, _ := r.CapacityLoad()
	bound := func(n int64) string {
		if n == 0 {
			return "-"
		}
		return number.Count(n)
	}
	optional := func(x *float64) string {
		if x == nil {
			return "-"
		}
		return number.Significant(*x)
	}
	trials := r.Trials(cell)
	numbers := map[string]int{}
	for i := range trials {
		numbers[trials[i].Name] = i + 1
	}
	return doc.TableOf("Trials of "+r.Label(cell), trials,
		doc.Number("trial", func(t *trial) string { return strconv.Itoa(numbers[t.Name]) }),
		doc.Word("run", func(t *trial) string { return t.Name }),
		doc.Number("load, "+unit, func(t *trial) string { return number.Count(t.Load) }),
		doc.Word("outcome", func(t *trial) string {
			if !t.Valid {
				return "invalid"
			}
			return cmp.Or(string(t.Outcome), "invalid")
		}),
		doc.Word("reason", func(t *trial) string { return cmp.Or(t.Message, "-") }),
		doc.Number("achieved, %", func(t *trial) string { return optional(t.AchievedPercent) }),
		doc.Number(round.MetricTitle("LatencyP99"), func(t *trial) string { return optional(t.LatencyP99) }),
		doc.Number("sustained so far", func(t *trial) string { return bound(t.Lower) }),
		doc.Number("not sustained so far", func(t *trial) string { return bound(t.Upper) }))
}

// addTrend adds the plots of the trend, with the rounds in which the conditions changed.
func addTrend(s *doc.Section, r *round.Report) {
	var changes doc.List
	for i, names := range r.TrendConditions() {
		if names != "" {
			changes = append(changes, fmt.Sprintf("Round %d has another %s.", r.Trend.Rounds[i].Number, names))
		}
	}
	s.Add(changes)
	s.Add(plots(chart.Trend(r), r.TrendTable(0), "Medians of earlier rounds are stored without their intervals. Hollow: the round was inconclusive. Ticks at the axis name what changed in the conditions.")...)
}
