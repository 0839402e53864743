package chart

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/report/round"
)

// Grid holds a figure of the cells of a round by two axes, and by the values of the others in several panels.
type Grid struct {
	Metric v1alpha1.BenchmarkMetric
	// Axis is the name of the metric with its unit.
	Axis string
	// Effect reports whether the figures are effects in percent, with a tolerance. Otherwise they are medians in the
	// unit of round.MetricUnit.
	Effect           bool
	TolerancePercent float64
	Better           v1alpha1.Direction
	RowAxis          string
	ColumnAxis       string
	Panels           []GridPanel
	// Low and High are the smallest and largest figures of all panels.
	Low, High float64
	// Runs is the number of runs of a median; 0 if it isn't the same everywhere.
	Runs int
}

// GridPanel is a table of cells that differ on the two axes alone.
type GridPanel struct {
	// Title has the values of the other axes; empty if there are none.
	Title         string
	Rows, Columns []string
	// X has the columns' values if all of them are numbers; else it is nil.
	X     []float64
	Cells [][]GridCell
}

// GridCell is a cell of a grid.
type GridCell struct {
	// Exists is false for a combination that is excluded.
	Exists bool
	Name   string
	// Figure is nil if the cell has none, because its runs aren't valid.
	Figure, Low, High *float64
	// Text has the figure with the digits that its interval supports, Interval the interval.
	Text, Interval string
	// Warnings are the reasons of the findings of most of the cell's runs, such as NetworkLimited.
	Warnings []string
	// Word is that of an effect; empty for medians and baselines.
	Word v1alpha1.EffectWord
}

// NewGrids returns the medians of a metric by two axes and, if it is compared, the effects. A Benchmark with fewer
// axes has none. With more than two, the last two are those of the tables.
func NewGrids(r *round.Report, metric v1alpha1.BenchmarkMetric) []Grid {
	axes := r.Spec.Axes
	if len(axes) < 2 {
		return nil
	}
	rows, columns := axes[len(axes)-2].Name, axes[len(axes)-1].Name
	pivot, err := round.NewPivot(r.Round, round.PivotOptions{Axes: []string{rows, columns}, Metric: metric})
	if err != nil {
		return nil // no cell has the figure
	}
	medians := newGrid(r, pivot, metric)
	medians.fill(r, func(cell int, c *GridCell) { c.setMedian(r, cell, metric) })
	grids := []Grid{medians}
	at := slices.IndexFunc(r.Effects, func(e benchmark.Effect) bool { return e.Metric == metric })
	if at >= 0 {
		effects := newGrid(r, pivot, metric)
		effects.Effect, effects.TolerancePercent, effects.Better = true, float64(r.Effects[at].TolerancePercent), r.Effects[at].Better
		effects.fill(r, func(cell int, c *GridCell) { c.setEffect(r, cell, metric) })
		grids = append(grids, effects)
	}
	return grids
}

func newGrid(r *round.Report, pivot *round.Pivot, metric v1alpha1.BenchmarkMetric) Grid {
	g := Grid{Metric: metric, Axis: r.AxisTitle(metric), RowAxis: pivot.RowAxis, ColumnAxis: pivot.ColumnAxis, Runs: runsOf(r, metric)}
	for i := range pivot.Grids {
		p := &pivot.Grids[i]
		g.Panels = append(g.Panels, GridPanel{Title: p.Title, Rows: p.Rows, Columns: p.Columns, X: numeric(p.Columns)})
	}
	return g
}

// runsOf returns the number of runs of all medians of a metric, or 0 if they have different ones.
func runsOf(r *round.Report, metric v1alpha1.BenchmarkMetric) int {
	runs := 0
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

// numeric returns names as numbers, or nil if one isn't.
func numeric(names []string) []float64 {
	var numbers []float64
	for _, name := range names {
		x, err := strconv.ParseFloat(name, 64)
		if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
			return nil
		}
		numbers = append(numbers, x)
	}
	return numbers
}

