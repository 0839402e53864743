package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/report/picture"
)

const (
	cellHeight = 34.0
	minCell    = 44.0
)

// DrawHeatMap draws each cell with its figure: medians in shades on a log scale, effects from better to worse.
func (g *Grid) DrawHeatMap(width float64) *picture.Picture {
	height := 8.0
	for i := range g.Panels {
		height += g.panelHeight(i)
	}
	p := picture.New(width, height+48)
	p.Describe(g.Summary(), g.range_())
	y := 8.0
	for i := range g.Panels {
		g.drawPanel(p, &g.Panels[i], y)
		y += g.panelHeight(i)
	}
	g.drawKey(p, y+8)
	return p
}

// range_ says between which figures those of the grid are.
func (g *Grid) range_() string {
	var low, high *GridCell
	unknown := 0
	for i := range g.Panels {
		for _, row := range g.Panels[i].Cells {
			for j := range row {
				switch c := &row[j]; {
				case c.Exists && c.Figure == nil:
					unknown++
				case !c.Exists:
				default:
					if low == nil || *c.Figure < *low.Figure {
						low = c
					}
					if high == nil || *c.Figure > *high.Figure {
						high = c
					}
				}
			}
		}
	}
	if low == nil {
		return g.Summary() + ": no cell has a figure."
	}
	text := fmt.Sprintf("%s: from %s (%s) to %s (%s)", g.Summary(), low.Text, low.Name, high.Text, high.Name)
	if unknown > 0 && !g.Effect {
		text += fmt.Sprintf(", %d without a valid result", unknown)
	}
	return text + "."
}

func (g *Grid) panelHeight(i int) float64 {
	height := 52 + cellHeight*float64(len(g.Panels[i].Rows)) + 12
	if g.Panels[i].Title != "" {
		height += 24
	}
	return height
}

func (g *Grid) drawPanel(p *picture.Picture, panel *GridPanel, y float64) {
	left := 120.0
	if p.Width < picture.NarrowWidth {
		left = 72
	}
	if panel.Title != "" {
		p.Clipped(0, y+14, panel.Title, p.Width, picture.TextStyle{Size: 13, Bold: true})
		y += 24
	}
	p.Clipped(left, y+14, g.ColumnAxis+" →", p.Width-left, picture.TextStyle{Color: picture.Muted})
	p.Fitted(0, y+32, g.RowAxis+" ↓", left-8, picture.TextStyle{Color: picture.Muted})
	w := (p.Width - left) / float64(max(1, len(panel.Columns)))
	for j, name := range panel.Columns {
		p.Fitted(left+w*(float64(j)+0.5), y+32, name, w-4, picture.TextStyle{Anchor: picture.Middle})
	}
	for i, name := range panel.Rows {
		top := y + 40 + cellHeight*float64(i)
		p.Fitted(0, top+cellHeight/2+4, name, left-8, picture.TextStyle{})
		for j := range panel.Columns {
			g.drawCell(p, &panel.Cells[i][j], left+w*float64(j), top, w)
		}
	}
}

func (g *Grid) drawCell(p *picture.Picture, c *GridCell, x, y, w float64) {
	const gap = 2
	x, y, w, h := x+gap/2.0, y+gap/2.0, w-gap, cellHeight-gap
	if !c.Exists {
		return
	}
	tip := c.Name + ": " + c.Text
	if c.Interval != "" && c.Interval != "-" {
		tip += " (" + c.Interval + ")"
	}
	if len(c.Warnings) > 0 {
		tip += ", " + strings.Join(c.Warnings, ", ")
	}
	color := picture.Text
	switch {
	case c.Figure == nil && g.Effect && c.Word == "":
		outline(p, x, y, w, h, picture.AxisColor, c.Name+": the baseline")
		p.Fitted(x+w/2, y+h/2+4, "baseline", w-2, picture.TextStyle{Color: picture.Muted, Anchor: picture.Middle})
		return
	case c.Figure == nil:
		p.Hatched(x, y, w, h, picture.Bad, c.Name+": no valid result")
		return
	case g.Effect && c.Word == v1alpha1.EffectCannotTell:
		outline(p, x, y, w, h, picture.Unsure, tip+", can't tell yet")
	case g.Effect:
		shade := effectShade(g.EffectStep(*c.Figure))
		p.TippedRect(x, y, w, h, shade, tip)
		color = picture.On(shade)
	default:
		shade := heat(g.Step(*c.Figure, picture.HeatColors))
		p.TippedRect(x, y, w, h, shade, tip)
		color = picture.On(shade)
	}
	if w >= minCell/2 {
		p.Fitted(x+w/2, y+h/2+4, c.Text, w-2, picture.TextStyle{Color: color, Anchor: picture.Middle})
	}
	if len(c.Warnings) > 0 {
		p.Area([]picture.Point{{X: x + w - 9, Y: y}, {X: x + w, Y: y}, {X: x + w, Y: y + 9}}, color)
	}
}

