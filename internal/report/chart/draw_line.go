package chart

import (
	"math"

	"github.com/assay-dev/assay/internal/report/picture"
)

// drawLine draws a line: as steps if points are wide enough, else through their middles. Where several points share a
// pixel, the least and the largest are drawn, so that no extreme is lost.
func (t *Timeline) drawLine(p *picture.Picture, line *Line, x, y *picture.Scale) {
	n := t.Points()
	pixels := (x.At(t.End) - x.At(0)) / float64(max(1, n))
	var points []picture.Point
	for i, v := range line.Values {
		if math.IsNaN(v) {
			points = append(points, picture.Gap())
			continue
		}
		at := y.At(v)
		if line.Step && pixels >= stepPixels && n > fewPoints {
			points = append(points, picture.Point{X: x.At(t.Times[i]), Y: at}, picture.Point{X: x.At(t.Times[i+1]), Y: at})
			continue
		}
		points = append(points, picture.Point{X: x.At((t.Times[i] + t.Times[i+1]) / 2), Y: at})
	}
	switch {
	case n <= fewPoints:
		p.Dots(points, 3, line.Color)
	case line.Dots:
		p.Dots(highest(points), 1.5, line.Color)
	default:
		s := picture.Stroke{Color: line.Color, Width: line.Width, Dash: line.Dash}
		if pixels < 1 { // many points would make a wide line an area
			s.Width = 1
		}
		p.Path(thinned(points), s)
	}
}

// thinned returns a line with at most two points of each column of pixels: the least and the largest, in their order. Gaps
// stay.
func thinned(points []picture.Point) []picture.Point {
	var kept []picture.Point
	for from := 0; from < len(points); {
		if points[from].IsGap() {
			if len(kept) > 0 && !kept[len(kept)-1].IsGap() {
				kept = append(kept, points[from])
			}
			from++
			continue
		}
		to, low, high := from, from, from
		for ; to < len(points) && !points[to].IsGap() && math.Floor(points[to].X) == math.Floor(points[from].X); to++ {
			if points[to].Y < points[high].Y {
				high = to
			}
			if points[to].Y > points[low].Y {
				low = to
			}
		}
		last := -1
		for _, i := range [...]int{min(low, high), max(low, high)} {
			if i != last {
				kept, last = append(kept, points[i]), i
			}
		}
		from = to
	}
	return kept
}

// highest returns the highest point of each column of pixels.
func highest(points []picture.Point) []picture.Point {
	var kept []picture.Point
	for _, at := range points {
		if at.IsGap() {
			continue
		}
		if last := len(kept) - 1; last >= 0 && math.Floor(kept[last].X) == math.Floor(at.X) {
			if at.Y < kept[last].Y {
				kept[last] = at
			}
			continue
		}
		kept = append(kept, at)
	}
	return kept
}

// drawStack draws the lines as columns on top of each other, in their order from below. Where several points share a
// pixel, the one with the largest sum is drawn.
func (t *Timeline) drawStack(p *picture.Picture, l *Lane, x, y *picture.Scale) {
	var columns []int // the points that are drawn
	for i := range t.Points() {
		if last := len(columns) - 1; last >= 0 && math.Floor(x.At(t.Times[columns[last]])) == math.Floor(x.At(t.Times[i])) {
			if l.sum(i) > l.sum(columns[last]) {
				columns[last] = i
			}
			continue
		}
		columns = append(columns, i)
	}
	below := make([]float64, len(columns))
	for i := range l.Lines {
		line := &l.Lines[i]
		var areas [][]picture.Point
		for c, at := range columns {
			v := line.Values[at]
			if math.IsNaN(v) || v == 0 {
				continue
			}
			left, right := x.At(t.Times[at]), x.At(t.Times[at+1])
			gap := 0.0
			if right-left >= stepPixels {
				gap = 1
			}
			right = max(right-gap, left+1)
			areas = append(areas, []picture.Point{{X: left, Y: y.At(below[c])}, {X: left, Y: y.At(below[c] + v)}, {X: right, Y: y.At(below[c] + v)}, {X: right, Y: y.At(below[c])}})
			below[c] += v
		}
		p.Areas(areas, line.Color)
	}
}
