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

// fewCells is the largest number of cells whose runs are shown before the grid, and open.
const fewCells = 12

// effectsSection has a plot for each metric that is compared.
func effectsSection(metrics []round.MetricEffects, title func(*round.MetricEffects) string) doc.Section {
	if len(metrics) == 0 {
		return doc.Section{}
	}
	s := doc.Section{ID: "effects", Title: "Effects", Question: "What differs, by how much, and how sure is that?", Blocks: []doc.Block{doc.Paragraph{
		"Each dot is the estimate, each line its interval. The bracket below a line is as wide as the difference to the worse that a round like this one finds in 4 of 5 cases. A hollow dot is one that can't tell yet.",
	}}}
	for i := range metrics {
		m, caption := &metrics[i], metrics[i].Caption
		if m.OneBaseline() == "" {
			caption += " Each row is compared with its own baseline, which the table names."
		}
		if omitted := len(m.Rows) - chart.MaxRows; omitted > 0 {
			caption += fmt.Sprintf(" %d more effects are only in the table.", omitted)
		}
		s.Add(doc.Group{Title: title(m), Blocks: plots(chart.Effects(m), m.Table(), caption)})
	}
	return s
}

// deciding is the title of the effects of a round in a metric.
func deciding(m *round.MetricEffects) string {
	if m.Gate {
		return round.MetricName(m.Metric) + ": decides"
	}
	return round.MetricName(m.Metric) + ": reported only"
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
	text := fmt.Sprintf("Every valid run is a mark; those of a block are joined. At the right is each cell's median over %s", round.Plural(r.Blocks, "whole block"))
	switch {
	case len(r.Estimates) == 0:
		text = "Every valid run is a mark; those of a block are joined. No cell has a median."
	case slices.ContainsFunc(r.Estimates, func(e benchmark.Estimate) bool { return e.Low != nil && e.High != nil }):
		text += fmt.Sprintf(", with an interval that holds the true median with a confidence of %d%%.", r.Confidence())
	default:
		text += fmt.Sprintf(". They are too few for an interval with a confidence of %d%%.", r.Confidence())
	}
	s := doc.Section{ID: "runs", Title: "Runs", Question: "Is that the data, or one odd run?", Blocks: []doc.Block{doc.Paragraph{text}}}
	var valid, invalid []*benchmark.Run
	for cell := range r.Cells {
		for _, run := range r.RunsOf(cell) {
			if run.Valid {
				valid = append(valid, run)
			} else {
				invalid = append(invalid, run)
			}
		}
	}
	for i, m := range metrics {
		s.Add(doc.Group{Title: round.MetricTitle(m), Folded: i > 0 || len(r.Cells) > fewCells, Blocks: plots(chart.Runs(r, m), runsTable(r, m, valid), "")})
	}
	if len(invalid) > 0 {
		s.Add(doc.Group{Title: "Invalid runs: their figures are nowhere on this page", Blocks: []doc.Block{invalidTable(r, invalid)}})
	}
	return s
}

func runsTable(r *round.Report, metric v1alpha1.BenchmarkMetric, runs []*benchmark.Run) *doc.Table {
	type run = *benchmark.Run
	runs = slices.DeleteFunc(slices.Clone(runs), func(run *benchmark.Run) bool { _, has := run.Figures[metric]; return !has })
	return doc.TableOf(round.MetricTitle(metric)+" of each run", runs,
		doc.Word("cell", func(run *run) string { return r.Label((*run).Cell) }),
		doc.Number("block", func(run *run) string { return strconv.Itoa((*run).Number + 1) }),
		doc.Word("run", func(run *run) string { return (*run).Name }),
		doc.Number(round.MetricTitle(metric), func(run *run) string { return number.Significant(round.InUnit(metric, (*run).Figures[metric])) }),
		doc.Word("counts", func(run *run) string {
			if (*run).Number < r.Blocks {
				return "yes"
			}
			return "no: not in a whole block"
		}))
}

