package chart

import (
	"fmt"
	"math"

	"github.com/assay-dev/assay/internal/report/picture"
)

const (
	levelHeight = 110.0
	levelGap    = 54.0
)

// Draw draws the plots as a grid: all have one axis of the load, those of a row one axis of the metric. On narrow pages
// the columns are below each other.
func (l *Levels) Draw(width float64) *picture.Picture {
	each := (width - axisLeft) / float64(len(l.Columns))
	stacked := each < 150
	rows := 1
	if stacked {
		rows, each = len(l.Columns), width-axisLeft
	}
	top := 36.0
	if width < picture.NarrowWidth {
		top += 18 * float64(min(len(l.Variants), picture.Variants)-1)
	}
	block := 24 + (levelHeight+levelGap)*float64(len(l.Metrics)) + 20
	p := picture.New(width, top+block*float64(rows))
	p.Describe("Levels by "+l.Unit, l.summary())
	l.drawNames(p)
	for c := range l.Columns {
		x, y := axisLeft+each*float64(c), top
		if stacked {
			x, y = axisLeft, top+block*float64(c)
		}
		p.Clipped(x, y+14, l.Columns[c], each-16, picture.TextStyle{Size: 13, Bold: true})
		for m := range l.Metrics {
			plot := picture.Box{X: x, Y: y + 50 + (levelHeight+levelGap)*float64(m), W: each - 20, H: levelHeight}
			l.drawPlot(p, plot, m, c, stacked || c == 0)
		}
		l.drawLoads(p, picture.Box{X: x, Y: y + 50, W: each - 20, H: (levelHeight+levelGap)*float64(len(l.Metrics)-1) + levelHeight})
	}
	return p
}

func (l *Levels) summary() string {
	return fmt.Sprintf("Medians of %d metrics at each level of %s, for %d values of the axis %s in %d columns.", len(l.Metrics), l.Unit, len(l.Variants), l.Axis, len(l.Columns))
}

// drawNames writes the names of the overlaid values with their marks.
func (l *Levels) drawNames(p *picture.Picture) {
	x, y := 6.0, 14.0
	shown := min(len(l.Variants), picture.Variants)
	for i, name := range l.Variants[:shown] {
		p.Marker(x, y-4, i, false, "")
		if p.Width < picture.NarrowWidth {
			p.Clipped(x+12, y, name, p.Width-20, picture.TextStyle{})
			y += 18
			continue
		}
		room := (p.Width - 12) / float64(shown)
		p.Clipped(x+12, y, name, room-24, picture.TextStyle{})
		x += room
	}
}

// drawPlot draws the lines of a column in a metric. The grid has its labels in the first column alone.
func (l *Levels) drawPlot(p *picture.Picture, plot picture.Box, metric, column int, labeled bool) {
	m := &l.Metrics[metric]
	x, y := l.loads(plot), m.scale(plot)
	for _, t := range y.Ticks {
		at := y.At(t.Value)
		p.Line(plot.X, at, plot.Right(), at, picture.Stroke{Color: picture.Grid})
		if labeled {
			p.Text(plot.X-8, at+4, t.Label, picture.TextStyle{Color: picture.Muted, Anchor: picture.End})
		}
	}
	p.Line(plot.X, plot.Bottom(), plot.Right(), plot.Bottom(), picture.Stroke{Color: picture.AxisColor})
	if labeled {
		p.Clipped(max(0, plot.X-axisLeft), plot.Y-12, m.Name, plot.W+axisLeft, picture.TextStyle{Color: picture.Muted})
	}
	for variant, points := range m.Lines[column] {
		if variant >= picture.Variants {
			break // the table has all
		}
		var line []picture.Point
		for _, at := range points {
			place := picture.Point{X: x.At(at.Load), Y: y.At(at.Median)}
			line = append(line, place)
			if !math.IsNaN(at.Low) {
				p.Line(place.X, y.At(at.Low), place.X, y.At(at.High), picture.Stroke{Color: picture.Variant(variant), Width: 2})
			}
			p.Marker(place.X, place.Y, variant, false, fmt.Sprintf("%s at %s %s: %s", l.Variants[variant], picture.Significant(at.Load), l.Unit, picture.Significant(at.Median)))
		}
		join(p, line, picture.Stroke{Color: picture.Variant(variant)})
	}
}

// loads returns the scale of the loads, from 0 to the largest of all columns.
func (l *Levels) loads(plot picture.Box) picture.Scale {
	most := 0.0
	for _, m := range l.Metrics {
		for _, column := range m.Lines {
			for _, points := range column {
				for _, p := range points {
					most = max(most, p.Load)
				}
			}
		}
	}
	return picture.LinearExact(most, plot.X+6, plot.Right()-6)
}

// scale returns the scale of a row: logarithmic for latencies.
func (m *LevelMetric) scale(plot picture.Box) picture.Scale {
	low, high := math.Inf(1), 0.0
	for _, column := range m.Lines {
		for _, points := range column {
			for _, p := range points {
				low, high = min(low, p.Median), max(high, p.Median)
				if !math.IsNaN(p.Low) {
					low, high = min(low, p.Low), max(high, p.High)
				}
			}
		}
	}
	if m.Logarithmic {
		return picture.Logarithmic(low, high, plot.Bottom(), plot.Y)
	}
	return picture.Linear(0, high, plot.Bottom(), plot.Y)
}

func (l *Levels) drawLoads(p *picture.Picture, plot picture.Box) {
	x := l.loads(plot)
	p.XAxis(plot, &x, l.Unit)
}
