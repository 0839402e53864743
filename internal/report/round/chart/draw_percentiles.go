package chart

import (
	"fmt"
	"math"
	"slices"

	"github.com/assay-dev/assay/internal/report/picture"
	"github.com/assay-dev/assay/internal/report/round"
)

const differenceHeight = 130.0

// Draw draws both curves and, below them on the same axis, the difference.
func (c *Percentiles) Draw(width float64) *picture.Picture {
	plot := c.plot(width)
	below := picture.Box{X: plot.X, Y: plot.Y + plot.H + 46, W: plot.W, H: differenceHeight}
	p := picture.New(width, below.Y+below.H+58)
	p.Describe("Percentile curves of "+c.Curves[0].Name+" and "+c.Curves[1].Name, c.summary())
	c.drawCurves(p, plot)
	c.drawDifferences(p, plot, below)
	c.drawShares(p, plot, below.Y+below.H)
	return p
}

// DrawCurves draws the curves alone.
func (c *Percentiles) DrawCurves(width float64) *picture.Picture {
	plot := c.plot(width)
	p := picture.New(width, plot.Y+plot.H+58)
	p.Describe("Percentile curves of "+c.Curves[0].Name+" and "+c.Curves[1].Name, c.summary())
	c.drawCurves(p, plot)
	c.drawShares(p, plot, plot.Y+plot.H)
	return p
}

// DrawDifferences draws the difference alone.
func (c *Percentiles) DrawDifferences(width float64) *picture.Picture {
	plot := c.plot(width)
	below := picture.Box{X: plot.X, Y: 44, W: plot.W, H: differenceHeight}
	p := picture.New(width, below.Y+below.H+58)
	p.Describe("Difference of "+c.Curves[1].Name+" from "+c.Curves[0].Name+" by percentile", c.summary())
	c.drawDifferences(p, plot, below)
	c.drawShares(p, plot, below.Y+below.H)
	return p
}

func (c *Percentiles) plot(width float64) picture.Box {
	right := 170.0
	if width < picture.NarrowWidth {
		right = 20
	}
	top := 40.0
	if width < picture.NarrowWidth {
		top = 76
	}
	return picture.Box{X: axisLeft, Y: top, W: width - axisLeft - right, H: 260}
}

func (c *Percentiles) summary() string {
	a, b := c.Curves[0], c.Curves[1]
	text := fmt.Sprintf("%s: %s requests, the longest in %s ms; %s: %s requests, the longest in %s ms", a.Name, picture.Count(a.Count), picture.Significant(a.Max),
		b.Name, picture.Count(b.Count), picture.Significant(b.Max))
	if len(c.Differences) > 0 {
		low := slices.MinFunc(c.Differences, func(x, y Difference) int { return compareFloat(x.Percent, y.Percent) })
		high := slices.MaxFunc(c.Differences, func(x, y Difference) int { return compareFloat(x.Percent, y.Percent) })
		text += fmt.Sprintf(". The percentiles of %s differ by %s to %s", b.Name, picture.Minus(round.SignedPercent(low.Percent)), picture.Minus(round.SignedPercent(high.Percent)))
	}
	return text + ". One run each: this doesn't tell which is better."
}

func compareFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// x returns the scale of the shares, from all requests to one of the larger count.
func (c *Percentiles) x(plot picture.Box) picture.Scale {
	return picture.LogarithmicExact(1, float64(max(2, c.Curves[0].Count, c.Curves[1].Count)), plot.X, plot.X+plot.W)
}

func (c *Percentiles) drawCurves(p *picture.Picture, plot picture.Box) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, curve := range c.Curves {
		for _, point := range curve.Points {
			if point.Milliseconds > 0 {
				low, high = min(low, point.Milliseconds), max(high, point.Milliseconds)
			}
		}
	}
	x, y := c.x(plot), picture.Logarithmic(low, high, plot.Y+plot.H, plot.Y)
	yAxis(p, plot, &y, "latency, ms ("+c.Axis+")")
	names := make([]picture.Label, 2)
	for i, curve := range c.Curves {
		var thick, thin []picture.Point
		for _, at := range curve.Points {
			if at.Milliseconds <= 0 {
				continue
			}
			place := picture.Point{X: x.At(at.OneIn), Y: y.At(at.Milliseconds)}
			if !at.Thin {
				thick = append(thick, place)
				thin = []picture.Point{place}
			} else {
				thin = append(thin, place)
			}
		}
		join(p, thick, picture.Stroke{Color: picture.Variant(i), Width: 2})
		join(p, thin, picture.Stroke{Color: picture.Variant(i)})
		last := curve.Points[len(curve.Points)-1]
		p.Marker(x.At(last.OneIn), y.At(max(low, last.Milliseconds)), i, false, fmt.Sprintf("%s: longest %s ms", curve.Name, picture.Significant(curve.Max)))
		names[i] = picture.Label{Y: y.At(max(low, last.Milliseconds)) + 4, Text: curve.Name}
	}
	if p.Width < picture.NarrowWidth {
		for i := range names {
			p.Marker(6, 12+20*float64(i), i, false, "")
			p.Clipped(18, 16+20*float64(i), names[i].Text, p.Width-20, picture.TextStyle{})
		}
		return
	}
	for i, at := range picture.Spread(names, 16, plot.Y+8, plot.Y+plot.H) {
		p.Marker(plot.X+plot.W+12, at-4, i, false, "")
		p.Clipped(plot.X+plot.W+22, at, names[i].Text, p.Width-plot.X-plot.W-22, picture.TextStyle{})
	}
}

