package chart

import (
	"fmt"
	"math"

	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/report/picture"
)

// Draw draws the trials of a capacity search in their order: the load with the bounds that approach each other and,
// below on the same axis, the share of the load that was achieved and p99.
func (c *Capacity) Draw(width float64) *picture.Picture {
	right := 150.0
	if width < picture.NarrowWidth {
		right = 112
	}
	plot := picture.Box{X: axisLeft, Y: 24, W: width - axisLeft - right, H: plotHeight}
	lanes := c.lanes(plot)
	height := plot.Y + plot.H + 80
	if len(lanes) > 0 {
		last := lanes[len(lanes)-1].Box
		height = last.Y + last.H + 80
	}
	p := picture.New(width, height)
	p.Describe(c.Sentence(), c.summary())
	y := c.scale(plot)
	yAxis(p, plot, &y, "load, "+c.Load)
	c.drawBounds(p, plot, y)
	for i := range c.Trials {
		c.drawTrial(p, plot, y, i)
	}
	for i := range lanes {
		lanes[i].draw(p, c, plot)
	}
	c.drawOrder(p, plot, height-80)
	return p
}

// summary is the picture in a sentence.
func (c *Capacity) summary() string {
	passed, low, high := 0, int64(math.MaxInt64), int64(0)
	for _, t := range c.Trials {
		low, high = min(low, t.Load), max(high, t.Load)
		if t.Valid && t.Outcome == benchmark.OutcomePassed {
			passed++
		}
	}
	return fmt.Sprintf("%d trials from %s to %s %s, of which %d passed.", len(c.Trials), picture.Count(low), picture.Count(high), c.Load, passed)
}

func (c *Capacity) scale(plot picture.Box) picture.Scale {
	low, high := math.Inf(1), math.Inf(-1)
	for _, t := range c.Trials {
		low, high = min(low, float64(t.Load)), max(high, float64(t.Load))
	}
	return picture.Logarithmic(low, high, plot.Y+plot.H, plot.Y)
}

func (c *Capacity) x(plot picture.Box, trial int) float64 {
	return plot.X + plot.W*(float64(trial)+0.5)/float64(max(1, len(c.Trials)))
}

// drawBounds draws the largest load that was sustained and the smallest that wasn't, as they were after each trial,
// and shades the gap that is left.
func (c *Capacity) drawBounds(p *picture.Picture, plot picture.Box, y picture.Scale) {
	step := plot.W / float64(max(1, len(c.Trials)))
	if c.Sustained > 0 && c.Failed > 0 {
		p.Rect(plot.X, y.At(float64(c.Failed)), plot.W, y.At(float64(c.Sustained))-y.At(float64(c.Failed)), picture.Grid)
	}
	var lower, upper []picture.Point
	for i, t := range c.Trials {
		from, to := plot.X+step*float64(i)+step/2, plot.X+step*float64(i+1)+step/2
		to = min(to, plot.X+plot.W)
		if t.Lower > 0 {
			lower = append(lower, picture.Point{X: from, Y: y.At(float64(t.Lower))}, picture.Point{X: to, Y: y.At(float64(t.Lower))})
		}
		if t.Upper > 0 {
			upper = append(upper, picture.Point{X: from, Y: y.At(float64(t.Upper))}, picture.Point{X: to, Y: y.At(float64(t.Upper))})
		}
	}
	join(p, lower, picture.Stroke{Color: picture.Text, Width: 1.5})
	join(p, upper, picture.Stroke{Color: picture.Text, Width: 1.5, Dash: "5 3"})
	var names []picture.Label
	if c.Failed > 0 {
		names = append(names, picture.Label{Y: y.At(float64(c.Failed)) + 4, Text: c.upperText()})
	}
	if c.Sustained > 0 {
		names = append(names, picture.Label{Y: y.At(float64(c.Sustained)) + 4, Text: "sustains " + picture.Count(c.Sustained)})
	}
	x := plot.X + plot.W + 8
	for i, at := range picture.Spread(names, 16, plot.Y+8, plot.Y+plot.H) {
		p.Fitted(x, at, names[i].Text, p.Width-x, picture.TextStyle{})
	}
}

func (c *Capacity) upperText() string {
	for _, t := range c.Trials {
		if t.Load == c.Failed && t.Outcome == benchmark.OutcomeSaturated {
			return "clients' limit " + picture.Count(c.Failed)
		}
	}
	return "fails at " + picture.Count(c.Failed)
}

