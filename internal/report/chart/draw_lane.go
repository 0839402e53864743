package chart

import (
	"math"
	"strings"

	"github.com/assay-dev/assay/internal/report/picture"
)

// The places of plots, which are the same in all lanes, so that their times are below each other.
const (
	axisLeft     = 56
	namesWide    = 144
	namesNarrow  = 8
	nameGap      = 14
	laneTop      = 24
	rowHeight    = 16
	stepPixels   = 3 // the width of a point from which on it is a step
	fewPoints    = 3 // up to which points are dots without a line
	invalidStrip = 6
)

// Frame returns the place of the plots of a picture of that width: its y and height are 0.
func Frame(width float64) picture.Box {
	right := float64(namesWide)
	if width < picture.NarrowWidth {
		right = namesNarrow
	}
	return picture.Box{X: axisLeft, W: width - axisLeft - right}
}

// heading is what a picture shows, in as many lines as it needs above the plot.
type heading struct {
	lines []string
	width float64
	below float64 // y of what follows
}

func newHeading(text string, width float64) heading {
	lines := picture.Wrap(text, width, picture.TextStyle{})
	return heading{lines, width, laneTop + picture.LineHeight*float64(len(lines)-1)}
}

func (h *heading) draw(p *picture.Picture) {
	p.Lines(0, laneTop-10, h.lines, h.width, picture.TextStyle{Color: picture.Muted})
}

// Draw draws a lane. With axis, the labels of the time and its name are below it.
func (t *Timeline) Draw(l *Lane, width float64, axis bool) *picture.Picture {
	if l.ID == LaneFindings {
		return t.drawMarks(l, width)
	}
	if l.Empty != "" {
		return t.drawEmpty(l, width)
	}
	box := Frame(width)
	narrow := width < picture.NarrowWidth
	box.H = 120
	if narrow {
		box.H = 96
	}
	switch {
	case l.ID == LaneLoad:
		box.H = 40
	case l.Folded:
		box.H = 24
	}
	title := newHeading(l.Name, width)
	box.Y = title.below
	var legend []legendRow
	if narrow {
		legend = legendRows(l.Lines, width)
		box.Y += rowHeight * float64(len(legend))
	}
	height := box.Bottom() + 8
	if !l.Folded && l.ID != LaneLoad || axis {
		height += 16
	}
	if axis {
		height += 18
	}
	if !narrow { // the names of all lines have room
		height = max(height, box.Y+nameGap*float64(len(l.Lines))+8)
	}
	p := picture.New(width, height)
	p.Describe(l.Name, t.Summary(l))
	x := t.Scale(box, width)
	t.drawBackground(p, box, &x, l)
	y := l.Scale(box)
	if box.H < 60 && len(y.Ticks) > 2 {
		y.Ticks = []picture.Tick{y.Ticks[0], y.Ticks[len(y.Ticks)-1]}
	}
	title.draw(p)
	p.Grid(box, &y)
	if l.Heat != nil {
		t.drawHeat(p, l, box, &x, &y)
	}
	for _, r := range l.Rules {
		if at, beyond := y.Place(r.Value); !beyond {
			p.Line(box.X, at, box.Right(), at, picture.Stroke{Color: picture.AxisColor, Dash: "2 3"})
		}
	}
	t.drawHairlines(p, box, &x)
	if l.Stacked {
		t.drawStack(p, l, &x, &y)
	} else {
		for i := range l.Lines {
			t.drawLine(p, &l.Lines[i], &x, &y)
		}
	}
	t.drawWindows(p, l, &x, &y)
	if narrow {
		drawLegend(p, title.below, legend, l.Stacked)
	} else {
		l.drawNames(p, box, &y)
	}
	if !l.Folded && l.ID != LaneLoad || axis {
		name := ""
		if axis {
			name = "time from the start of the measurement, " + picture.TimeUnit(t.End)
		}
		p.XAxis(box, &x, name)
	} else {
		p.Line(box.X, box.Bottom(), box.Right(), box.Bottom(), picture.Stroke{Color: picture.AxisColor})
	}
	return p
}

