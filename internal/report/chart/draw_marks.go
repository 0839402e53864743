package chart

import (
	"slices"
	"strings"

	"github.com/assay-dev/assay/internal/report/picture"
)

// drawMarks draws the lane of findings: their numbers, and a row with words for each breaking point.
func (t *Timeline) drawMarks(l *Lane, width float64) *picture.Picture {
	if l.Empty != "" {
		return t.drawEmpty(l, width)
	}
	title := newHeading("findings by their number; those along the whole line are about all of the measurement", width)
	box := Frame(width)
	box.Y, box.H = title.below, 20
	x := t.Scale(box, width)
	var points []Mark
	for _, m := range t.Marks {
		if m.Number == 0 {
			points = append(points, m)
		}
	}
	texts := newPointTexts(points, width)
	box.H += texts.height()
	p := picture.New(width, box.Bottom()+8)
	var names []string
	for _, m := range t.Marks {
		names = append(names, m.Text)
	}
	p.Describe("findings and breaking points", strings.Join(names, "; ")+".")
	title.draw(p)
	t.drawBackground(p, box, &x, l)
	t.drawHairlines(p, box, &x)
	y, whole, starts := box.Y+10, 0, 0
	for _, m := range t.Marks {
		if m.Number > 0 && m.At < 0 {
			whole++
		}
	}
	if whole > 0 {
		p.Line(x.At(0), y, x.At(t.End), y, picture.Stroke{Color: picture.AxisColor, Width: 1.5})
	}
	at := 0
	for _, m := range t.Marks {
		switch {
		case m.Number > 0 && m.At < 0:
			at++
			p.Number(x.At(0)+(x.At(t.End)-x.At(0))*float64(at)/float64(whole+1), y, m.Number, m.Text)
		case m.Number > 0:
			p.Number(x.At(m.At)+18*float64(starts), y, m.Number, m.Text)
			starts++
		}
	}
	texts.draw(p, box, box.Y+20, &x)
	return p
}

// pointTexts are the words of breaking points, a row each beside its rule. Where one has no room there, all are in as many
// lines as they need from the left on: each says at which load it is.
type pointTexts struct {
	points []Mark
	lines  [][]string // nil beside the rules
}

// newPointTexts returns the texts of points, for a picture of that width.
func newPointTexts(points []Mark, width float64) *pointTexts {
	t := &pointTexts{points: points}
	room := Frame(width).W/2 - 4
	if !slices.ContainsFunc(points, func(m Mark) bool { return picture.TextWidth(m.Text, picture.TextStyle{}) > room }) {
		return t
	}
	for _, m := range points {
		t.lines = append(t.lines, picture.Wrap(m.Text, width, picture.TextStyle{}))
	}
	return t
}

// height returns the height of all texts.
func (t *pointTexts) height() float64 {
	if t.lines == nil {
		return rowHeight * float64(len(t.points))
	}
	height := 8.0 // else the last would be at the plot's highest label
	for _, lines := range t.lines {
		height += rowHeight * float64(len(lines))
	}
	return height
}

// draw writes the texts from top on. x is the scale of the points' places.
func (t *pointTexts) draw(p *picture.Picture, box picture.Box, top float64, x *picture.Scale) {
	for _, lines := range t.lines {
		for _, line := range lines {
			p.OnPlot(1, top+12, line, p.Width, picture.TextStyle{})
			top += rowHeight
		}
	}
	if t.lines != nil {
		return
	}
	for i, m := range t.points {
		at := x.At(m.At)
		style, left, room := picture.TextStyle{}, at+4, box.Right()-at-4
		if room < box.W/2 {
			style.Anchor, left, room = picture.End, at-4, at-4
		}
		p.OnPlot(left, top+rowHeight*float64(i)+12, m.Text, room, style)
	}
}
