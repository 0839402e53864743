package chart

import (
	"fmt"
	"strings"

	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/report/plot"
	"github.com/assay-dev/assay/internal/report/round"
)

// Pairs draws each metric of two single runs as two marks on an axis of its own from 0.
func Pairs(c *round.Comparison) *plot.Figure {
	var p plot.Plot
	var texts []string
	names := [2]string{c.Baseline.Name, c.Candidate.Name}
	for i := range c.Effects {
		e := &c.Effects[i]
		values := [2]float64{round.InUnit(e.Metric, e.BaselineMedian), round.InUnit(e.Metric, e.CandidateMedian)}
		text := number.Significant(values[0]) + " and " + number.Significant(values[1])
		texts = append(texts, round.MetricTitle(e.Metric)+" "+text)
		at := func(x float64) plot.Point { return plot.Point{X: x, Y: plot.Middle} }
		x := plot.LinearExact(max(values[0], values[1]))
		row := plot.Row{Name: round.MetricTitle(e.Metric), X: &x, Texts: []plot.Text{{Text: text}}, Marks: []plot.Mark{
			plot.Interval{Stroke: plot.Stroke{Color: plot.Grid}, From: at(0), To: at(x.High)},
			plot.Interval{Stroke: plot.Stroke{Color: plot.AxisColor}, From: at(values[0]), To: at(values[1])},
		}}
		for i, v := range values {
			row.Marks = append(row.Marks, plot.Variant(i, at(v), false, fmt.Sprintf("%s: %s", names[i], number.Significant(v))))
		}
		p.Rows = append(p.Rows, row)
	}
	f := plot.Of("Metrics of "+names[0]+" and "+names[1], strings.Join(texts, "; ")+". One run each.", p)
	f.Names = []plot.Name{plot.OfVariant(0, names[0], 0), plot.OfVariant(1, names[1], 0)}
	return f
}