// drawTrial draws a trial: a dot if it passed, a cross if it failed, hatched if it was none.
func (c *Capacity) drawTrial(p *picture.Picture, plot picture.Box, y picture.Scale, i int) {
	t := &c.Trials[i]
	x, at := c.x(plot, i), y.At(float64(t.Load))
	tip := fmt.Sprintf("trial %d, %s: %s", i+1, picture.Count(t.Load), t.text())
	switch {
	case !t.Valid || t.Outcome == benchmark.OutcomeSaturated:
		outline(p, x-5, at-5, 10, 10, picture.Bad, tip)
		p.Hatched(x-5, at-5, 10, 10, picture.Bad, tip)
	case t.Outcome == benchmark.OutcomePassed:
		p.Circle(x, at, 4, picture.Good, false, tip)
	default:
		p.Cross(x, at, 4.5, picture.Bad, tip)
	}
}

// text says how the trial ended.
func (t *Trial) text() string {
	switch {
	case !t.Valid:
		return "invalid: " + t.Reason
	case t.Outcome == benchmark.OutcomeSaturated:
		return "clients were the limit: no trial"
	case t.Outcome == benchmark.OutcomePassed:
		return "passed"
	}
	return "failed: " + t.Reason
}

func (c *Capacity) drawOrder(p *picture.Picture, plot picture.Box, bottom float64) {
	every := 1
	for plot.W/float64(max(1, len(c.Trials)))*float64(every) < 24 {
		every *= 2
	}
	for i := 0; i < len(c.Trials); i += every {
		p.Text(c.x(plot, i), bottom+18, fmt.Sprint(i+1), picture.TextStyle{Color: picture.Muted, Anchor: picture.Middle})
	}
	p.Text(plot.X+plot.W/2, bottom+36, "trial, in order", picture.TextStyle{Color: picture.Muted, Anchor: picture.Middle})
	p.Clipped(0, bottom+54, "● passed, ✕ failed; hatched: clients' limit, invalid", p.Width, picture.TextStyle{Color: picture.Muted})
	p.Clipped(0, bottom+70, "in the plots below the load, hollow: not passed", p.Width, picture.TextStyle{Color: picture.Muted})
}

// capacityLane is a plot below that of the loads.
type capacityLane struct {
	picture.Box
	name  string
	scale picture.Scale
	of    func(*Trial) *float64
	bound float64 // 0 for none
	text  string  // of the bound
}

func (c *Capacity) lanes(above picture.Box) (lanes []capacityLane) {
	add := func(name string, logScale bool, bound float64, text string, of func(*Trial) *float64) {
		low, high, any := math.Inf(1), math.Inf(-1), false
		for i := range c.Trials {
			if x := of(&c.Trials[i]); x != nil {
				low, high, any = min(low, *x), max(high, *x), true
			}
		}
		if !any {
			return
		}
		if bound > 0 {
			low, high = min(low, bound), max(high, bound)
		}
		b := picture.Box{X: above.X, Y: above.Y + above.H + 34 + float64(len(lanes))*124, W: above.W, H: 90}
		s := picture.Range(low, high, b.Y+b.H, b.Y)
		if logScale {
			s = picture.Logarithmic(low, high, b.Y+b.H, b.Y)
		}
		lanes = append(lanes, capacityLane{b, name, s, of, bound, text})
	}
	add("achieved, % of the load", false, achievedBound, "99% needed", func(t *Trial) *float64 { return t.AchievedPercent })
	add(c.LatencyAxis, true, c.LatencyBound, fmt.Sprintf("threshold %s ms", picture.Significant(c.LatencyBound)), func(t *Trial) *float64 { return t.LatencyP99 })
	return lanes
}

// achievedBound is the share of the load in percent that a trial must achieve to pass.
const achievedBound = 99

func (l *capacityLane) draw(p *picture.Picture, c *Capacity, plot picture.Box) {
	yAxis(p, l.Box, &l.scale, l.name)
	if l.bound > 0 {
		y := l.scale.At(l.bound)
		p.Line(l.X, y, l.X+l.W, y, picture.Stroke{Color: picture.AxisColor, Dash: "3 3"})
		p.Fitted(l.X+l.W+8, y+4, l.text, p.Width-l.X-l.W-8, picture.TextStyle{Color: picture.Muted})
	}
	for i := range c.Trials {
		if x := l.of(&c.Trials[i]); x != nil {
			p.Circle(c.x(plot, i), l.scale.At(*x), 3, picture.Text, c.Trials[i].Outcome != benchmark.OutcomePassed, fmt.Sprintf("trial %d: %s", i+1, picture.Significant(*x)))
		}
	}
}
