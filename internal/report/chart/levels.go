package chart

import (
	"fmt"
	"slices"
	"strings"

	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/report/plot"
	"github.com/assay-dev/assay/internal/result"
)

// breakingPoints returns the breaking points that were reached, each with its words: what was reached, and at which load.
func breakingPoints(r *result.Result) (reached []*result.BreakingPoint, texts []string) {
	for i := range r.BreakingPoints {
		if p := &r.BreakingPoints[i]; p.Reached {
			reached, texts = append(reached, p), append(texts, fmt.Sprintf("%s %s at %s %s", report.BreakingPointName(p), p.Bound, number.Count(p.Load()), report.UnitOfLoad(r)))
		}
	}
	return reached, texts
}

// Levels draws what was measured at each level of a load with stages, as the project's report R5 does, in a plot each. Other loads
// have none.
func Levels(r *result.Result) (all []doc.Plot) {
	if len(r.Levels) == 0 {
		return nil
	}
	panels := []Panel{
		{Name: "latency (" + report.LatencyName(&r.Run) + "), ms, log scale", Unit: "ms", Log: true, Lines: levelLatency(r, (*result.Level).Total)},
		{Name: "throughput, successful requests/s", Unit: "requests/s", Lines: []Line{
			{Name: "requests/s", Stroke: plot.Stroke{Color: plot.Throughput, Width: 2}, Values: levelValues(r, (*result.Level).RequestsPerSecond)},
		}},
	}
	if r.Run.UserConnections > 0 {
		panels = append([]Panel{
			{Name: "page time, ms, log scale", Unit: "ms", Log: true, Lines: levelLatency(r, (*result.Level).PageTime)},
			{Name: "successful rounds per 10 s", Unit: "rounds/10 s", Lines: []Line{
				{Name: "rounds", Stroke: plot.Stroke{Color: plot.Throughput, Width: 2}, Values: levelValues(r, (*result.Level).RoundsPer10Seconds)},
			}},
		}, panels...)
	}
	if r.Merged.Errors.Total() > 0 {
		panels = append(panels, Panel{Name: "failed requests, % of all", Unit: "%", Lines: []Line{
			{Name: "failed", Stroke: plot.Stroke{Color: plot.ErrorColor(int(result.ErrorReceive)), Width: 1.5}, Values: levelValues(r, func(l *result.Level) float64 { return l.ErrorPercent() })},
		}})
	}
	cpu := Panel{Name: "CPU, % of the limit of each container", Unit: "%", Rules: []float64{90}}
	for i, c := range r.Containers() {
		cpu.Lines = append(cpu.Lines, Line{Name: c.Name, Stroke: targetStroke(i), Values: levelValues(r, func(l *result.Level) float64 { return l.CPUPercent(l.CPUOf(c.Name), c.CPULimit) })})
	}
	if cpu.known() {
		panels = append(panels, cpu)
	}
	for i := range panels {
		all = append(all, doc.Plot{Drawing: levelFigure(r, &panels[i])})
	}
	return append(all, LatencyOfThroughput(r))
}

