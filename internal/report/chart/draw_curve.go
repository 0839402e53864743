package chart

import (
	"fmt"
	"math"

	"github.com/assay-dev/assay/internal/report/picture"
)

const curveHeight = 280

// Draw draws the curves: the share of requests on a logarithmic axis of 1/(1-p), so that each further nine has the same
// room, and the latency on a logarithmic one.
func (c *Curves) Draw(width float64) *picture.Picture {
	title := newHeading("latency ("+c.Name+"), ms, log scale", width)
	box := Frame(width)
	box.Y, box.H = title.below+invalidStrip+8, curveHeight // the name of the maximum is above the plot
	p := picture.New(width, box.Bottom()+58)
	p.Describe("Percentile curve, "+c.Name, c.Summary())
	title.draw(p)
	x := picture.LogarithmicExact(1, math.Max(2, float64(c.Merged.Count)), box.X, box.Right())
	y := c.scale(box)
	p.Grid(box, &y)
	if c.Invalid {
		p.Hatched(box.X, box.Y-invalidStrip, box.W, invalidStrip, picture.Bad, "not a result: the run is invalid")
	}
	c.drawClients(p, &x, &y)
	dash := []string{"6 3", "1.5 3"}
	for i := range c.Others {
		c.drawCurve(p, &c.Others[i], &x, &y, picture.Stroke{Color: picture.P99, Width: 1.5, Dash: dash[i%len(dash)]})
	}
	c.drawCurve(p, &c.Merged, &x, &y, picture.Stroke{Color: picture.Text, Width: 2})
	c.drawBounds(p, &x, &y)
	c.drawMarked(p, box, &x, &y)
	c.drawNames(p, box, &y)
	DrawShares(p, box, &x)
	return p
}

func (c *Curves) scale(box picture.Box) picture.Scale {
	low, high := math.Inf(1), c.Merged.Max
	for _, curve := range append([]Curve{c.Merged}, append(c.Clients, c.Others...)...) {
		if curve.Name == "start delay" { // most are some microseconds, which would take all of the axis
			continue
		}
		for _, at := range curve.Points {
			if at.Milliseconds > 0 {
				low = min(low, at.Milliseconds)
			}
		}
	}
	for _, b := range c.Bounds {
		low, high = min(low, b.Milliseconds), max(high, b.Milliseconds)
	}
	return picture.Logarithmic(low, high, box.Bottom(), box.Y)
}

// drawCurve draws a curve; from where fewer than 10 requests lie beyond, it is thin.
func (c *Curves) drawCurve(p *picture.Picture, curve *Curve, x, y *picture.Scale, s picture.Stroke) {
	var thick, thin []picture.Point
	for _, at := range curve.Points {
		place := picture.Point{X: x.At(at.OneIn), Y: y.At(at.Milliseconds)}
		if at.OneIn <= curve.Thin() {
			thick = append(thick, place)
			thin = thin[:0]
		}
		thin = append(thin, place)
	}
	p.Path(thick, s)
	s.Width = min(1, s.Width)
	p.Path(thin, s)
}

func (c *Curves) drawClients(p *picture.Picture, x, y *picture.Scale) {
	if len(c.Envelope) > 0 {
		var outline []picture.Point
		for _, b := range c.Envelope {
			outline = append(outline, picture.Point{X: x.At(b.OneIn), Y: y.At(b.High)})
		}
		for i := len(c.Envelope) - 1; i >= 0; i-- {
			outline = append(outline, picture.Point{X: x.At(c.Envelope[i].OneIn), Y: y.At(c.Envelope[i].Low)})
		}
		p.Area(outline, picture.Grid)
	}
	for i := range c.Clients {
		c.drawCurve(p, &c.Clients[i], x, y, picture.Stroke{Color: picture.AxisColor})
	}
}

// drawBounds draws a bracket at each threshold's percentile: what is above it is missed.
func (c *Curves) drawBounds(p *picture.Picture, x, y *picture.Scale) {
	for _, b := range c.Bounds {
		at, height := x.At(b.OneIn), y.At(b.Milliseconds)
		color, word := picture.Good, "met"
		if !b.Met {
			color, word = picture.Bad, "MISSED"
		}
		if c.Invalid {
			color, word = picture.Same, "unknown: result not valid"
		}
		p.Path([]picture.Point{{X: at - 8, Y: height - 5}, {X: at - 8, Y: height}, {X: at + 8, Y: height}, {X: at + 8, Y: height - 5}}, picture.Stroke{Color: color, Width: 2})
		if p.Width < picture.NarrowWidth { // there is no room for words, which the section of thresholds has
			continue
		}
		text, style, left := b.Text+": "+word, picture.TextStyle{Color: color}, at+12
		if left+picture.TextWidth(text, style) > p.Width {
			style.Anchor, left = picture.End, at-12
		}
		const apart = 40 // from which on a text above the bracket is far from the names at the curve, and from the curve
		curve := y.At(c.Merged.at(b.OneIn))
		if curve-height >= apart {
			height -= 10
		} else {
			height = max(height, curve) + 16
		}
		p.Text(left, height, text, style)
	}
}

