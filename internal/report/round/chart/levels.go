package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/report/plot"
	"github.com/assay-dev/assay/internal/report/round"
)

// Levels draws what cells measured at the levels of the load: a column of plots for each combination of the axes but one,
// whose values are overlaid, and a plot for each metric. It returns nil if the load has no levels.
func Levels(r *round.Report) *plot.Figure {
	if len(r.Levels) == 0 {
		return nil
	}
	unit, overlaid := round.UnitOfLoad(r.Round), overlaidAxis(r)
	var variants, columns []string
	at := make([][2]int, len(r.Cells)) // the variant and the column of each cell
	for i := range r.Cells {
		variant, column := "all", []string{}
		for _, axis := range r.Spec.Axes {
			if value := r.Cells[i].Values[axis.Name]; axis.Name == overlaid {
				variant = value
			} else {
				column = append(column, axis.Name+" "+value)
			}
		}
		at[i] = [2]int{position(&variants, variant), position(&columns, strings.Join(column, ", "))}
	}
	most := 0.0
	for i := range r.Levels {
		most = max(most, float64(r.Levels[i].Load))
	}
	metrics := r.LevelMetrics()
	f := &plot.Figure{
		Title: "Levels by " + unit, Columns: make([][]plot.Plot, len(columns)),
		Description: fmt.Sprintf("Medians of %d metrics at each level of %s, for %d values of the axis %s in %d columns.", len(metrics), unit, len(variants), overlaid, len(columns)),
	}
	for i, name := range variants[:min(len(variants), plot.Variants)] {
		f.Names = append(f.Names, plot.OfVariant(i, name, 0))
	}
	for n, m := range metrics {
		y := levelScale(r, m)
		for column, title := range columns {
			p := plot.Plot{Axis: r.LevelTitle(m), Height: 110, X: plot.LinearExact(most), XHidden: n < len(metrics)-1, Y: y}
			if n == 0 {
				p.Title = title
			}
			if !p.XHidden {
				p.XName = unit
			}
			for cell := range r.Cells {
				if variant := at[cell][0]; at[cell][1] == column && variant < plot.Variants { // the table has all
					p.Marks = append(p.Marks, levelMarks(r, cell, m, variant, variants[variant]+" at %s "+unit+": %s")...)
				}
			}
			f.Columns[column] = append(f.Columns[column], p)
		}
	}
	return f
}

// levelMarks returns the medians of a cell by load, with their intervals, and a line that joins them.
func levelMarks(r *round.Report, cell int, m v1alpha1.BenchmarkMetric, variant int, tip string) []plot.Mark {
	line := plot.Line{Stroke: plot.Stroke{Color: plot.VariantColor(variant)}}
	var marks []plot.Mark
	for _, l := range r.LevelsOf(cell) {
		median, has := l.Medians[m]
		if !has {
			continue
		}
		at := plot.Point{X: float64(l.Load), Y: round.InUnit(m, median)}
		line.Points = append(line.Points, at)
		if bounds, bounded := l.Intervals[m]; bounded {
			marks = append(marks, plot.Interval{
				Stroke: plot.Stroke{Color: plot.VariantColor(variant), Width: 2}, From: plot.Point{X: at.X, Y: round.InUnit(m, bounds[0])}, To: plot.Point{X: at.X, Y: round.InUnit(m, bounds[1])},
			})
		}
		marks = append(marks, plot.Variant(variant, at, false, fmt.Sprintf(tip, number.Significant(at.X), number.Significant(at.Y))))
	}
	if len(line.Points) > 1 {
		marks = append(marks, line)
	}
	return marks
}

// levelScale returns the scale of a metric over all cells: logarithmic for times.
func levelScale(r *round.Report, m v1alpha1.BenchmarkMetric) plot.Scale {
	low, high := math.Inf(1), 0.0
	for i := range r.Levels {
		l := &r.Levels[i]
		if median, has := l.Medians[m]; has {
			low, high = min(low, round.InUnit(m, median)), max(high, round.InUnit(m, median))
		}
		if bounds, bounded := l.Intervals[m]; bounded {
			low, high = min(low, round.InUnit(m, bounds[0])), max(high, round.InUnit(m, bounds[1]))
		}
	}
	if round.MetricUnit(m) == "ms" {
		return plot.Logarithmic(low, high)
	}
	return plot.Linear(0, high)
}

// overlaidAxis returns the axis of the baseline, if there is one, else the first; empty without axes.
func overlaidAxis(r *round.Report) string {
	if c := r.Spec.Comparison; c != nil && len(c.Baseline.Cell) == 1 {
		for axis := range c.Baseline.Cell {
			return axis
		}
	}
	if len(r.Spec.Axes) == 0 {
		return ""
	}
	return r.Spec.Axes[0].Name
}

// position returns the place of a name, which it adds if it is new.
func position(names *[]string, name string) int {
	at := slices.Index(*names, name)
	if at < 0 {
		at = len(*names)
		*names = append(*names, name)
	}
	return at
}
