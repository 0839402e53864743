package picture

import (
	"cmp"
	"math"
	"slices"
)

// Box is a rectangle: most often the plot within a picture.
type Box struct{ X, Y, W, H float64 }

// Right and Bottom return the box's edges.
func (b Box) Right() float64 { return b.X + b.W }

// Bottom is described at Right.
func (b Box) Bottom() float64 { return b.Y + b.H }

// YAxis draws the grid and the labels of a scale at the left of a plot, and the axis's name with its unit above it.
func (p *Picture) YAxis(plot Box, s *Scale, name string) {
	p.Grid(plot, s)
	p.Clipped(0, plot.Y-12, name, p.Width, TextStyle{Color: Muted})
}

// Grid draws the grid and the labels of a scale at the left of a plot.
func (p *Picture) Grid(plot Box, s *Scale) {
	for _, t := range s.Ticks {
		y := s.At(t.Value)
		p.Line(plot.X, y, plot.Right(), y, Stroke{Color: Grid})
		p.Text(plot.X-8, y+4, t.Label, TextStyle{Color: Muted, Anchor: End})
	}
}

// XAxis draws the line and the labels of a scale below a plot, and the axis's name with its unit below them; it takes 40
// pixels, or 22 without a name. Labels that would touch the one before are omitted.
func (p *Picture) XAxis(plot Box, s *Scale, name string) {
	p.Line(plot.X, plot.Bottom(), plot.Right(), plot.Bottom(), Stroke{Color: AxisColor})
	last := math.Inf(-1)
	for _, t := range s.Ticks {
		x := s.At(t.Value)
		p.Line(x, plot.Bottom(), x, plot.Bottom()+4, Stroke{Color: AxisColor})
		half := TextWidth(t.Label, TextStyle{}) / 2
		if x-half < last+6 {
			continue
		}
		last = x + half
		p.Text(min(x, p.Width-half), plot.Bottom()+18, t.Label, TextStyle{Color: Muted, Anchor: Middle})
	}
	if name != "" {
		p.Centered(plot.X+plot.W/2, plot.Bottom()+36, name, TextStyle{Color: Muted})
	}
}

// Label is a text that wants to be at a height.
type Label struct {
	Y    float64
	Text string
}

// Spread returns the heights of labels, at least gap apart and between top and bottom, each as near to its own as there is
// room. If there is too little room for all, they are as far apart as they can be.
func Spread(labels []Label, gap, top, bottom float64) []float64 {
	n := len(labels)
	if n == 0 {
		return nil
	}
	if n > 1 {
		gap = min(gap, (bottom-top)/float64(n-1))
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(labels[a].Y, labels[b].Y) })
	at := make([]float64, n)
	low := top
	for _, i := range order {
		at[i] = max(labels[i].Y, low)
		low = at[i] + gap
	}
	high := bottom
	for _, i := range slices.Backward(order) {
		at[i] = min(at[i], high)
		high = at[i] - gap
	}
	return at
}