// fill sets the cells of all panels, and the range of their figures.
func (g *Grid) fill(r *round.Report, set func(cell int, c *GridCell)) {
	first := true
	for i := range g.Panels {
		p := &g.Panels[i]
		p.Cells = make([][]GridCell, len(p.Rows))
		for j := range p.Rows {
			p.Cells[j] = make([]GridCell, len(p.Columns))
		}
	}
	for cell := range r.Cells {
		c := g.at(r, &r.Cells[cell])
		if c == nil {
			continue // not reached: the pivot has all cells
		}
		c.Exists, c.Name, c.Warnings = true, r.Cells[cell].Name, warnings(r, cell)
		set(cell, c)
		if c.Figure == nil {
			continue
		}
		if first || *c.Figure < g.Low {
			g.Low = *c.Figure
		}
		if first || *c.Figure > g.High {
			g.High = *c.Figure
		}
		first = false
	}
}

// warnings returns the reasons that more than half of a cell's runs that count have.
func warnings(r *round.Report, cell int) []string {
	runs, count := 0, map[string]int{}
	for i := range r.Runs {
		if run := &r.Runs[i]; run.Cell == cell && run.Valid && !run.Trial && run.Number < r.Blocks {
			runs++
			for _, reason := range run.Warnings {
				count[reason]++
			}
		}
	}
	maps.DeleteFunc(count, func(_ string, n int) bool { return 2*n <= runs })
	return slices.Sorted(maps.Keys(count))
}

// at returns the place of a cell.
func (g *Grid) at(r *round.Report, cell *benchmark.Cell) *GridCell {
	others := maps.Clone(cell.Values)
	delete(others, g.RowAxis)
	delete(others, g.ColumnAxis)
	title := ""
	for _, axis := range r.Spec.Axes {
		if value, ok := others[axis.Name]; ok {
			if title != "" {
				title += ","
			}
			title += axis.Name + "=" + value
		}
	}
	for i := range g.Panels {
		p := &g.Panels[i]
		row, column := slices.Index(p.Rows, cell.Values[g.RowAxis]), slices.Index(p.Columns, cell.Values[g.ColumnAxis])
		if p.Title == title && row >= 0 && column >= 0 {
			return &p.Cells[row][column]
		}
	}
	return nil
}

func (c *GridCell) setMedian(r *round.Report, cell int, metric v1alpha1.BenchmarkMetric) {
	for i := range r.Estimates {
		if e := &r.Estimates[i]; e.Cell == cell && e.Metric == metric {
			c.Figure, c.Low, c.High = inUnit(metric, &e.Median), inUnit(metric, e.Low), inUnit(metric, e.High)
			c.Text, c.Interval = round.EstimateTexts(e)
			return
		}
	}
}

func (c *GridCell) setEffect(r *round.Report, cell int, metric v1alpha1.BenchmarkMetric) {
	for i := range r.Effects {
		if e := &r.Effects[i]; e.Cell == cell && e.Metric == metric {
			c.Figure, c.Low, c.High, c.Word = e.Percent, e.LowPercent, e.HighPercent, e.Word
			c.Text, c.Interval = Change(e), Interval(e)
			return
		}
	}
}

// Step returns the step of a shade, from 0 to steps-1, of a median on a log scale.
func (g *Grid) Step(figure float64, steps int) int {
	if g.Low <= 0 || g.High <= g.Low {
		if g.High <= g.Low {
			return 0
		}
		return clampStep(int(float64(steps)*(figure-g.Low)/(g.High-g.Low)), steps)
	}
	return clampStep(int(float64(steps)*math.Log(figure/g.Low)/math.Log(g.High/g.Low)), steps)
}

// EffectStep returns the step of an effect from 0, better, to 6, worse. 3 is within the tolerance; each further step
// begins at 1, 2 and 4 times the tolerance, which is taken as 1% at least.
func (g *Grid) EffectStep(percent float64) int {
	tolerance := max(1, g.TolerancePercent)
	steps := 0
	for limit := tolerance; steps < 3 && math.Abs(percent) > limit; limit *= 2 {
		steps++
	}
	if (percent > 0) == (g.Better == v1alpha1.HigherIsBetter) {
		steps = -steps
	}
	return 3 + steps
}

func clampStep(step, steps int) int { return min(max(step, 0), steps-1) }

// Summary says between which figures those of a grid are.
func (g *Grid) Summary() string {
	what := fmt.Sprintf("%s by %s and %s", round.MetricTitle(g.Metric), g.RowAxis, g.ColumnAxis)
	if g.Effect {
		what = fmt.Sprintf("Change of %s by %s and %s, %%", round.MetricName(g.Metric), g.RowAxis, g.ColumnAxis)
	}
	return what
}
