package chart

import (
	"fmt"
	"slices"
	"strings"

	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/report/plot"
	"github.com/assay-dev/assay/internal/result"
)

// Levels holds what was measured at each level of a load, as in the figures of the project's report R5.
type Levels struct {
	// Unit is that of the load: "connections" or "requests/s".
	Unit  string
	Loads []float64
	Plots []LevelPlot
	// Points are the breaking points that were reached, by their load.
	Points  []LevelPoint
	invalid bool
}

// LevelPlot is a plot over the load.
type LevelPlot struct {
	Name, Unit string
	Log        bool
	Lines      []Line
	Rules      []Rule
}

// LevelPoint is a breaking point.
type LevelPoint struct {
	Load float64
	Text string
}

// BreakingPointText says what was reached, and at which load.
func BreakingPointText(r *result.Result, p *result.BreakingPoint) string {
	return fmt.Sprintf("%s %s at %s %s", report.BreakingPointName(p), p.Bound, number.Count(p.Load()), report.UnitOfLoad(r))
}

// NewLevels returns the levels; nil for a load without stages.
func NewLevels(r *result.Result) *Levels {
	if len(r.Levels) == 0 {
		return nil
	}
	l := &Levels{Unit: report.UnitOfLoad(r), invalid: invalid(r)}
	of := func(figure func(*result.Level) float64) []float64 {
		all := make([]float64, len(r.Levels))
		for i := range r.Levels {
			if all[i] = figure(&r.Levels[i]); all[i] == result.Unknown {
				all[i] = unknown
			}
		}
		return all
	}
	latency := func(p percentile.Percentile) []float64 {
		return of(func(level *result.Level) float64 {
			s := level.Total()
			if s.Count == 0 || s.Percentiles[p] == result.Unknown {
				return unknown
			}
			return float64(s.Percentiles[p]) / 1000
		})
	}
	l.Loads = of(func(level *result.Level) float64 { return float64(level.Load()) })
	l.Plots = []LevelPlot{
		{Name: "latency (" + LatencyName(&r.Run) + "), ms, log scale", Unit: "ms", Log: true, Lines: []Line{
			{Name: "p50", Color: plot.P50, Width: 1.5, Values: latency(percentile.P50)},
			{Name: "p90", Color: plot.P90, Width: 1.5, Values: latency(percentile.P90)},
			{Name: "p99", Color: plot.P99, Width: 2, Values: latency(percentile.P99)},
		}},
		{Name: "throughput, successful requests/s", Unit: "requests/s", Lines: []Line{
			{Name: "requests/s", Color: plot.Throughput, Width: 2, Values: of((*result.Level).RequestsPerSecond)},
		}},
	}
	if r.Run.UserConnections > 0 {
		l.Plots = append(pagePlots(of), l.Plots...)
	}
	if r.Merged.Errors.Total() > 0 {
		l.Plots = append(l.Plots, LevelPlot{Name: "failed requests, % of all", Unit: "%", Lines: []Line{
			{Name: "failed", Color: plot.ErrorColor(int(result.ErrorReceive)), Width: 1.5, Values: of(func(level *result.Level) float64 { return level.ErrorPercent() })},
		}})
	}
	cpu := LevelPlot{Name: "CPU, % of the limit of each container", Unit: "%", Rules: []Rule{{90, "90"}}}
	for i, c := range r.Containers() {
		line := Line{Name: c.Name, Color: plot.TargetColor(i), Width: 1.5, Dash: dashes[min(i, len(dashes)-1)]}
		line.Values = of(func(level *result.Level) float64 {
			used := level.CPUOf(c.Name)
			if c.Name == result.ServerContainer && used == result.Unknown {
				used = level.ServerCPU
			}
			return level.CPUPercent(used, c.CPULimit)
		})
		cpu.Lines = append(cpu.Lines, line)
	}
	if known := (&Panel{Lines: cpu.Lines}).known(); known {
		l.Plots = append(l.Plots, cpu)
	}
	for i := range r.BreakingPoints {
		if p := &r.BreakingPoints[i]; p.Reached {
			l.Points = append(l.Points, LevelPoint{float64(p.Load()), BreakingPointText(r, p)})
		}
	}
	return l
}

// pagePlots returns the plots of users who load pages, whose figures of levels are given by of.
func pagePlots(of func(func(*result.Level) float64) []float64) []LevelPlot {
	time := func(figure func(*result.Summary) float64) []float64 {
		return of(func(level *result.Level) float64 {
			s := level.PageTime()
			if s.Count == 0 {
				return unknown
			}
			return figure(&s) / 1000
		})
	}
	at := func(p percentile.Percentile) []float64 {
		return time(func(s *result.Summary) float64 { return float64(s.Percentiles[p]) })
	}
	return []LevelPlot{
		{Name: "page time, ms, log scale", Unit: "ms", Log: true, Lines: []Line{
			{Name: "p50", Color: plot.P50, Width: 1.5, Values: at(percentile.P50)},
			{Name: "p90", Color: plot.P90, Width: 1.5, Values: at(percentile.P90)},
			{Name: "p99", Color: plot.P99, Width: 2, Values: at(percentile.P99)},
		}},
		{Name: "successful rounds per 10 s", Unit: "rounds/10 s", Lines: []Line{
			{Name: "rounds", Color: plot.Throughput, Width: 2, Values: of((*result.Level).RoundsPer10Seconds)},
		}},
	}
}

// Figure draws a plot over the load: a dot for each level, thin lines between them, and a rule for each breaking point.
func (l *Levels) Figure(of LevelPlot) *plot.Figure {
	most := slices.Max(l.Loads)
	for _, point := range l.Points {
		most = max(most, point.Load)
	}
	panel := Panel{Name: of.Name, Unit: of.Unit, Log: of.Log, Lines: of.Lines, Rules: of.Rules}
	p := plot.Plot{Axis: of.Name, Height: 140, X: plot.LinearExact(most), XName: l.Unit + " of all clients", Y: panel.Scale(), Names: panel.names(), Invalid: l.invalid}
	p.Marks = panel.rules()
	for i, point := range l.Points {
		p.Marks = append(p.Marks, plot.Rule{X: point.Load, Stroke: hairline, Text: point.Text, Row: i})
	}
	for i := range of.Lines {
		line := &of.Lines[i]
		var points []plot.Point
		for j, v := range line.Values {
			at := plot.Point{X: l.Loads[j], Y: v}
			points = append(points, at)
			if !at.IsGap() {
				p.Marks = append(p.Marks, plot.Dot{At: at, Color: line.Color, Tip: fmt.Sprintf("%s at %s %s: %s", line.Name, number.Significant(l.Loads[j]), l.Unit, number.Unit(number.Significant(v), of.Unit))})
			}
		}
		p.Marks = append(p.Marks, plot.Line{Points: points, Stroke: plot.Stroke{Color: line.Color, Dash: line.Dash}})
	}
	return plot.Of(of.Name+" by level", l.summary(&of), p)
}

func (l *Levels) summary(of *LevelPlot) string {
	var texts []string
	for i := range of.Lines {
		line := &of.Lines[i]
		first, last := line.Values[0], line.Values[len(line.Values)-1]
		texts = append(texts, fmt.Sprintf("%s from %s at %s to %s at %s", line.Name, number.Significant(first), number.Significant(l.Loads[0]),
			number.Unit(number.Significant(last), of.Unit), number.Unit(number.Significant(l.Loads[len(l.Loads)-1]), l.Unit)))
	}
	for _, p := range l.Points {
		texts = append(texts, p.Text)
	}
	return strings.Join(texts, "; ") + "."
}