// drawMarked writes some percentiles and the maximum at the merged curve.
func (c *Curves) drawMarked(p *picture.Picture, box picture.Box, x, y *picture.Scale) {
	mark := func(name string, oneIn, ms float64) {
		at, height := x.At(oneIn), y.At(ms)
		text := picture.Unit(picture.Significant(ms), "ms")
		p.Circle(at, height, 3, picture.Text, false, name+" "+text)
		up := height - 8
		style, left := picture.TextStyle{Anchor: picture.End, Bold: true}, at-4
		if left-picture.TextWidth(name+" "+text, style) < box.X {
			style.Anchor, left, up = picture.Start, at+6, height+18
		}
		p.Text(left, up, name+" "+text, style)
	}
	last := math.Inf(-1)
	end := x.At(float64(c.Merged.Count))
	for _, of := range Marked {
		oneIn := OneIn(of)
		if at := x.At(oneIn); oneIn <= float64(c.Merged.Count) && at-last > 84 && end-at > 84 {
			mark("p"+of.String(), oneIn, float64(c.Merged.Percentiles[of])/1000)
			last = at
		}
	}
	mark("max", float64(c.Merged.Count), c.Merged.Max)
}

func (c *Curves) drawNames(p *picture.Picture, box picture.Box, y *picture.Scale) {
	if box.Right()+60 > p.Width { // the table and the caption name them
		return
	}
	var labels []picture.Label
	name := func(curve *Curve) {
		labels = append(labels, picture.Label{Y: y.At(curve.Max) + 4, Text: curve.Name})
	}
	name(&c.Merged)
	for i := range c.Others {
		name(&c.Others[i])
	}
	if len(c.Clients) > 0 && len(c.Envelope) == 0 {
		labels = append(labels, picture.Label{Y: y.At(c.Clients[len(c.Clients)-1].Max) + 4, Text: fmt.Sprintf("%d clients, thin", len(c.Clients))})
	}
	if len(c.Envelope) > 0 {
		name(&c.Clients[0])
		labels = append(labels, picture.Label{Y: y.At(c.Envelope[len(c.Envelope)-1].Low) + 4, Text: "range of clients"})
	}
	for i, at := range picture.Spread(labels, nameGap, box.Y+8, box.Bottom()) {
		p.Clipped(box.Right()+10, at, labels[i].Text, p.Width-box.Right()-10, picture.TextStyle{Bold: i == 0})
	}
}

// DrawShares draws the axis of percentiles below a plot: "99%" and below it "1 in 100". x is a scale of 1/(1-p). It takes
// 58 pixels.
func DrawShares(p *picture.Picture, box picture.Box, x *picture.Scale) {
	p.Line(box.X, box.Bottom(), box.Right(), box.Bottom(), picture.Stroke{Color: picture.AxisColor})
	last := math.Inf(-1)
	for i, nines := 1.0, 0; i <= x.High*(1+1e-9); i, nines = i*10, nines+1 {
		percent, text := "0%", "all"
		if nines > 0 {
			percent, text = ninesText(nines), "1 in "+picture.Count(int64(i))
		}
		at := x.At(i)
		p.Line(at, box.Bottom(), at, box.Bottom()+4, picture.Stroke{Color: picture.AxisColor})
		half := max(picture.TextWidth(percent, picture.TextStyle{}), picture.TextWidth(text, picture.TextStyle{})) / 2
		if at-half < last+6 || at+half > p.Width {
			continue
		}
		last = at + half
		p.Text(at, box.Bottom()+18, percent, picture.TextStyle{Color: picture.Muted, Anchor: picture.Middle})
		p.Text(at, box.Bottom()+34, text, picture.TextStyle{Color: picture.Muted, Anchor: picture.Middle})
	}
	p.Centered(box.X+box.W/2, box.Bottom()+52, "percentile: share of requests that took no longer", picture.TextStyle{Color: picture.Muted})
}

// ninesText returns the percentage of n nines: "90%", "99%", "99.9%".
func ninesText(n int) string {
	if n <= 2 {
		return [...]string{"0%", "90%", "99%"}[n]
	}
	text := "99."
	for range n - 2 {
		text += "9"
	}
	return text + "%"
}
