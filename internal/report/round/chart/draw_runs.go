package chart

import (
	"fmt"
	"math"

	"github.com/assay-dev/assay/internal/report/picture"
	"github.com/assay-dev/assay/internal/report/round"
)

const (
	// overlaid is the largest number of cells in one plot; more have a plot each.
	overlaid = 6
	// maxPanels is the largest number of plots; the table has all cells.
	maxPanels   = 24
	plotHeight  = 220.0
	panelHeight = 120.0
	axisLeft    = 62.0
)

// Draw draws the runs of each cell by block and, at the right, the cell's median with its interval.
func (r *Runs) Draw(width float64) *picture.Picture {
	if len(r.Cells) > overlaid {
		return r.drawPanels(width)
	}
	gutter := 220.0
	if width < picture.NarrowWidth {
		gutter = 96
	}
	top := 40.0
	if width < picture.NarrowWidth {
		top += 20 * float64(len(r.Cells))
	}
	lane := r.laneHeight()
	p := picture.New(width, top+plotHeight+lane+48)
	p.Describe(r.title(), r.summary())
	plot := picture.Box{X: axisLeft, Y: top, W: width - axisLeft - gutter, H: plotHeight}
	y := r.scale(plot, r.Cells)
	yAxis(p, plot, &y, r.axis(&y))
	r.drawBlocks(p, plot, lane)
	r.drawDots(p, plot, y, r.Cells, 0)
	r.drawEstimates(p, plot, y, width)
	return p
}

func (r *Runs) title() string { return round.MetricTitle(r.Metric) + " of each run, by block" }

// summary is the picture in a sentence.
func (r *Runs) summary() string {
	dots, low, high := 0, math.Inf(1), math.Inf(-1)
	for _, c := range r.Cells {
		for _, d := range c.Dots {
			dots, low, high = dots+1, min(low, d.Figure), max(high, d.Figure)
		}
	}
	if dots == 0 {
		return fmt.Sprintf("%s: no valid run. %d invalid.", r.title(), len(r.Invalid))
	}
	return fmt.Sprintf("%s: %d valid runs of %d cells from %s to %s, %d invalid.", r.title(), dots, len(r.Cells), r.text(low), r.text(high), len(r.Invalid))
}

// text formats a figure that is in the unit of the metric already.
func (r *Runs) text(figure float64) string { return picture.Significant(figure) }

// scale returns the y picture.Scale of cells: of their dots and intervals.
func (r *Runs) scale(plot picture.Box, cells []RunsCell) picture.Scale {
	low, high := math.Inf(1), math.Inf(-1)
	see := func(x float64) { low, high = min(low, x), max(high, x) }
	for _, c := range cells {
		for _, d := range c.Dots {
			see(d.Figure)
		}
		if e := c.Estimate; e != nil {
			for _, x := range []*float64{&e.Median, e.Low, e.High} {
				if x != nil {
					see(round.InUnit(r.Metric, *x))
				}
			}
		}
	}
	const wide = 4 // cells that differ by more are on a log scale
	if low > 0 && high > wide*low {
		return picture.Logarithmic(low, high, plot.Y+plot.H, plot.Y)
	}
	return picture.Range(low, high, plot.Y+plot.H, plot.Y)
}

// axis returns the name of the y axis.
func (r *Runs) axis(y *picture.Scale) string {
	name := r.Axis
	if y.Low > 0 && y.High > 4*y.Low {
		name += " (log)"
	}
	return name
}

// laneHeight is that of the lane of invalid runs below the plot.
func (r *Runs) laneHeight() float64 {
	if len(r.Invalid) == 0 {
		return 0
	}
	return 28
}

// x returns the place of a run of a block: the cells of a block are next to each other.
func (r *Runs) x(plot picture.Box, block, cell, cells int) float64 {
	slot := plot.W / float64(max(1, r.Blocks))
	return plot.X + slot*(float64(block)+0.5) + slot*0.6*(float64(cell)-float64(cells-1)/2)/float64(max(1, cells))
}

// drawBlocks draws the axis of the blocks, and the lane of the invalid runs where they were.
func (r *Runs) drawBlocks(p *picture.Picture, plot picture.Box, lane float64) {
	bottom := plot.Y + plot.H + lane
	every := 1
	for plot.W/float64(max(1, r.Blocks))*float64(every) < 26 {
		every *= 2
		if every > r.Blocks {
			break
		}
	}
	for block := 0; block < r.Blocks; block += every {
		p.Text(r.x(plot, block, 0, 1), bottom+16, fmt.Sprint(block+1), picture.TextStyle{Color: picture.Muted, Anchor: picture.Middle})
	}
	p.Text(plot.X+plot.W/2, bottom+34, "block", picture.TextStyle{Color: picture.Muted, Anchor: picture.Middle})
	if r.Whole < r.Blocks {
		x := plot.X + plot.W/float64(r.Blocks)*float64(r.Whole)
		p.Line(x, plot.Y, x, bottom, picture.Stroke{Color: picture.AxisColor, Dash: "3 3"})
		p.Text(min(x+4, plot.X+plot.W-4), plot.Y+12, "not whole", picture.TextStyle{Color: picture.Muted, Anchor: anchorAt(x+4, plot.X+plot.W-60)})
	}
	if lane == 0 {
		return
	}
	p.Text(plot.X-8, plot.Y+plot.H+lane-6, "invalid", picture.TextStyle{Color: picture.Bad, Anchor: picture.End})
	at := map[int]int{}
	for _, run := range r.Invalid {
		x := r.x(plot, run.Block, 0, 1) + 14*float64(at[run.Block])
		at[run.Block]++
		tip := run.Run + " of " + run.Cell + ": " + run.Reason
		outline(p, x-6, plot.Y+plot.H+lane-17, 12, 12, picture.Bad, tip)
		p.Hatched(x-6, plot.Y+plot.H+lane-17, 12, 12, picture.Bad, tip)
	}
}