// LatencyOfThroughput draws the latency at the throughput of each level, joined in their order: where more load brings no more
// throughput, the lines turn upward or back. Fewer than two levels have nothing.
func LatencyOfThroughput(r *result.Result) doc.Plot {
	throughput, unit := levelValues(r, (*result.Level).RequestsPerSecond), report.UnitOfLoad(r)
	l := Panel{Name: "latency (" + report.LatencyName(&r.Run) + "), ms, log scale", Log: true, Lines: levelLatency(r, (*result.Level).Total)}
	if len(throughput) < 2 || !l.known() {
		return doc.Plot{}
	}
	most := report.MostThroughput(r)
	p := plot.Plot{Axis: l.Name, Height: 200, X: plot.LinearExact(throughput[most]), XName: "throughput, successful requests/s", Y: l.Scale(), Names: l.names(), Invalid: invalid(r)}
	for i := range l.Lines {
		line := &l.Lines[i]
		join := plot.Line{Stroke: plot.Stroke{Color: line.Color}}
		for j, ms := range line.Values {
			at := plot.Point{X: throughput[j], Y: ms}
			if join.Points = append(join.Points, at); !at.IsGap() {
				load := number.Count(r.Levels[j].Load()) + " " + unit
				p.Marks = append(p.Marks, plot.Dot{At: at, Color: line.Color, Tip: fmt.Sprintf("%s at %s, %s requests/s: %s", line.Name, load, number.Significant(at.X), milliseconds(ms))})
				if i == len(l.Lines)-1 && (j == 0 || j == len(throughput)-1) {
					p.Marks = append(p.Marks, plot.Text{At: at, DX: -6, DY: -8, Text: load, Anchor: plot.End, Color: plot.Muted})
				}
			}
		}
		p.Marks = append(p.Marks, join)
	}
	caption := fmt.Sprintf("Levels are joined in their order. The most was %s requests/s, at %s %s.", number.Significant(throughput[most]), number.Count(r.Levels[most].Load()), unit)
	return doc.Plot{Drawing: plot.Of("Latency against throughput by level", caption, p), Caption: caption}
}

// levelValues returns a metric of each level.
func levelValues(r *result.Result, of func(*result.Level) float64) []float64 {
	all := make([]float64, len(r.Levels))
	for i := range r.Levels {
		if all[i] = of(&r.Levels[i]); all[i] == result.Unknown {
			all[i] = unknown
		}
	}
	return all
}

// levelLatency returns the lines of a latency by level.
func levelLatency(r *result.Result, of func(*result.Level) result.Summary) []Line {
	at := func(p percentile.Percentile) []float64 {
		return levelValues(r, func(l *result.Level) float64 {
			s := of(l)
			if s.Count == 0 || s.Percentiles[p] == result.Unknown {
				return unknown
			}
			return float64(s.Percentiles[p]) / 1000
		})
	}
	return percentileLines(at(percentile.P50), at(percentile.P90), at(percentile.P99))
}

// levelFigure draws lines over the load: a dot for each level, thin lines between them, and a rule for each breaking point.
func levelFigure(r *result.Result, l *Panel) *plot.Figure {
	unit, loads := report.UnitOfLoad(r), levelValues(r, func(l *result.Level) float64 { return float64(l.Load()) })
	most := slices.Max(loads)
	reached, words := breakingPoints(r)
	for _, point := range reached {
		most = max(most, float64(point.Load()))
	}
	p := plot.Plot{Axis: l.Name, Height: 140, X: plot.LinearExact(most), XName: unit + " of all clients", Y: l.Scale(), Names: l.names(), Marks: l.rules(), Invalid: invalid(r)}
	for i, point := range reached {
		p.Marks = append(p.Marks, plot.Rule{X: float64(point.Load()), Stroke: hairline, Text: words[i], Row: i})
	}
	var texts []string
	for i := range l.Lines {
		line := &l.Lines[i]
		join := plot.Line{Stroke: plot.Stroke{Color: line.Color, Dash: line.Dash}}
		text := func(j int) string { return number.Unit(number.Significant(line.Values[j]), l.Unit) }
		for j, v := range line.Values {
			at := plot.Point{X: loads[j], Y: v}
			join.Points = append(join.Points, at)
			if !at.IsGap() {
				p.Marks = append(p.Marks, plot.Dot{At: at, Color: line.Color, Tip: fmt.Sprintf("%s at %s %s: %s", line.Name, number.Significant(loads[j]), unit, text(j))})
			}
		}
		p.Marks = append(p.Marks, join)
		last := len(loads) - 1
		texts = append(texts, fmt.Sprintf("%s from %s at %s to %s at %s", line.Name, number.Significant(line.Values[0]), number.Significant(loads[0]), text(last), number.Unit(number.Significant(loads[last]), unit)))
	}
	return plot.Of(l.Name+" by level", strings.Join(append(texts, words...), "; ")+".", p)
}
