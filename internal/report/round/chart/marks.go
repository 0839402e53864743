package chart

import "github.com/assay-dev/assay/internal/report/picture"

// mediumWidth is the width in pixels below which names have less room.
const mediumWidth = 800

// outline draws a rectangle that has no shade: nothing is known that a shade could say.
func outline(p *picture.Picture, x, y, w, h float64, color picture.Color, tip string) {
	p.TippedRect(x, y, w, h, picture.Plot, tip)
	corners := []picture.Point{{X: x + 1, Y: y + 1}, {X: x + w - 1, Y: y + 1}, {X: x + w - 1, Y: y + h - 1}, {X: x + 1, Y: y + h - 1}, {X: x + 1, Y: y + 1}}
	p.Path(corners, picture.Stroke{Color: color, Width: 1.5})
}

// join draws a line through points, if there are two at least: a single one has a mark already.
func join(p *picture.Picture, points []picture.Point, s picture.Stroke) {
	if len(points) > 1 {
		p.Path(points, s)
	}
}

// yAxis draws the grid and the labels of a scale at the left of a plot, and the axis's name above the plot: several plots
// may be next to each other.
func yAxis(p *picture.Picture, plot picture.Box, y *picture.Scale, name string) {
	p.Grid(plot, y)
	p.Clipped(plot.X-axisLeft, plot.Y-12, name, plot.W+axisLeft, picture.TextStyle{Color: picture.Muted})
}