// drawKey draws what the shades mean, in two lines.
func (g *Grid) drawKey(p *picture.Picture, y float64) {
	muted := picture.TextStyle{Color: picture.Muted}
	const w = 22.0
	first, last, rest := picture.Significant(g.Low), picture.Significant(g.High), "log scale; hatched: no valid result"
	steps, color := picture.HeatColors, heat
	if g.Effect {
		first, last, rest = "better", "worse", fmt.Sprintf("middle: within ±%g%%; outlined: can't tell yet", g.TolerancePercent)
		steps, color = picture.EffectColors, effectShade
	}
	p.Text(0, y+12, first, muted)
	x := picture.TextWidth(first, muted) + 6
	for step := range steps {
		p.Rect(x, y, w, 14, color(step))
		x += w
	}
	p.Text(x+6, y+12, last, muted)
	if g.warned() {
		rest += "; corner: warned"
	}
	p.Clipped(0, y+30, rest, p.Width, muted)
}

// warned reports whether a cell has a warning.
func (g *Grid) warned() bool {
	for i := range g.Panels {
		for _, row := range g.Panels[i].Cells {
			if slices.ContainsFunc(row, func(c GridCell) bool { return len(c.Warnings) > 0 }) {
				return true
			}
		}
	}
	return false
}

// heat returns the color of a step of a median, from low to high.
func heat(step int) picture.Color { return picture.Heat((float64(step) + 0.5) / picture.HeatColors) }

// effectShade returns the color of a step of an effect, from better to worse.
func effectShade(step int) picture.Color {
	return picture.EffectShade((float64(step) + 0.5) / picture.EffectColors)
}

// DrawLines draws a panel for each row with the medians over the columns and their intervals, all on one log scale.
// It returns nil for effects, and if the columns aren't numbers.
func (g *Grid) DrawLines(width float64) *picture.Picture {
	if g.Effect || g.Low <= 0 {
		return nil
	}
	for i := range g.Panels {
		if g.Panels[i].X == nil {
			return nil
		}
	}
	columns := max(1, int(width/240))
	total := 0
	for i := range g.Panels {
		total += len(g.Panels[i].Rows)
	}
	total = min(total, maxPanels)
	const height = panelHeight + 82
	p := picture.New(width, height*float64((total+columns-1)/columns))
	p.Describe(g.Summary()+" as lines", g.range_())
	drawn := 0
	for i := range g.Panels {
		for j := range g.Panels[i].Rows {
			if drawn == total {
				return p
			}
			each := width / float64(columns)
			g.drawLine(p, &g.Panels[i], j, picture.Box{
				X: each*float64(drawn%columns) + axisLeft, Y: height*float64(drawn/columns) + 44, W: each - axisLeft - 16, H: panelHeight,
			})
			drawn++
		}
	}
	return p
}

func (g *Grid) drawLine(p *picture.Picture, panel *GridPanel, row int, plot picture.Box) {
	low, high := g.reach()
	y := picture.Logarithmic(low, high, plot.Y+plot.H, plot.Y)
	first, last := math.Inf(1), math.Inf(-1)
	for _, x := range panel.X {
		first, last = min(first, x), max(last, x)
	}
	x := picture.Range(min(0, first), last, plot.X, plot.X+plot.W)
	title := g.RowAxis + " " + panel.Rows[row]
	if panel.Title != "" {
		title += ", " + panel.Title
	}
	p.Clipped(plot.X, plot.Y-28, title, plot.W, picture.TextStyle{Size: 13, Bold: true})
	yAxis(p, plot, &y, g.Axis)
	p.XAxis(plot, &x, g.ColumnAxis)
	var points []picture.Point
	for j := range panel.Columns {
		c := &panel.Cells[row][j]
		if c.Figure == nil || *c.Figure <= 0 {
			join(p, points, picture.Stroke{Color: picture.AxisColor})
			points = nil // a gap
			continue
		}
		at := picture.Point{X: x.At(panel.X[j]), Y: y.At(*c.Figure)}
		points = append(points, at)
		if c.Low != nil && c.High != nil && *c.Low > 0 {
			p.Line(at.X, y.At(*c.Low), at.X, y.At(*c.High), picture.Stroke{Color: picture.Variant(0), Width: 2})
		}
		p.Marker(at.X, at.Y, 0, false, c.Name+": "+c.Text+" ("+c.Interval+")")
	}
	join(p, points, picture.Stroke{Color: picture.AxisColor})
}

// reach returns the range of the medians and their intervals.
func (g *Grid) reach() (low, high float64) {
	low, high = g.Low, g.High
	for i := range g.Panels {
		for _, row := range g.Panels[i].Cells {
			for _, c := range row {
				if c.Low != nil && *c.Low > 0 {
					low = min(low, *c.Low)
				}
				if c.High != nil {
					high = max(high, *c.High)
				}
			}
		}
	}
	return low, high
}
