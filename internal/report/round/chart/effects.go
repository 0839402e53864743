// Package chart draws what a round of a Benchmark, and what compare, says: each chart is a function of their data that returns a
// figure.
package chart

import (
	"fmt"
	"math"
	"strings"

	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/report/plot"
	"github.com/assay-dev/assay/internal/report/round"
)

// changeApart is the least distance of labels of an axis of changes, as a share of it.
const changeApart = 0.12

// MaxRows is the largest number of effects that are drawn, the first; the table has all.
const MaxRows = 40

// Effects draws the effects in a metric: a row for each cell with the differences with which its claim is true, its estimate,
// its interval and, below it, the effect that such a round can find.
func Effects(m *round.MetricEffects) *plot.Figure {
	rows := m.Rows[:min(len(m.Rows), MaxRows)]
	var percents []float64
	var texts []string
	for i := range rows {
		e := &rows[i]
		percents = append(percents, e.Percents(e.DetectablePercent)...)
		text := fmt.Sprintf("%s %s (%s)", e.Label, number.Minus(e.Change()), number.Minus(e.Interval()))
		if word := e.Word(); word != "" {
			text += ", " + strings.ToLower(word)
		}
		texts = append(texts, text)
	}
	const listed = 8
	if more := len(texts) - listed; more > 0 {
		texts = append(texts[:listed], fmt.Sprintf("%d more", more))
	}
	p := plot.Plot{X: plot.LogRatio(changeApart, 1.12, percents...), XName: "change, % (log scale of the ratio)", Ends: [2]string{"lower", "higher"}}
	p.Marks = []plot.Mark{plot.Rule{X: 0, Stroke: plot.Stroke{Color: plot.Ink}}}
	if baseline := m.OneBaseline(); baseline != "" {
		p.Rows = append(p.Rows, plot.Row{Name: baseline, Bold: true, Texts: []plot.Text{{}, {Text: "baseline", Color: plot.Muted}, {}}})
	}
	for i := range rows {
		e, color := &rows[i], plot.Color(rows[i].Tone())
		row := plot.Row{Name: e.Label, Texts: []plot.Text{{Text: number.Minus(e.Change()), Bold: true}, {Text: number.Minus(e.Interval())}, {Text: e.Word(), Color: color, Bold: true}}}
		if e.Missing != "" { // no place on the axis: words instead of marks
			row.Texts[0], row.Texts[1] = plot.Text{Text: "no ratio", Color: plot.Muted}, plot.Text{}
			row.Marks = []plot.Mark{plot.Text{At: plot.Point{X: 0, Y: plot.Middle}, DY: 4, Text: e.Missing, Anchor: plot.Center, Color: plot.Muted}}
		}
		if bounds := e.Bounds(); bounds != nil {
			row.Marks = append(row.Marks, plot.Rect{From: plot.Point{X: bounds[0], Y: 1}, To: plot.Point{X: bounds[1], Y: plot.RowHeight - 1}, Color: plot.Band})
		}
		row.Marks = append(row.Marks, effectMarks(e, &p.X, color)...)
		p.Rows = append(p.Rows, row)
	}
	title := fmt.Sprintf("Change of %s, %%", m.Name())
	f := plot.Of(title, fmt.Sprintf("%s: %s.", title, strings.Join(texts, "; ")), p)
	if rows[0].Claim != nil {
		f.Note = "gray: the claim is true"
	}
	return f
}

// effectMarks returns the interval of an effect, the estimate on it, and a bracket as wide as the smallest effect that such a
// round finds. What is beyond the axis has an arrow at its end.
func effectMarks(e *round.EffectRow, x *plot.Scale, color plot.Color) (marks []plot.Mark) {
	if e.Percent == nil {
		return nil
	}
	at := func(percent, y float64) plot.Point { return plot.Point{X: percent, Y: y} }
	end := func(percent *float64, edge float64) plot.Point {
		if percent == nil {
			return at(edge, plot.Middle)
		}
		place := at(*percent, plot.Middle)
		if _, beyond := x.Place(*percent); beyond {
			marks = append(marks, arrow(place, color, ""))
		} else {
			marks = append(marks, plot.Interval{Stroke: plot.Stroke{Color: color, Width: 2}, From: at(*percent, plot.Middle-5), To: at(*percent, plot.Middle+5)})
		}
		return place
	}
	if e.LowPercent != nil || e.HighPercent != nil {
		from, to := end(e.LowPercent, math.Inf(-1)), end(e.HighPercent, math.Inf(1))
		marks = append(marks, plot.Interval{Stroke: plot.Stroke{Color: color, Width: 2}, From: from, To: to})
	}
	tip := number.Minus(e.Change() + " (" + e.Interval() + ")")
	if _, beyond := x.Place(*e.Percent); beyond {
		marks = append(marks, arrow(at(*e.Percent, plot.Middle), color, tip))
	} else {
		marks = append(marks, plot.Dot{At: at(*e.Percent, plot.Middle), Radius: 4, Color: color, Hollow: e.Tone() == doc.Unsure, Tip: tip})
	}
	if e.DetectablePercent != nil {
		found := *e.DetectablePercent
		if bounds := e.Bounds(); bounds != nil && math.IsInf(bounds[1], 1) == (bounds[0] < 0) {
			found = -found // what contradicts "at most 5% lower", or confirms "at least 10% lower"
		}
		const y = plot.Middle + 10
		marks = append(marks, plot.Interval{Stroke: plot.Stroke{Color: plot.AxisColor}, From: at(0, y), To: at(found, y)})
		for _, x := range []float64{0, found} {
			marks = append(marks, plot.Interval{Stroke: plot.Stroke{Color: plot.AxisColor}, From: at(x, y-3), To: at(x, y)})
		}
	}
	return marks
}

// arrow points at what is beyond the axis.
func arrow(at plot.Point, color plot.Color, tip string) plot.Mark {
	shape := plot.Right
	if at.X < 0 {
		shape = plot.Left
	}
	return plot.Dot{At: at, Shape: shape, Color: color, Tip: tip}
}

// Change and Interval return the texts of round.Change and round.Interval with minus signs, as axes have them.
func Change(e *benchmark.Effect) string { return number.Minus(round.Change(e)) }

// Interval is described at Change.
func Interval(e *benchmark.Effect) string { return number.Minus(round.Interval(e)) }
