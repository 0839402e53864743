package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/report/plot"
	"github.com/assay-dev/assay/internal/report/round"
)

// names returns the names of all sides, the baseline's first.
func names(c *round.Comparison) []string {
	all := []string{c.Baseline.Name}
	for _, one := range c.All() {
		all = append(all, one.Candidate.Name)
	}
	return all
}

// Pairs draws each metric of two single runs, or of several, as a mark for each on an axis of its own from 0.
func Pairs(c *round.Comparison) *plot.Figure {
	var p plot.Plot
	var texts []string
	names := names(c)
	f := &plot.Figure{Title: "Metrics of " + strings.Join(names, " and ")}
	for i := range names {
		f.Names = append(f.Names, plot.OfVariant(i, names[i], 0))
	}
	for i := range c.Effects {
		e := &c.Effects[i]
		values, numbers := []float64{round.InUnit(e.Metric, e.BaselineMedian)}, make([]string, 1)
		for _, one := range c.All() {
			value, text := math.NaN(), "-"
			if at := slices.IndexFunc(one.Effects, func(other round.ComparedEffect) bool { return other.Metric == e.Metric }); at >= 0 {
				value = round.InUnit(e.Metric, one.Effects[at].CandidateMedian)
				text = number.Significant(value)
			}
			values, numbers = append(values, value), append(numbers, text)
		}
		numbers[0] = number.Significant(values[0])
		text := strings.Join(numbers, " and ")
		if len(numbers) > 2 {
			text = strings.Join(numbers, " · ")
		}
		texts = append(texts, round.MetricTitle(e.Metric)+" "+text)
		at := func(x float64) plot.Point { return plot.Point{X: x, Y: plot.Middle} }
		known := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
		x := plot.LinearExact(slices.Max(known))
		row := plot.Row{Name: round.MetricTitle(e.Metric), X: &x, Texts: []plot.Text{{Text: text}}, Marks: []plot.Mark{
			plot.Interval{Stroke: plot.Stroke{Color: plot.Grid}, From: at(0), To: at(x.High)},
			plot.Interval{Stroke: plot.Stroke{Color: plot.AxisColor}, From: at(slices.Min(known)), To: at(slices.Max(known))},
		}}
		for i, v := range values {
			if !math.IsNaN(v) {
				row.Marks = append(row.Marks, plot.Variant(i, at(v), false, fmt.Sprintf("%s: %s", names[i], number.Significant(v))))
			}
		}
		p.Rows = append(p.Rows, row)
	}
	f.Description, f.Columns = strings.Join(texts, "; ")+". One run each.", [][]plot.Plot{{p}}
	return f
}