// Scale returns the scale of time in a plot of a picture of that width.
func (t *Timeline) Scale(box picture.Box, width float64) picture.Scale {
	ticks := picture.MaxTicks + 2
	if width < picture.NarrowWidth {
		ticks = 4
	}
	return picture.Time(t.Start, t.End, box.X, box.Right(), ticks)
}

// Scale returns the scale of a lane's figures in a plot.
func (l *Lane) Scale(box picture.Box) picture.Scale {
	low, high := l.Range()
	if l.Log {
		return picture.Logarithmic(low, high, box.Bottom(), box.Y)
	}
	return picture.Linear(0, high, box.Bottom(), box.Y)
}

// Range returns the least and the largest figure that a lane shows; a least one that is positive if the axis is
// logarithmic.
func (l *Lane) Range() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	see := func(v float64) {
		if !math.IsNaN(v) && (v > 0 || !l.Log) {
			low, high = min(low, v), max(high, v)
		}
	}
	for i := range l.Lines {
		for p, v := range l.Lines[i].Values {
			if l.Stacked {
				v = l.sum(p)
			}
			see(v)
		}
	}
	if l.Low > 0 {
		see(l.Low)
	}
	if l.High > 0 {
		see(l.High)
	}
	for _, h := range l.Heat {
		if h != nil {
			see(float64(max(1, h.Min())) / 1000)
			see(float64(h.Max()) / 1000)
		}
	}
	for _, r := range l.Rules {
		if r.Value <= 100 && high > 0.5*r.Value { // a bound that is far away would flatten the line
			see(r.Value)
		}
	}
	if math.IsInf(low, 1) {
		return 0, 1
	}
	return low, high
}

// sum returns the sum of all lines in a point.
func (l *Lane) sum(point int) float64 {
	sum := 0.0
	for i := range l.Lines {
		if v := l.Lines[i].Values[point]; !math.IsNaN(v) {
			sum += v
		}
	}
	return sum
}

// drawBackground draws levels, the warm-up and, in a run that isn't valid, a hatched strip above the plot.
func (t *Timeline) drawBackground(p *picture.Picture, box picture.Box, x *picture.Scale, l *Lane) {
	for i, level := range t.Levels {
		if i%2 == 1 {
			p.Rect(x.At(level.From), box.Y, x.At(level.To)-x.At(level.From), box.H, picture.Band)
		}
	}
	if t.Warmup > 0 {
		p.TippedRect(box.X, box.Y, x.At(0)-box.X, box.H, picture.Warmup, "warm-up of "+picture.Significant(t.Warmup)+" s; its seconds are not in the result")
		if t.Warmup > -t.Start*(1+1e-9) { // a break mark: it lasted longer than shown
			for _, by := range []float64{-2, 2} {
				p.Line(box.X+8+by, box.Bottom()+4, box.X+12+by, box.Bottom()-4, picture.Stroke{Color: picture.AxisColor})
			}
		}
	}
	p.Line(x.At(0), box.Y, x.At(0), box.Bottom(), picture.Stroke{Color: picture.AxisColor})
	if t.Invalid {
		p.Hatched(box.X, box.Y-invalidStrip, box.W, invalidStrip, picture.Bad, "not a result: the run is invalid")
	}
	if l.ID == LaneLoad && t.Warmup > 0 {
		if room := x.At(0) - box.X - 8; room > 60 {
			p.Text(box.X+4, box.Y+14, "warm-up", picture.TextStyle{Color: picture.Muted})
		}
	}
}

// drawHairlines draws a line through the plot where something happened.
func (t *Timeline) drawHairlines(p *picture.Picture, box picture.Box, x *picture.Scale) {
	for _, m := range t.Marks {
		if m.At >= 0 {
			p.Line(x.At(m.At), box.Y, x.At(m.At), box.Bottom(), picture.Stroke{Color: picture.Text, Dash: "1 3"})
		}
	}
}