func anchorAt(x, limit float64) picture.Anchor {
	if x > limit {
		return picture.End
	}
	return picture.Start
}

// drawDots draws the runs, and joins those of a block by a thin line.
func (r *Runs) drawDots(p *picture.Picture, plot picture.Box, y picture.Scale, cells []RunsCell, firstVariant int) {
	if len(cells) > 1 {
		for block := range r.Blocks {
			var points []picture.Point
			for i := range cells {
				for _, d := range cells[i].Dots {
					if d.Block == block {
						points = append(points, picture.Point{X: r.x(plot, block, i, len(cells)), Y: y.At(d.Figure)})
					}
				}
			}
			join(p, points, picture.Stroke{Color: picture.AxisColor})
		}
	}
	for i := range cells {
		for _, d := range cells[i].Dots {
			tip := fmt.Sprintf("%s: %s", d.Run, r.text(d.Figure))
			if !d.Whole {
				tip += ", not in a whole block"
			}
			p.Marker(r.x(plot, d.Block, i, len(cells)), y.At(d.Figure), firstVariant+i, !d.Whole, tip)
		}
	}
}

// drawEstimates draws each cell's median with its interval, and the cell's name.
func (r *Runs) drawEstimates(p *picture.Picture, plot picture.Box, y picture.Scale, width float64) {
	narrow := width < picture.NarrowWidth
	step := 16.0
	if narrow {
		step = 12
	}
	names := make([]picture.Label, len(r.Cells))
	for i := range r.Cells {
		c := &r.Cells[i]
		x := plot.X + plot.W + 14 + step*float64(i)
		at := plot.Y + 12
		text := c.Label
		if e := c.Estimate; e != nil {
			at = y.At(round.InUnit(r.Metric, e.Median))
			if e.Low != nil && e.High != nil {
				low, high := y.At(round.InUnit(r.Metric, *e.Low)), y.At(round.InUnit(r.Metric, *e.High))
				p.Line(x, low, x, high, picture.Stroke{Color: picture.Variant(i), Width: 2})
				p.Line(x-4, low, x+4, low, picture.Stroke{Color: picture.Variant(i), Width: 2})
				p.Line(x-4, high, x+4, high, picture.Stroke{Color: picture.Variant(i), Width: 2})
			}
			median, interval := round.EstimateTexts(e)
			p.Marker(x, at, i, false, c.Label+": "+median+" ("+interval+")")
			text += " " + median
		}
		names[i] = picture.Label{Y: at + 4, Text: text}
		if narrow {
			p.Marker(axisLeft+6, 30+20*float64(i), i, false, "")
			p.Clipped(axisLeft+18, 34+20*float64(i), text, width-axisLeft-30, picture.TextStyle{})
		}
	}
	if narrow {
		return
	}
	x := plot.X + plot.W + 14 + step*float64(len(r.Cells)) + 4
	for i, at := range picture.Spread(names, 15, plot.Y+10, plot.Y+plot.H) {
		p.Marker(x, at-4, i, false, "")
		p.Clipped(x+10, at, names[i].Text, width-x-12, picture.TextStyle{})
	}
}

// drawPanels draws a plot for each cell, all with the same scales.
func (r *Runs) drawPanels(width float64) *picture.Picture {
	columns := max(1, int(width/300))
	cells := r.Cells[:min(len(r.Cells), maxPanels)]
	rows := (len(cells) + columns - 1) / columns
	lane := r.laneHeight()
	height := panelHeight + lane + 100
	p := picture.New(width, height*float64(rows)+40)
	p.Describe(r.title(), r.summary())
	each := width / float64(columns)
	for i := range cells {
		plot := picture.Box{X: each*float64(i%columns) + axisLeft, Y: 52 + height*float64(i/columns), W: each - axisLeft - 34, H: panelHeight}
		y := r.scale(plot, cells)
		p.Clipped(plot.X, plot.Y-28, cells[i].Label, plot.W+20, picture.TextStyle{Size: 13, Bold: true})
		yAxis(p, plot, &y, r.axis(&y))
		one := *r
		one.Invalid = nil
		for _, run := range r.Invalid {
			if run.Cell == cells[i].Label {
				one.Invalid = append(one.Invalid, run)
			}
		}
		one.drawBlocks(p, plot, lane)
		one.drawDots(p, plot, y, cells[i:i+1], 0)
		r.drawPanelEstimate(p, plot, y, &cells[i])
	}
	if more := len(r.Cells) - len(cells); more > 0 {
		p.Text(0, height*float64(rows)+32, fmt.Sprintf("%d more cells are in the table.", more), picture.TextStyle{Color: picture.Muted})
	}
	return p
}

func (r *Runs) drawPanelEstimate(p *picture.Picture, plot picture.Box, y picture.Scale, c *RunsCell) {
	e := c.Estimate
	if e == nil {
		return
	}
	x := plot.X + plot.W + 12
	if e.Low != nil && e.High != nil {
		p.Line(x, y.At(round.InUnit(r.Metric, *e.Low)), x, y.At(round.InUnit(r.Metric, *e.High)), picture.Stroke{Color: picture.Variant(0), Width: 2})
	}
	median, interval := round.EstimateTexts(e)
	p.Marker(x, y.At(round.InUnit(r.Metric, e.Median)), 0, false, c.Label+": "+median+" ("+interval+")")
}
