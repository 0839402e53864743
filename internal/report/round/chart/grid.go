package chart

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/report/plot"
	"github.com/assay-dev/assay/internal/report/round"
)

// HeatMap draws the medians of a grid's cells in shades, on a log scale unless one of them is 0.
func HeatMap(r *round.Report, g *round.Pivot) *plot.Figure {
	low, high := gridRange(r, g, false)
	hatched := false
	f := heatMap(r, g, GridTitle(g), func(cell int, rect *plot.Rect) (text string, value *float64) {
		e := r.Estimate(cell, g.Metric)
		if e == nil {
			hatched, rect.Hatched, rect.Tip = true, true, "no valid result"
			return "", nil
		}
		text, _ = round.EstimateTexts(e)
		value = round.InUnitOf(g.Metric, &e.Median)
		rect.Color, rect.Text, rect.Tip = plot.Heat(shade(*value, low, high)), text, round.EstimateText(e)
		rect.Ink = plot.On(rect.Color)
		return text, value
	})
	f.Names = []plot.Name{box(number.Significant(low), plot.Heat(0)), box(number.Significant(high), plot.Heat(1))}
	scale := "log scale"
	if low <= 0 { // no ratio to it
		scale = "linear scale"
	}
	if hatched {
		scale += "; hatched: no valid result"
	}
	f.Note = scale + f.Note
	return f
}

// EffectMap draws the effects of a grid's cells in shades from lower to higher; nil if the metric isn't compared.
func EffectMap(r *round.Report, g *round.Pivot) *plot.Figure {
	if !slices.ContainsFunc(r.Cells, func(c cells.Cell) bool { return r.Effect(c.Index, g.Metric) != nil }) {
		return nil
	}
	unlike := ""
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
			rect.Text, rect.Tip = "", "no valid result"
			if own := r.Estimate(cell, g.Metric); own != nil { // a change from 0, say
				rect.Text, _ = round.EstimateTexts(own)
				rect.Color, rect.Outlined, rect.Ink, rect.Tip = plot.AxisColor, true, plot.Muted, "median "+rect.Text+", "+r.EffectText(cell, g.Metric)
				unlike = "; gray: a median without a ratio to the baseline's"
			} else {
				rect.Hatched = true
			}
			return "", nil
		case (e.LowPercent == nil || *e.LowPercent <= 0) && (e.HighPercent == nil || *e.HighPercent >= 0):
			rect.Color, rect.Outlined, rect.Ink, rect.Tip = plot.Unsure, true, plot.Ink, rect.Tip+", the interval contains 0% or there is none"
		default:
			rect.Color = plot.EffectShade((float64(EffectStep(e)) + 0.5) / plot.EffectColors)
			rect.Ink = plot.On(rect.Color)
		}
		return Change(e), e.Percent
	})
	f.Names = []plot.Name{box("lower", plot.EffectShade(0)), box(fmt.Sprintf("within ±%d%%", effectStep), plot.EffectShade(0.5)), box("higher", plot.EffectShade(1))}
	f.Note = "outlined: the interval contains 0%, or there is none" + unlike + f.Note
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

// shade returns where a median is between the least and the largest, from 0 to 1: on a log scale, or on a linear one if the least
// isn't positive.
func shade(value, low, high float64) float64 {
	switch {
	case high <= low:
		return 0
	case low <= 0:
		return (value - low) / (high - low)
	}
	return math.Log(value/low) / math.Log(high/low)
}

// effectStep is the change in percent at which the first shade ends.
const effectStep = 5

// EffectStep returns the step of an effect from 0, lower, to 6, higher. 3 is within 5%; each further step begins at 1, 2 and 4
// times that.
func EffectStep(e *benchmark.Effect) int {
	steps := 0
	for limit := float64(effectStep); steps < 3 && math.Abs(*e.Percent) > limit; limit *= 2 {
		steps++
	}
	if *e.Percent < 0 {
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

// Lines draws the medians of a grid's rows over its columns with their intervals, on one log scale: in one plot, or one for each row if
// there are more than can be told apart. It returns nil if the columns aren't numbers, or a median is 0.
func Lines(r *round.Report, g *round.Pivot) *plot.Figure {
	low, high := gridRange(r, g, true)
	if !(low > 0) {
		return nil
	}
	f := &plot.Figure{Title: GridTitle(g) + " as lines", Description: fmt.Sprintf("medians from %s to %s.", number.Significant(low), number.Significant(high)), Columns: make([][]plot.Plot, panelColumns)}
	var names []string
	for i := range g.Grids {
		for _, name := range g.Grids[i].Rows {
			position(&names, name)
		}
	}
	overlaid, drawn := len(names) <= plot.Variants, 0
	if overlaid {
		for i, name := range names {
			f.Names = append(f.Names, plot.OfVariant(i, name, 0))
		}
	}
	for i := range g.Grids {
		grid := &g.Grids[i]
		x, xs := columnScale(grid.Columns)
		if xs == nil {
			return nil
		}
		p := plot.Plot{Title: grid.Title, Axis: r.AxisTitle(g.Metric), Height: panelHeight, X: x, XName: g.ColumnAxis, Y: plot.Logarithmic(low, high)}
		for j, name := range grid.Rows {
			if drawn == maxPanels {
				break
			}
			variant := 0
			if overlaid {
				variant = position(&names, name)
			} else {
				p.Title, p.Marks = strings.Trim(g.RowAxis+" "+name+", "+grid.Title, ", "), nil
			}
			line := plot.Line{Stroke: plot.Stroke{Color: plot.AxisColor}}
			if overlaid {
				line.Color = plot.VariantColor(variant)
			}
			for k, cell := range grid.Cells[j] {
				at := plot.Gap()
				if e := r.Estimate(cell, g.Metric); e != nil && e.Median > 0 {
					at = plot.Point{X: xs[k], Y: round.InUnit(g.Metric, e.Median)}
					if e.Low != nil && e.High != nil && *e.Low > 0 {
						p.Marks = append(p.Marks, plot.Interval{Stroke: plot.Stroke{Color: plot.VariantColor(variant), Width: 2}, From: plot.Point{X: at.X, Y: round.InUnit(g.Metric, *e.Low)}, To: plot.Point{X: at.X, Y: round.InUnit(g.Metric, *e.High)}})
					}
					p.Marks = append(p.Marks, plot.Variant(variant, at, false, r.Cells[cell].Name+": "+round.EstimateText(e)))
				}
				line.Points = append(line.Points, at)
			}
			p.Marks = append(p.Marks, line)
			if !overlaid || j == len(grid.Rows)-1 {
				f.Columns[drawn%panelColumns] = append(f.Columns[drawn%panelColumns], p)
				drawn++
			}
		}
	}
	f.Columns = f.Columns[:min(panelColumns, drawn)] // so that a few are wider
	return f
}

// columnScale returns the scale of a grid's columns and the place of each, which is nil if they aren't numbers.
func columnScale(names []string) (plot.Scale, []float64) {
	first, last := 0.0, math.Inf(-1)
	xs := make([]float64, len(names))
	for k, name := range names {
		x, err := strconv.ParseFloat(name, 64)
		if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
			return plot.Scale{}, nil
		}
		xs[k], first, last = x, min(first, x), max(last, x)
	}
	return plot.Range(first, last), xs
}