func (c *Percentiles) drawDifferences(p *picture.Picture, plot, below picture.Box) {
	tolerance := float64(c.TolerancePercent)
	reach := math.Abs(math.Log1p(tolerance/100)) * 1.3
	for _, d := range c.Differences {
		if d.Percent > -100 {
			reach = max(reach, math.Abs(math.Log1p(d.Percent/100)))
		}
	}
	y := picture.LogRatio(100*math.Expm1(reach), below.Y+below.H, below.Y)
	if tolerance > 0 {
		p.Rect(below.X, y.At(tolerance), below.W, y.At(-tolerance)-y.At(tolerance), picture.Band)
		p.Line(below.X, y.At(tolerance), below.X+below.W, y.At(tolerance), picture.Stroke{Color: picture.AxisColor})
		p.Line(below.X, y.At(-tolerance), below.X+below.W, y.At(-tolerance), picture.Stroke{Color: picture.AxisColor})
	}
	p.Line(below.X, y.At(0), below.X+below.W, y.At(0), picture.Stroke{Color: picture.Text})
	drawChanges(p, below, &y)
	p.Clipped(0, below.Y-12, fmt.Sprintf("latency of %s against %s, %%", c.Curves[1].Name, c.Curves[0].Name), p.Width, picture.TextStyle{Color: picture.Muted})
	x := c.x(plot)
	var points []picture.Point
	for _, d := range c.Differences {
		points = append(points, picture.Point{X: x.At(d.OneIn), Y: y.At(d.Percent)})
	}
	join(p, points, picture.Stroke{Color: picture.Variant(1), Width: 2})
}

// drawChanges draws the labels of changes at the left of a plot, as many as have room above and below no change.
func drawChanges(p *picture.Picture, plot picture.Box, y *picture.Scale) {
	const room = 16
	style := picture.TextStyle{Color: picture.Muted, Anchor: picture.End}
	p.Text(plot.X-8, y.At(0)+4, "0", style)
	for _, up := range []bool{true, false} {
		last := y.At(0)
		for _, change := range []float64{5, 10, 20, 50, 100, 400} {
			if !up {
				change = max(-change, -80)
			}
			if at, beyond := y.Place(change); !beyond && math.Abs(at-last) >= room {
				p.Text(plot.X-8, at+4, picture.ChangeLabel(change), style)
				last = at
			}
		}
	}
}

// drawShares draws the axis of the shares: the percentiles and, below, of how many requests one takes longer.
func (c *Percentiles) drawShares(p *picture.Picture, plot picture.Box, bottom float64) {
	x := c.x(plot)
	p.Line(plot.X, bottom, plot.X+plot.W, bottom, picture.Stroke{Color: picture.AxisColor})
	last := math.Inf(-1)
	for _, t := range []struct {
		oneIn         float64
		percent, text string
	}{
		{1, "0%", "all"}, {2, "50%", "1 in 2"}, {10, "90%", "1 in 10"}, {100, "99%", "1 in 100"}, {1000, "99.9%", "1 in 1,000"},
		{10_000, "99.99%", "1 in 10,000"}, {100_000, "99.999%", "1 in 100,000"}, {1_000_000, "99.9999%", "1 in 1,000,000"}, {10_000_000, "99.99999%", "1 in 10,000,000"},
	} {
		at, beyond := x.Place(t.oneIn)
		half := max(picture.TextWidth(t.percent, picture.TextStyle{}), picture.TextWidth(t.text, picture.TextStyle{})) / 2
		if beyond || at-half < last+6 || at+half > p.Width {
			continue
		}
		last = at + half
		p.Line(at, bottom, at, bottom+4, picture.Stroke{Color: picture.AxisColor})
		p.Text(at, bottom+18, t.percent, picture.TextStyle{Color: picture.Muted, Anchor: picture.Middle})
		p.Text(at, bottom+34, t.text, picture.TextStyle{Color: picture.Muted, Anchor: picture.Middle})
	}
	p.Centered(plot.X+plot.W/2, bottom+52, "percentile: share of requests that took no longer", picture.TextStyle{Color: picture.Muted})
}
