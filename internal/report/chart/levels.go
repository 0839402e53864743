package chart

import (
	"fmt"
	"math"
	"strings"

	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/report/picture"
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
	return fmt.Sprintf("%s %s at %s %s", report.BreakingPointName(p), p.Bound, picture.Count(p.Load()), report.UnitOfLoad(r))
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
			{Name: "p50", Color: picture.P50, Width: 1.5, Values: latency(percentile.P50)},
			{Name: "p90", Color: picture.P90, Width: 1.5, Values: latency(percentile.P90)},
			{Name: "p99", Color: picture.P99, Width: 2, Values: latency(percentile.P99)},
		}},
		{Name: "throughput, successful requests/s", Unit: "requests/s", Lines: []Line{
			{Name: "requests/s", Color: picture.Throughput, Width: 2, Values: of((*result.Level).RequestsPerSecond)},
		}},
	}
	if r.Run.UserConnections > 0 {
		l.Plots = append(pagePlots(of), l.Plots...)
	}
	if r.Merged.Errors.Total() > 0 {
		l.Plots = append(l.Plots, LevelPlot{Name: "failed requests, % of all", Unit: "%", Lines: []Line{
			{Name: "failed", Color: picture.ErrorColor(int(result.ErrorReceive)), Width: 1.5, Values: of(func(level *result.Level) float64 { return level.ErrorPercent() })},
		}})
	}
	cpu := LevelPlot{Name: "CPU, % of the limit of each container", Unit: "%", Rules: []Rule{{90, "90"}}}
	for i, c := range r.Containers() {
		line := Line{Name: c.Name, Color: picture.TargetColor(i), Width: 1.5, Dash: dashes[min(i, len(dashes)-1)]}
		line.Values = of(func(level *result.Level) float64 {
			used := level.CPUOf(c.Name)
			if c.Name == result.ServerContainer && used == result.Unknown {
				used = level.ServerCPU
			}
			return level.CPUPercent(used, c.CPULimit)
		})
		cpu.Lines = append(cpu.Lines, line)
	}
	if known := (&Lane{Lines: cpu.Lines}).known(); known {
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
			{Name: "p50", Color: picture.P50, Width: 1.5, Values: at(percentile.P50)},
			{Name: "p90", Color: picture.P90, Width: 1.5, Values: at(percentile.P90)},
			{Name: "p99", Color: picture.P99, Width: 2, Values: at(percentile.P99)},
		}},
		{Name: "successful rounds per 10 s", Unit: "rounds/10 s", Lines: []Line{
			{Name: "rounds", Color: picture.Throughput, Width: 2, Values: of((*result.Level).RoundsPer10Seconds)},
		}},
	}
}

// Draw draws a plot over the load: a dot for each level, thin lines between them, and a rule for each breaking point.
func (l *Levels) Draw(plot LevelPlot, width float64) *picture.Picture {
	box := Frame(width)
	title := newHeading(plot.Name, width)
	box.Y, box.H = title.below, 140
	narrow := width < picture.NarrowWidth
	var legend []legendRow
	if narrow {
		legend = legendRows(plot.Lines, width)
		box.Y += rowHeight * float64(len(legend))
	}
	top := box.Y
	var points []Mark
	for _, point := range l.Points {
		points = append(points, Mark{At: point.Load, Text: point.Text})
	}
	texts := newPointTexts(points, width)
	box.Y += texts.height() // the words of breaking points are above the plot
	p := picture.New(width, box.Bottom()+42)
	lane := Lane{Name: plot.Name, Unit: plot.Unit, Log: plot.Log, Lines: plot.Lines, Rules: plot.Rules}
	p.Describe(plot.Name+" by level", l.summary(&plot))
	title.draw(p)
	most := 0.0
	for _, load := range l.Loads {
		most = max(most, load)
	}
	for _, point := range l.Points {
		most = max(most, point.Load)
	}
	x := picture.LinearExact(most, box.X, box.Right())
	y := lane.Scale(box)
	p.Grid(box, &y)
	if l.invalid {
		p.Hatched(box.X, box.Y-invalidStrip, box.W, invalidStrip, picture.Bad, "not a result: the run is invalid")
	}
	for _, r := range plot.Rules {
		if at, beyond := y.Place(r.Value); !beyond {
			p.Line(box.X, at, box.Right(), at, picture.Stroke{Color: picture.AxisColor, Dash: "2 3"})
		}
	}
	for i, point := range l.Points {
		at, from := x.At(point.Load), top+rowHeight*float64(i)+4
		if texts.lines != nil {
			from = box.Y
		}
		p.Line(at, from, at, box.Bottom(), picture.Stroke{Color: picture.Text, Dash: "1 3"})
	}
	texts.draw(p, box, top, &x)
	for i := range plot.Lines {
		line := &plot.Lines[i]
		var points []picture.Point
		for j, v := range line.Values {
			if math.IsNaN(v) {
				points = append(points, picture.Gap())
				continue
			}
			at := picture.Point{X: x.At(l.Loads[j]), Y: y.At(v)}
			points = append(points, at)
			p.Circle(at.X, at.Y, 3, line.Color, false, fmt.Sprintf("%s at %s %s: %s", line.Name, picture.Significant(l.Loads[j]), l.Unit, picture.Unit(picture.Significant(v), plot.Unit)))
		}
		p.Path(points, picture.Stroke{Color: line.Color, Width: 1, Dash: line.Dash})
	}
	if narrow {
		drawLegend(p, title.below, legend, false)
	} else {
		lane.drawNames(p, box, &y)
	}
	p.XAxis(box, &x, l.Unit+" of all clients")
	return p
}

func (l *Levels) summary(plot *LevelPlot) string {
	var texts []string
	for i := range plot.Lines {
		line := &plot.Lines[i]
		first, last := line.Values[0], line.Values[len(line.Values)-1]
		texts = append(texts, fmt.Sprintf("%s from %s at %s to %s at %s", line.Name, picture.Significant(first), picture.Significant(l.Loads[0]),
			picture.Unit(picture.Significant(last), plot.Unit), picture.Unit(picture.Significant(l.Loads[len(l.Loads)-1]), l.Unit)))
	}
	for _, p := range l.Points {
		texts = append(texts, p.Text)
	}
	return strings.Join(texts, "; ") + "."
}
