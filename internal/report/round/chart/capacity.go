package chart

import (
	"fmt"
	"math"
	"strconv"

	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/report/plot"
	"github.com/assay-dev/assay/internal/report/round"
)

// achievedBound is the share of the load in percent that a trial must achieve to pass.
const achievedBound = 99

// Capacity draws the trials of a cell's capacity search in their order: the load with the bounds that approach each other
// and, below, the share of the load that was achieved, and p99. It returns nil without trials.
func Capacity(r *round.Report, c *benchmark.Capacity) *plot.Figure {
	trials := r.Trials(c.Cell)
	if len(trials) == 0 {
		return nil
	}
	unit, _ := r.CapacityLoad()
	var numbers []string
	var lower, upper []plot.Point
	low, high, passed, saturated := math.Inf(1), 0.0, 0, false
	loads := plot.Plot{Axis: "load, " + unit, Height: 220}
	for i := range trials {
		t := &trials[i]
		at := plot.Point{X: float64(i), Y: float64(t.Load)}
		low, high, numbers = min(low, at.Y), max(high, at.Y), append(numbers, strconv.Itoa(i+1))
		if t.Lower > 0 {
			lower = append(lower, plot.Point{X: at.X, Y: float64(t.Lower)}, plot.Point{X: at.X + 1, Y: float64(t.Lower)})
		}
		if t.Upper > 0 {
			upper = append(upper, plot.Point{X: at.X, Y: float64(t.Upper)}, plot.Point{X: at.X + 1, Y: float64(t.Upper)})
		}
		dot, text := plot.Dot{At: at, Color: plot.Bad, Shape: plot.Cross}, "failed: "+t.Message
		switch {
		case !t.Valid:
			dot.Shape, dot.Hollow, text = plot.Square, true, "invalid: "+t.Message
		case t.Outcome == benchmark.OutcomeSaturated:
			dot.Shape, dot.Hollow, text = plot.Square, true, "clients were the limit: no trial"
			saturated = saturated || t.Load == c.Failed
		case t.Outcome == benchmark.OutcomePassed:
			dot.Shape, dot.Radius, dot.Color, text = plot.Circle, 4, plot.Good, "passed"
			passed++
		}
		dot.Tip = fmt.Sprintf("trial %d, %s: %s", i+1, number.Count(t.Load), text)
		loads.Marks = append(loads.Marks, dot)
	}
	if c.Sustained > 0 && c.Failed > 0 {
		loads.Marks = append(loads.Marks, plot.Rect{From: plot.Point{X: math.Inf(-1), Y: float64(c.Sustained)}, To: plot.Point{X: math.Inf(1), Y: float64(c.Failed)}, Color: plot.Grid})
	}
	loads.Y = plot.Logarithmic(low, high)
	loads.Marks = append(loads.Marks, plot.Line{Stroke: plot.Stroke{Color: plot.Ink, Width: 1.5}, Points: lower}, plot.Line{Stroke: plot.Stroke{Color: plot.Ink, Width: 1.5, Dash: "5 3"}, Points: upper})
	switch {
	case saturated:
		loads.Names = append(loads.Names, plot.Name{Text: "clients' limit", Value: number.Count(c.Failed), Y: float64(c.Failed)})
	case c.Failed > 0:
		loads.Names = append(loads.Names, plot.Name{Text: "fails at", Value: number.Count(c.Failed), Y: float64(c.Failed)})
	}
	if c.Sustained > 0 {
		loads.Names = append(loads.Names, plot.Name{Text: "sustains", Value: number.Count(c.Sustained), Y: float64(c.Sustained)})
	}
	plots := []plot.Plot{loads}
	add := func(p plot.Plot, ok bool) {
		if ok {
			plots = append(plots, p)
		}
	}
	add(trialPlot(trials, "achieved, % of the load", plot.Range, achievedBound, "99% needed", func(t *round.Trial) *float64 { return t.AchievedPercent }))
	add(trialPlot(trials, r.AxisTitle("LatencyP99"), plot.Logarithmic, r.LatencyBound(), fmt.Sprintf("threshold %s ms", number.Significant(r.LatencyBound())), func(t *round.Trial) *float64 { return t.LatencyP99 }))
	for i := range plots {
		plots[i].X, plots[i].XHidden, plots[i].Gutter = plot.Categories(numbers), i < len(plots)-1, true
	}
	plots[len(plots)-1].XName = "trial, in order"
	f := plot.Of(r.Sustains(c), fmt.Sprintf("%d trials from %s to %s %s, of which %d passed.", len(trials), number.Count(int64(low)), number.Count(int64(high)), unit, passed), plots...)
	f.Note = "● passed, ✕ failed, □ clients' limit or invalid. In the plots below the load, hollow: not passed."
	return f
}

// trialPlot returns a plot below that of the loads, with a rule at a bound unless that is 0, and whether any trial has the
// value.
func trialPlot(trials []round.Trial, axis string, scale func(low, high float64) plot.Scale, bound float64, text string, of func(*round.Trial) *float64) (p plot.Plot, some bool) {
	p = plot.Plot{Axis: axis, Height: 90}
	low, high := math.Inf(1), math.Inf(-1)
	for i := range trials {
		if y := of(&trials[i]); y != nil {
			low, high = min(low, *y), max(high, *y)
			p.Marks = append(p.Marks, plot.Dot{At: plot.Point{X: float64(i), Y: *y}, Color: plot.Ink, Hollow: trials[i].Outcome != benchmark.OutcomePassed, Tip: fmt.Sprintf("trial %d: %s", i+1, number.Significant(*y))})
		}
	}
	some = len(p.Marks) > 0
	if bound > 0 {
		low, high = min(low, bound), max(high, bound)
		p.Marks = append(p.Marks, plot.Level(bound, plot.Stroke{Color: plot.AxisColor, Dash: "3 3"}))
		p.Names = []plot.Name{{Text: text, Y: bound}}
	}
	p.Y = scale(low, high)
	return p, some
}
