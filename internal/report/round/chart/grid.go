package chart

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/report/plot"
	"github.com/assay-dev/assay/internal/report/round"
)

// HeatMap draws the medians of a grid's cells in shades, on a log scale.
func HeatMap(r *round.Report, g *round.Pivot) *plot.Figure {
	low, high := gridRange(r, g, false)
	f := heatMap(r, g, GridTitle(g), func(cell int, rect *plot.Rect) (text string, value *float64) {
		e := r.Estimate(cell, g.Metric)
		if e == nil {
			rect.Color, rect.Hatched, rect.Tip = plot.Bad, true, "no valid result"
			rect.Color = ""
			return "", nil
		}
		text, interval := round.EstimateTexts(e)
		value = round.InUnitOf(g.Metric, &e.Median)
		rect.Color, rect.Text, rect.Tip = plot.Heat(shade(*value, low, high)), text, text
		if interval != "" {
			rect.Tip += " (" + interval + ")"
		}
		rect.Ink = plot.On(rect.Color)
		return text, value
	})
	f.Names = []plot.Name{box(number.Significant(low), plot.Heat(0)), box(number.Significant(high), plot.Heat(1))}
	f.Note = "log scale; hatched: no valid result" + f.Note
	return f
}

// EffectMap draws the effects of a grid's cells in shades from better to worse; nil if the metric isn't compared.
func EffectMap(r *round.Report, g *round.Pivot) *plot.Figure {
	var first *benchmark.Effect
	for cell := range r.Cells {
		if e := r.Effect(cell, g.Metric); e != nil && first == nil {
			first = e
		}
	}
	if first == nil {
		return nil
	}
	f := heatMap(r, g, EffectTitle(g), func(cell int, rect *plot.Rect) (text string, value *float64) {
		e := r.Effect(cell, g.Metric)
		if e == nil {
			rect.Color, rect.Outlined, rect.Text, rect.Ink, rect.Tip = plot.AxisColor, true, "baseline", plot.Muted, "the baseline"
			return "", nil
		}
		rect.Text = Change(e)
		rect.Tip = fmt.Sprintf("%s (%s)", Change(e), Interval(e))
		switch {
		case e.Percent == nil:
			rect.Hatched, rect.Text, rect.Tip = true, "", "no valid result"
			return "", nil
		case e.Word == v1alpha1.EffectCannotTell:
			rect.Color, rect.Outlined, rect.Ink, rect.Tip = plot.Unsure, true, plot.Ink, rect.Tip+", can't tell yet"
		default:
			rect.Color = plot.EffectShade((float64(EffectStep(e)) + 0.5) / plot.EffectColors)
			rect.Ink = plot.On(rect.Color)
		}
		return Change(e), e.Percent
	})
	f.Names = []plot.Name{box("better", plot.EffectShade(0)), box(fmt.Sprintf("within ±%d%%", first.TolerancePercent), plot.EffectShade(0.5)), box("worse", plot.EffectShade(1))}
	f.Note = "outlined: can't tell yet" + f.Note
	return f
}

// GridTitle and EffectTitle say what a grid of medians, and one of effects, has.
func GridTitle(g *round.Pivot) string {
	return fmt.Sprintf("%s by %s and %s", round.MetricTitle(g.Metric), g.RowAxis, g.ColumnAxis)
}

// EffectTitle is described at GridTitle.
func EffectTitle(g *round.Pivot) string {
	return fmt.Sprintf("Change of %s by %s and %s, %%", round.MetricName(g.Metric), g.RowAxis, g.ColumnAxis)
}

func box(text string, color plot.Color) plot.Name {
	return plot.Name{Text: text, Stroke: plot.Stroke{Color: color}, Box: true}
}

// heatMap draws a rectangle for each cell of a grid. draw sets how it looks, and returns its value with its text.
func heatMap(r *round.Report, g *round.Pivot, title string, draw func(cell int, rect *plot.Rect) (text string, value *float64)) *plot.Figure {
	var plots []plot.Plot
	var low, high float64
	var least, most, note string
	unknown := 0
	for i := range g.Grids {
		grid := &g.Grids[i]
		p := plot.Plot{Title: grid.Title, Axis: g.RowAxis + " ↓, " + g.ColumnAxis + " →", X: plot.Categories(grid.Columns), XName: g.ColumnAxis}
		for j, name := range grid.Rows {
			row := plot.Row{Name: name}
			for k, cell := range grid.Cells[j] {
				if cell < 0 {
					continue // excluded
				}
				rect := plot.Rect{From: plot.Point{X: float64(k) - 0.5, Y: 1}, To: plot.Point{X: float64(k) + 0.5, Y: plot.RowHeight - 1}, Apart: true}
				text, value := draw(cell, &rect)
				rect.Tip = r.Cells[cell].Name + ": " + rect.Tip
				if warnings := r.Warnings(cell); len(warnings) > 0 {
					rect.Corner, rect.Tip, note = true, rect.Tip+", "+strings.Join(warnings, ", "), "; corner: warned"
				}
				row.Marks = append(row.Marks, rect)
				switch {
				case value == nil:
					unknown++
				case least == "" || *value < low:
					low, least = *value, fmt.Sprintf("%s (%s)", text, r.Cells[cell].Name)
				}
				if value != nil && (most == "" || *value > high) {
					high, most = *value, fmt.Sprintf("%s (%s)", text, r.Cells[cell].Name)
				}
			}
			p.Rows = append(p.Rows, row)
		}
		plots = append(plots, p)
	}
	description := fmt.Sprintf("from %s to %s.", least, most)
	if least == "" {
		description = "no cell has a value."
	} else if unknown > 0 {
		description = fmt.Sprintf("from %s to %s, %d without a value.", least, most, unknown)
	}
	f := plot.Of(title, description, plots...)
	f.Note = note
	return f
}

