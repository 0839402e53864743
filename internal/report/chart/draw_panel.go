package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/report/plot"
)

const (
	fewPoints = 3   // up to which points are dots without a line
	steps     = 256 // up to which points are wide enough for steps
	columns   = 1000
)

var hairline = plot.Stroke{Color: plot.Ink, Dash: "1 3"}

// Figure draws a panel. With axis, the labels of the time and its name are below it.
func (t *Timeline) Figure(l *Panel, axis bool) *plot.Figure {
	if l.Empty != "" {
		return &plot.Figure{Title: l.Name, Description: l.Empty + ".", Note: l.Name + ": " + l.Empty}
	}
	if l.ID == PanelFindings {
		return t.findings()
	}
	p := plot.Plot{Axis: l.Name, X: t.scale(), XHidden: (l.Folded || l.ID == PanelLoad) && !axis, Y: l.Scale(), Height: 112, Names: l.names(), Gutter: true, Invalid: invalid(t.r)}
	switch {
	case l.ID == PanelLoad:
		p.Height = 40
	case l.Folded && !l.Stacked:
		p.Height = 24
	}
	if n := len(p.Y.Ticks); p.Height < 60 && n > 2 {
		p.Y.Ticks = []plot.Tick{p.Y.Ticks[0], p.Y.Ticks[n-1]}
	}
	if axis {
		p.XName = "time from the start of the measurement, " + plot.TimeUnit(t.End)
	}
	p.Marks = t.background(l.ID == PanelLoad)
	if l.Heat != nil {
		p.Marks = append(p.Marks, t.heat(l)...)
	}
	p.Marks = append(append(p.Marks, l.rules()...), t.hairlines()...)
	for i := range l.Lines {
		p.Marks = append(p.Marks, t.line(l, i))
	}
	p.Marks = append(p.Marks, t.windows(l, &p.Y)...)
	return plot.Of(l.Name, t.Summary(l), p)
}

func (t *Timeline) scale() plot.Scale {
	const ticks = 7
	return plot.Time(t.Start, t.End, ticks)
}

// background returns levels, the warm-up and where the measurement began.
func (t *Timeline) background(named bool) (all []plot.Mark) {
	band := func(from, to float64, c plot.Color, tip string) plot.Rect {
		return plot.Rect{From: plot.Point{X: from, Y: math.Inf(-1)}, To: plot.Point{X: to, Y: math.Inf(1)}, Color: c, Tip: tip, Ink: plot.Muted}
	}
	for i := 1; i < len(t.r.Levels); i += 2 {
		all = append(all, band(float64(t.r.Levels[i].Start), float64(t.r.Levels[i].End), plot.Band, ""))
	}
	if t.Warmup > 0 {
		w := band(t.Start, 0, plot.Warmup, "warm-up of "+number.Significant(t.Warmup)+" s; its seconds are not in the result")
		if named {
			w.Text = "warm-up"
		}
		all = append(all, w)
		if t.Warmup > -t.Start*(1+1e-9) { // a break mark: it lasted longer than shown
			all = append(all, plot.Text{At: plot.Point{X: t.Start, Y: math.Inf(-1)}, DX: 2, DY: -2, Text: "//", Color: plot.Muted})
		}
	}
	return append(all, plot.Rule{X: 0, Stroke: plot.Stroke{Color: plot.AxisColor}})
}

// hairlines returns a line through the plot where something happened.
func (t *Timeline) hairlines() (all []plot.Mark) {
	for _, f := range t.r.Findings {
		if f.Seconds != nil {
			all = append(all, plot.Rule{X: float64(f.Seconds.From), Stroke: hairline})
		}
	}
	reached, _ := breakingPoints(t.r)
	for _, p := range reached {
		all = append(all, plot.Rule{X: float64(p.Second), Stroke: hairline})
	}
	return all
}

// findings draws the numbers of findings where they first happened, those about the whole measurement in brackets left of the axis,
// and the words of each breaking point at its time.
func (t *Timeline) findings() *plot.Figure {
	const row, apart = 18, 0.1 // apart is of the axis: a number's width in the narrowest plot
	p := plot.Plot{Axis: "findings by their number", X: t.scale(), XHidden: true, Gutter: true, Invalid: invalid(t.r), Marks: t.background(false)}
	var full, names []string
	var numbers []plot.Mark
	var last []float64 // the last place in each row
	for i, f := range t.r.Findings {
		names = append(names, f.Reason)
		if f.Seconds == nil {
			full = append(full, fmt.Sprint(i+1))
			continue
		}
		at := float64(f.Seconds.From)
		free := slices.IndexFunc(last, func(before float64) bool { return p.X.At(at)-before >= apart })
		if free < 0 {
			free, last = len(last), append(last, 0)
		}
		last[free] = p.X.At(at)
		numbers = append(numbers, plot.Dot{At: plot.Point{X: at, Y: row*float64(free) + row/2}, Number: i + 1, Tip: f.Reason})
		p.Marks = append(p.Marks, plot.Rule{X: at, Stroke: hairline})
	}
	reached, words := breakingPoints(t.r)
	for i, point := range reached {
		p.Marks = append(p.Marks, plot.Rule{X: float64(point.Second), Stroke: hairline, Text: words[i], Row: i})
	}
	if len(full) > 0 {
		p.Axis += "; in brackets: the whole measurement"
	}
	const perRow = 3 // numbers that have room left of the axis
	brackets := slices.Collect(slices.Chunk(full, perRow))
	p.Height = row * float64(max(1, len(last), len(brackets)))
	p.Y, p.Marks = plot.Pixels(p.Height), append(p.Marks, numbers...)
	for i, numbers := range brackets {
		p.Y.Ticks = append(p.Y.Ticks, plot.Tick{Value: row*float64(i) + row/2, Label: "[" + strings.Join(numbers, " ") + "]"})
	}
	return plot.Of("findings and breaking points", strings.Join(append(names, words...), "; ")+".", p)
}