// drawWindows draws the windows of the warm-up as hollow dots: they aren't in the result. One above the axis is a head.
func (t *Timeline) drawWindows(p *picture.Picture, l *Lane, x, y *picture.Scale) {
	for _, w := range t.Windows {
		value, color, name := w.PerSecond, picture.Throughput, "requests/s"
		switch l.ID {
		case LaneThroughput:
		case LaneLatency:
			value, color, name = w.P99, picture.P99, "p99"
		default:
			return
		}
		if math.IsNaN(value) {
			continue
		}
		at, beyond := y.Place(value)
		if beyond && value > y.High {
			p.Clamp(x.At(w.At), at, color)
			continue
		}
		p.Circle(x.At(w.At), at, 3, color, true, "warm-up: "+name+" "+picture.Significant(value))
	}
}

// drawNames writes the names of lines at their ends.
func (l *Lane) drawNames(p *picture.Picture, box picture.Box, y *picture.Scale) {
	var labels []picture.Label
	sums := 0.0
	for i := range l.Lines {
		line := &l.Lines[i]
		at := box.Bottom()
		for _, v := range line.Values {
			if !math.IsNaN(v) {
				at = y.At(v)
			}
		}
		if l.Stacked {
			sums += line.Values[len(line.Values)-1]
			at = y.At(sums)
		}
		labels = append(labels, picture.Label{Y: at + 4, Text: line.Name})
	}
	for _, r := range l.Rules {
		if at, beyond := y.Place(r.Value); !beyond {
			labels = append(labels, picture.Label{Y: at + 4, Text: r.Text + strings.TrimPrefix(l.Unit, " ")})
		}
	}
	for i, at := range picture.Spread(labels, nameGap, box.Y+8, max(box.Bottom()+4, box.Y+nameGap*float64(len(labels)))) {
		left := box.Right() + 8
		color := picture.Muted
		if i < len(l.Lines) {
			color = picture.Text
			l.Lines[i].drawSample(p, left, at-4, l.Stacked)
			left += 22
		}
		p.Clipped(left, at, labels[i].Text, p.Width-left, picture.TextStyle{Color: color})
	}
}

// drawSample draws a piece of a line, 16 pixels wide, so that its name is known without its color.
func (line *Line) drawSample(p *picture.Picture, x, y float64, stacked bool) {
	switch {
	case stacked:
		p.Rect(x+2, y-5, 10, 10, line.Color)
	case line.Dots:
		p.Dots([]picture.Point{{X: x + 2, Y: y}, {X: x + 8, Y: y}, {X: x + 14, Y: y}}, 1.5, line.Color)
	default:
		p.Line(x, y, x+16, y, picture.Stroke{Color: line.Color, Width: line.Width, Dash: line.Dash})
	}
}

// legendRow is a row of names above a narrow plot.
type legendRow []legendItem

type legendItem struct {
	line *Line
	x    float64
}

func legendRows(lines []Line, width float64) (rows []legendRow) {
	if len(lines) < 2 {
		return nil
	}
	var row legendRow
	x := 0.0
	for i := range lines {
		need := 22 + picture.TextWidth(lines[i].Name, picture.TextStyle{}) + 12
		if x > 0 && x+need > width {
			rows, row, x = append(rows, row), nil, 0
		}
		row = append(row, legendItem{&lines[i], x})
		x += need
	}
	return append(rows, row)
}

func drawLegend(p *picture.Picture, top float64, rows []legendRow, stacked bool) {
	for i, row := range rows {
		y := top + rowHeight*float64(i) + 4
		for _, item := range row {
			item.line.drawSample(p, item.x, y-4, stacked)
			p.Clipped(item.x+22, y, item.line.Name, p.Width-item.x-22, picture.TextStyle{})
		}
	}
}

// drawEmpty draws a line of text instead of a plot that would show nothing.
func (t *Timeline) drawEmpty(l *Lane, width float64) *picture.Picture {
	title := newHeading(l.Name+": "+l.Empty, width)
	p := picture.New(width, title.below)
	p.Describe(l.Name, l.Empty+".")
	title.draw(p)
	return p
}