// shade returns where a median is between the least and the largest, from 0 to 1 on a log scale.
func shade(value, low, high float64) float64 {
	switch {
	case high <= low:
		return 0
	case low <= 0:
		return (value - low) / (high - low)
	}
	return math.Log(value/low) / math.Log(high/low)
}

// EffectStep returns the step of an effect from 0, better, to 6, worse. 3 is within the tolerance; each further step begins
// at 1, 2 and 4 times the tolerance, which is taken as 1% at least.
func EffectStep(e *benchmark.Effect) int {
	steps := 0
	for limit := float64(max(1, e.TolerancePercent)); steps < 3 && math.Abs(*e.Percent) > limit; limit *= 2 {
		steps++
	}
	if (*e.Percent > 0) == (e.Better == v1alpha1.HigherIsBetter) {
		steps = -steps
	}
	return 3 + steps
}

// gridRange returns the least and the largest median of a grid's cells, with the ends of their intervals if intervals is set.
func gridRange(r *round.Report, g *round.Pivot, intervals bool) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for cell := range r.Cells {
		e := r.Estimate(cell, g.Metric)
		if e == nil {
			continue
		}
		x := round.InUnit(g.Metric, e.Median)
		low, high = min(low, x), max(high, x)
		if intervals && e.Low != nil && *e.Low > 0 && e.High != nil {
			low, high = min(low, round.InUnit(g.Metric, *e.Low)), max(high, round.InUnit(g.Metric, *e.High))
		}
	}
	return low, high
}

// Lines draws a plot for each row of a grid with the medians over the columns and their intervals, all on one log scale. It
// returns nil if the columns aren't numbers.
func Lines(r *round.Report, g *round.Pivot) *plot.Figure {
	low, high := gridRange(r, g, true)
	if !(low > 0) {
		return nil
	}
	f := &plot.Figure{Title: GridTitle(g) + " as lines", Description: fmt.Sprintf("medians from %s to %s.", number.Significant(low), number.Significant(high)), Columns: make([][]plot.Plot, panelColumns)}
	drawn := 0
	for i := range g.Grids {
		grid := &g.Grids[i]
		first, last := math.Inf(1), math.Inf(-1)
		xs := make([]float64, len(grid.Columns))
		for k, name := range grid.Columns {
			x, err := strconv.ParseFloat(name, 64)
			if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
				return nil
			}
			xs[k], first, last = x, min(first, x), max(last, x)
		}
		for j, name := range grid.Rows {
			if drawn == maxPanels {
				return f
			}
			p := plot.Plot{Title: strings.Trim(g.RowAxis+" "+name+", "+grid.Title, ", "), Axis: r.AxisTitle(g.Metric), Height: panelHeight, X: plot.Range(min(0, first), last), XName: g.ColumnAxis, Y: plot.Logarithmic(low, high)}
			line := plot.Line{Stroke: plot.Stroke{Color: plot.AxisColor}}
			for k, cell := range grid.Cells[j] {
				at := plot.Gap()
				if e := r.Estimate(cell, g.Metric); e != nil && e.Median > 0 {
					at = plot.Point{X: xs[k], Y: round.InUnit(g.Metric, e.Median)}
					if e.Low != nil && e.High != nil && *e.Low > 0 {
						p.Marks = append(p.Marks, plot.Interval{Stroke: plot.Stroke{Color: plot.VariantColor(0), Width: 2}, From: plot.Point{X: at.X, Y: round.InUnit(g.Metric, *e.Low)}, To: plot.Point{X: at.X, Y: round.InUnit(g.Metric, *e.High)}})
					}
					median, interval := round.EstimateTexts(e)
					p.Marks = append(p.Marks, plot.Variant(0, at, false, r.Cells[cell].Name+": "+median+" ("+interval+")"))
				}
				line.Points = append(line.Points, at)
			}
			p.Marks = append(p.Marks, line)
			f.Columns[drawn%panelColumns] = append(f.Columns[drawn%panelColumns], p)
			drawn++
		}
	}
	return f
}