// Scale returns the scale of a panel's values.
func (l *Panel) Scale() plot.Scale {
	low, high := l.Range()
	if l.Log {
		return plot.Logarithmic(low, high)
	}
	return plot.Linear(0, high)
}

// Range returns the least and the largest value that a panel shows; a least one that is positive if the axis is
// logarithmic.
func (l *Panel) Range() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	see := func(v float64) {
		if !math.IsNaN(v) && (v > 0 || !l.Log) {
			low, high = min(low, v), max(high, v)
		}
	}
	for i := range l.Lines {
		for p, v := range l.Lines[i].Values {
			if l.Stacked {
				v = l.sum(p, len(l.Lines))
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
	for _, sketch := range l.Heat {
		for lowest := range sketch.Counts() {
			see(float64(max(1, lowest)) / 1000)
		}
	}
	for _, r := range l.Rules {
		if high > 0.5*r { // a bound that is far away would flatten the line
			see(r)
		}
	}
	if math.IsInf(low, 1) {
		return 0, 1
	}
	return low, high
}

// sum returns the sum of the first lines in a point.
func (l *Panel) sum(point, lines int) float64 {
	sum := 0.0
	for i := range l.Lines[:lines] {
		if v := l.Lines[i].Values[point]; !math.IsNaN(v) {
			sum += v
		}
	}
	return sum
}

// rules returns the bounds of a panel.
func (l *Panel) rules() (all []plot.Mark) {
	for _, r := range l.Rules {
		all = append(all, plot.Level(r, plot.Stroke{Color: plot.AxisColor, Dash: "2 3"}))
	}
	return all
}

// names returns the names of a panel's lines, and of the bounds that its axis has.
func (l *Panel) names() (all []plot.Name) {
	for i := range l.Lines {
		line := &l.Lines[i]
		at := line.last()
		if l.Stacked {
			at = l.sum(len(line.Values)-1, i+1)
		}
		all = append(all, plot.Name{Text: line.Name, Y: at, Stroke: line.Stroke, Box: l.Stacked, Dotted: line.Dots})
	}
	y := l.Scale()
	for _, r := range l.Rules {
		if _, beyond := y.Place(r); !beyond {
			all = append(all, plot.Name{Text: fmt.Sprint(r) + l.Unit, Y: r})
		}
	}
	return all
}

// line draws a line: as steps if points are wide enough, else through their middles; or columns on top of those of the lines before.
func (t *Timeline) line(l *Panel, of int) plot.Mark {
	line, n := &l.Lines[of], t.Points()
	if l.Stacked {
		return t.stack(l, of)
	}
	var points []plot.Point
	for i, v := range line.Values {
		if line.Step && n > fewPoints && n <= steps {
			points = append(points, plot.Point{X: t.Times[i], Y: v}, plot.Point{X: t.Times[i+1], Y: v})
			continue
		}
		points = append(points, plot.Point{X: (t.Times[i] + t.Times[i+1]) / 2, Y: v})
	}
	switch {
	case n <= fewPoints:
		return plot.Dots{Points: points, Radius: 3, Color: line.Color}
	case line.Dots:
		return plot.Dots{Points: points, Radius: 1.5, Color: line.Color}
	}
	return plot.Line{Stroke: line.Stroke, Points: points, Name: fmt.Sprint(of)}
}

// stack draws a line as columns on top of those before. Of several points in a column of pixels, the one with the largest sum is
// drawn.
func (t *Timeline) stack(l *Panel, of int) plot.Mark {
	x := t.scale()
	column := func(point int) float64 { return math.Floor(columns * x.At(t.Times[point])) }
	area := plot.Area{Color: l.Lines[of].Color}
	for from := 0; from < t.Points(); {
		at, to := from, from
		for ; to < t.Points() && column(to) == column(from); to++ {
			if l.sum(to, len(l.Lines)) > l.sum(at, len(l.Lines)) {
				at = to
			}
		}
		if v := l.Lines[of].Values[at]; !math.IsNaN(v) && v > 0 {
			left, right, below := t.Times[at], t.Times[at+1], l.sum(at, of)
			if t.Points() <= steps {
				right -= (right - left) / 10 // a gap
			}
			right = max(right, left+(t.End-t.Start)/columns)
			area.Outlines = append(area.Outlines, []plot.Point{{X: left, Y: below}, {X: left, Y: below + v}, {X: right, Y: below + v}, {X: right, Y: below}})
		}
		from = to
	}
	return area
}

// windows returns the windows of the warm-up as hollow dots: they aren't in the result. One above the axis is a head.
func (t *Timeline) windows(l *Panel, y *plot.Scale) (all []plot.Mark) {
	if l.ID != PanelThroughput && l.ID != PanelLatency {
		return nil
	}
	windows, middles := t.Windows()
	for i, w := range windows {
		value, color, name := w.PerSecond(), plot.Throughput, "requests/s"
		if l.ID == PanelLatency {
			value, color, name = float64(w.P99)/1000, plot.P99, "p99"
		}
		if l.ID == PanelLatency && w.Succeeded == 0 {
			continue
		}
		dot := plot.Dot{At: plot.Point{X: middles[i], Y: value}, Color: color, Hollow: true, Tip: "warm-up: " + name + " " + number.Significant(value)}
		if _, beyond := y.Place(value); beyond && value > y.High {
			dot.Shape, dot.Hollow = plot.Up, false
		}
		all = append(all, dot)
	}
	return all
}