func invalidTable(r *round.Report, runs []*benchmark.Run) *doc.Table {
	type run = *benchmark.Run
	slices.SortStableFunc(runs, func(a, b run) int { return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Name, b.Name)) })
	return doc.TableOf("Invalid runs", runs,
		doc.Word("run", func(run *run) string { return (*run).Name }),
		doc.Word("cell", func(run *run) string { return r.Label((*run).Cell) }),
		doc.Number("block", func(run *run) string { return strconv.Itoa((*run).Number + 1) }),
		doc.Word("reason", func(run *run) string { return cmp.Or((*run).Message, "unknown") }),
		doc.Word("replaced by", func(run *run) string { return cmp.Or(r.Replacement(*run), "-") }))
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
		if runs := sameRuns(r, m); runs > 0 {
			title += ", medians of " + round.Plural(runs, "run")
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
				return round.Change(e), round.Interval(e)
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
		doc.Number("figure", func(cell *int) string { text, _ := texts(*cell); return text }),
		doc.Number("interval", func(cell *int) string { _, interval := texts(*cell); return interval }),
		doc.Word("warnings", func(cell *int) string { return cmp.Or(strings.Join(r.Warnings(*cell), ", "), "-") }),
	}
	if effects {
		fields = append(fields, doc.Word("conclusion", func(cell *int) string {
			if e := r.Effect(*cell, g.Metric); e != nil {
				return benchmark.Phrase(e.Word)
			}
			return "baseline"
		}))
	}
	return doc.TableOf(title, cells, fields...)
}

// levelsSection has the levels of a load with stages.
func levelsSection(r *round.Report) doc.Section {
	if len(r.Levels) == 0 {
		return doc.Section{}
	}
	s := doc.Section{ID: "levels", Title: "Levels", Question: "How does it take more load; where does it break?", Blocks: []doc.Block{
		doc.Paragraph{fmt.Sprintf("Marks are medians over the runs, with intervals of %d%% where there are enough runs. Between the levels nothing was measured: lines only join the marks.", r.Confidence())},
	}}
	s.Add(plots(chart.Levels(r), r.LevelsTable(), "")...)
	for _, part := range []doc.Section{r.BreakingPoints(), r.Peaks()} {
		if len(part.Blocks) > 0 {
			s.Add(doc.Group{Title: part.Title, Blocks: part.Blocks})
		}
	}
	return s
}

// capacitySection has the search of each cell.
func capacitySection(r *round.Report) doc.Section {
	s := doc.Section{ID: "capacity", Title: "Capacity", Question: "What does it sustain?"}
	if r.Spec.Capacity == nil {
		return s // the spec that the status knows is another
	}
	for i := range r.Capacities {
		c := &r.Capacities[i]
		s.Add(doc.Group{Title: r.Sustains(c), Blocks: plots(chart.Capacity(r, c), trialsTable(r, c.Cell), "")})
	}
	if len(s.Blocks) > 0 {
		s.Add(doc.Group{Title: "At the sustained load: medians of the trials that passed there", Blocks: []doc.Block{r.CapacitiesTable("At the sustained load")}})
	}
	return s
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

// trendSection has the medians of the last rounds.
func trendSection(r *round.Report) doc.Section {
	trend := chart.Trend(r)
	if trend == nil {
		return doc.Section{}
	}
	changes := r.TrendChanges()
	for i, names := range r.TrendConditions() {
		if names != "" {
			changes = append(changes, fmt.Sprintf("Round %d has another %s.", r.Trend.Rounds[i].Number, names))
		}
	}
	s := doc.Section{ID: "trend", Title: "Trend", Question: "Did the level change over the rounds?", Blocks: []doc.Block{
		doc.Paragraph{"Medians of earlier rounds, which are stored without their intervals; hollow: the round was inconclusive. Ticks at the axis name what changed in the conditions. The trend never decides."}, changes,
	}}
	s.Add(plots(trend, r.TrendTable(0), "")...)
	return s
}
