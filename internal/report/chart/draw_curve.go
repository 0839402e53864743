package chart

import (
	"fmt"
	"math"

	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/report/plot"
)

// Figure draws the curves: the share of requests on a logarithmic axis of 1/(1-p), so that each further nine has the same
// room, and the latency on a logarithmic one.
func (c *Curves) Figure() *plot.Figure {
	if c == nil {
		return nil
	}
	p := plot.Plot{Axis: "latency (" + c.Name + "), ms, log scale", Height: 280, X: plot.Shares(float64(c.Merged.Count)), XName: plot.SharesName, Y: c.scale(), Invalid: c.Invalid}
	if len(c.Envelope) > 0 {
		var low, high []plot.Point
		for _, b := range c.Envelope {
			low, high = append([]plot.Point{{X: b.OneIn, Y: b.Low}}, low...), append(high, plot.Point{X: b.OneIn, Y: b.High})
		}
		p.Marks = append(p.Marks, plot.Area{Color: plot.Grid, Outlines: [][]plot.Point{append(high, low...)}})
	}
	for i := range c.Clients {
		p.Marks = append(p.Marks, c.Clients[i].Lines(plot.Stroke{Color: plot.AxisColor})...)
	}
	p.Names = []plot.Name{{Text: c.Merged.Name, Y: c.Merged.Max, Stroke: plot.Stroke{Color: plot.Ink, Width: 2}, Bold: true}}
	for i, dash := 0, []string{"6 3", "1.5 3"}; i < len(c.Others); i++ {
		s := plot.Stroke{Color: plot.P99, Width: 1.5, Dash: dash[i%len(dash)]}
		p.Marks = append(p.Marks, c.Others[i].Lines(s)...)
		p.Names = append(p.Names, plot.Name{Text: c.Others[i].Name, Y: c.Others[i].Max, Stroke: s})
	}
	p.Marks = append(p.Marks, c.Merged.Lines(plot.Stroke{Color: plot.Ink, Width: 2})...)
	switch n := len(c.Clients); {
	case len(c.Envelope) > 0:
		p.Names = append(p.Names, plot.Name{Text: c.Clients[0].Name, Y: c.Clients[0].Max, Stroke: plot.Stroke{Color: plot.AxisColor}},
			plot.Name{Text: "range of clients", Y: c.Envelope[len(c.Envelope)-1].Low, Stroke: plot.Stroke{Color: plot.Grid}, Box: true})
	case n > 0:
		p.Names = append(p.Names, plot.Name{Text: fmt.Sprintf("%d clients", n), Y: c.Clients[n-1].Max, Stroke: plot.Stroke{Color: plot.AxisColor}})
	}
	p.Marks = append(p.Marks, c.marked()...)
	for _, b := range c.Bounds {
		p.Marks = append(p.Marks, c.bound(&b)...)
	}
	return plot.Of("Percentile curve, "+c.Name, c.Summary(), p)
}

func (c *Curves) scale() plot.Scale {
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
	return plot.Logarithmic(low, high)
}

// Lines returns a curve; from where fewer than 10 requests lie beyond, it is thin.
func (c *Curve) Lines(s plot.Stroke) []plot.Mark {
	var thick, thin []plot.Point
	for _, at := range c.Points {
		place := plot.Point{X: at.OneIn, Y: at.Milliseconds}
		if at.OneIn <= c.Thin() {
			thick = append(thick, place)
			thin = thin[:0]
		}
		thin = append(thin, place)
	}
	light := s
	light.Width = min(1, s.Width)
	return []plot.Mark{plot.Line{Stroke: s, Points: thick}, plot.Line{Stroke: light, Points: thin}}
}

// bound returns a bracket at a threshold's percentile: what is above it is missed.
func (c *Curves) bound(b *CurveBound) []plot.Mark {
	color, word := plot.Good, "met"
	if !b.Met {
		color, word = plot.Bad, "MISSED"
	}
	if c.Invalid {
		color, word = plot.Same, "unknown: result not valid"
	}
	at, wide := plot.Point{X: b.OneIn, Y: b.Milliseconds}, math.Pow(float64(max(2, c.Merged.Count)), 0.012)
	text := plot.Text{At: at, DX: 12, DY: -4, Text: b.Text + ": " + word, Color: color}
	if math.Log(b.OneIn) > 0.5*math.Log(float64(c.Merged.Count)) {
		text.Anchor, text.DX = plot.End, -12
	}
	if curve := c.Merged.at(b.OneIn); curve > b.Milliseconds || b.Milliseconds/curve < 1.5 { // beside the curve, and not over the names at it
		text.DY = 20
	}
	return []plot.Mark{plot.Interval{Stroke: plot.Stroke{Color: color, Width: 2}, From: plot.Point{X: b.OneIn / wide, Y: at.Y}, To: plot.Point{X: b.OneIn * wide, Y: at.Y}, Caps: 3}, text}
}

// marked writes some percentiles and the maximum at the merged curve.
func (c *Curves) marked() (all []plot.Mark) {
	mark := func(name string, oneIn, ms float64) {
		name += " " + number.Unit(number.Significant(ms), "ms")
		at := plot.Point{X: oneIn, Y: ms}
		text := plot.Text{At: at, DX: -4, DY: -8, Text: name, Anchor: plot.End, Bold: true}
		if oneIn < 4 {
			text.Anchor, text.DX, text.DY = plot.Start, 6, 18
		}
		all = append(all, plot.Dot{At: at, Color: plot.Ink, Tip: name}, text)
	}
	mark("max", float64(c.Merged.Count), c.Merged.Max)
	for i := len(Marked) - 1; i >= 0; i-- {
		if oneIn := OneIn(Marked[i]); oneIn <= float64(c.Merged.Count) {
			mark("p"+Marked[i].String(), oneIn, float64(c.Merged.Percentiles[Marked[i]])/1000)
		}
	}
	return all
}
