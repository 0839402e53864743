// Package chart draws what a round of a Benchmark, and what compare, says: each chart is a function of their data that returns a
// figure.
package chart

import (
	"fmt"
	"math"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/inference"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/report/plot"
	"github.com/assay-dev/assay/internal/report/round"
)

// MaxRows is the largest number of effects that are drawn, the worst; the table has all.
const MaxRows = 40

// Effects draws the effects in a metric: a row for each cell with its estimate, its interval and, below it, the effect that
// such a round can find.
func Effects(m *round.MetricEffects) *plot.Figure {
	rows := m.Worst(MaxRows)
	better, tolerance := rows[0].Better, float64(rows[0].TolerancePercent)
	percents := []float64{tolerance}
	var texts []string
	for i := range rows {
		e := rows[i].Effect
		for _, percent := range []*float64{e.Percent, e.LowPercent, e.HighPercent, e.DetectablePercent} {
			if percent != nil {
				percents = append(percents, *percent)
			}
		}
		texts = append(texts, fmt.Sprintf("%s %s (%s), %s", rows[i].Label, Change(e), Interval(e), inference.Phrase(e.Word)))
	}
	const listed = 8
	if more := len(texts) - listed; more > 0 {
		texts = append(texts[:listed], fmt.Sprintf("%d more", more))
	}
	p := plot.Plot{X: changes(1.12, percents...), XName: "change, % (log scale of the ratio)", Ends: [2]string{"lower: better", "worse: higher"}}
	if better == v1alpha1.HigherIsBetter {
		p.Ends = [2]string{"lower: worse", "better: higher"}
	}
	edge := plot.Stroke{Color: plot.AxisColor}
	p.Marks = []plot.Mark{
		plot.Rect{From: plot.Point{X: -tolerance, Y: math.Inf(-1)}, To: plot.Point{X: tolerance, Y: math.Inf(1)}, Color: plot.Band},
		plot.Rule{X: -tolerance, Stroke: edge}, plot.Rule{X: tolerance, Stroke: edge}, plot.Rule{X: 0, Stroke: plot.Stroke{Color: plot.Ink}},
	}
	if baseline := m.OneBaseline(); baseline != "" {
		p.Rows = append(p.Rows, plot.Row{Name: baseline, Bold: true, Texts: []plot.Text{{}, {Text: "baseline", Color: plot.Muted}, {}}})
	}
	for i := range rows {
		e := rows[i].Effect
		word := inference.Phrase(e.Word)
		if e.Verdict == v1alpha1.BenchmarkFailed {
			word += ": failed"
		}
		color := plot.Color(round.Tone(e.Word))
		p.Rows = append(p.Rows, plot.Row{
			Name: rows[i].Label, Texts: []plot.Text{{Text: Change(e), Bold: true}, {Text: Interval(e)}, {Text: word, Color: color, Bold: true}}, Marks: effectMarks(e, &p.X, color),
		})
	}
	title := fmt.Sprintf("Change of %s against the baseline, %%", round.MetricName(m.Metric))
	f := plot.Of(title, fmt.Sprintf("%s, tolerance %g%%. %s.", title, tolerance, strings.Join(texts, "; ")), p)
	f.Note = fmt.Sprintf("gray: within the tolerance of ±%g%%", tolerance)
	return f
}

// effectMarks returns the interval of an effect, the estimate on it, and a bracket as wide as the smallest effect that such a
// round finds. What is beyond the axis has an arrow at its end.
func effectMarks(e *benchmark.Effect, x *plot.Scale, color plot.Color) (marks []plot.Mark) {
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
	tip := Change(e) + " (" + Interval(e) + ")"
	if _, beyond := x.Place(*e.Percent); beyond {
		marks = append(marks, arrow(at(*e.Percent, plot.Middle), color, tip))
	} else {
		marks = append(marks, plot.Dot{At: at(*e.Percent, plot.Middle), Radius: 4, Color: color, Hollow: e.Word == v1alpha1.EffectCannotTell, Tip: tip})
	}
	if e.DetectablePercent != nil {
		worse := *e.DetectablePercent
		if e.Better == v1alpha1.HigherIsBetter {
			worse = -worse
		}
		const y = plot.Middle + 10
		marks = append(marks, plot.Interval{Stroke: plot.Stroke{Color: plot.AxisColor}, From: at(0, y), To: at(worse, y)})
		for _, x := range []float64{0, worse} {
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

// changes returns the scale of changes in percent, with a margin around the largest.
func changes(margin float64, percents ...float64) plot.Scale {
	reach := 0.0
	for _, percent := range percents {
		if percent <= -100 {
			reach = math.Inf(1)
		} else {
			reach = max(reach, math.Abs(math.Log1p(percent/100)))
		}
	}
	const apart = 0.12
	return plot.LogRatio(100*math.Expm1(margin*reach), apart)
}

// toleranceMarks shades the changes within a tolerance, on an upright axis.
func toleranceMarks(tolerance float64) []plot.Mark {
	return []plot.Mark{
		plot.Rect{From: plot.Point{X: math.Inf(-1), Y: -tolerance}, To: plot.Point{X: math.Inf(1), Y: tolerance}, Color: plot.Band},
		plot.Level(-tolerance, plot.Stroke{Color: plot.AxisColor}), plot.Level(tolerance, plot.Stroke{Color: plot.AxisColor}), plot.Level(0, plot.Stroke{Color: plot.Ink}),
	}
}

// Change and Interval return the texts of round.Change and round.Interval with minus signs, as axes have them.
func Change(e *benchmark.Effect) string { return number.Minus(round.Change(e)) }

// Interval is described at Change.
func Interval(e *benchmark.Effect) string { return number.Minus(round.Interval(e)) }
