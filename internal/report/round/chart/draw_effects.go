package chart

import (
	"fmt"
	"math"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/report/picture"
	"github.com/assay-dev/assay/internal/report/round"
)

const (
	rowHeight       = 32
	rowHeightNarrow = 50
	rowIndent       = 12.0
)

// labelStyle is that of a row's label on narrow pages.
var labelStyle = picture.TextStyle{Size: 13, Bold: true}

// Draw draws a forest plot: a row for each cell with its estimate, its interval and, below it, the effect that such a
// round can find.
func (f *Forest) Draw(width float64) *picture.Picture {
	l := f.layout(width)
	p := picture.New(width, l.bottom+56)
	p.Describe(f.title(), f.summary())
	l.drawAxis(p, f)
	for i := range f.Rows {
		l.drawRow(p, f, i)
	}
	return p
}

func (f *Forest) title() string {
	return fmt.Sprintf("Change of %s against the baseline, %%", round.MetricName(f.Metric))
}

// summary is the picture in a sentence.
func (f *Forest) summary() string {
	var texts []string
	for _, row := range f.Rows {
		if row.Effect != nil {
			texts = append(texts, fmt.Sprintf("%s %s (%s), %s", row.Label, Change(row.Effect), Interval(row.Effect), benchmark.Phrase(row.Effect.Word)))
		}
	}
	const listed = 8
	if more := len(texts) - listed; more > 0 {
		texts = append(texts[:listed], fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("%s, tolerance %d%%. %s.", f.title(), f.TolerancePercent, strings.Join(texts, "; "))
}

// forestLayout has the places of a forest plot.
type forestLayout struct {
	narrow      bool
	left, right float64 // of the axis
	top, bottom float64
	rowHeight   float64
	second      float64 // the distance of a second line of a narrow row, if label and effect don't fit into one
	center      float64
	x           picture.Scale
	texts       float64 // x of the columns at the right
}

func (f *Forest) layout(width float64) *forestLayout {
	l := &forestLayout{narrow: width < picture.NarrowWidth, left: 190, right: width - 330, top: 62, rowHeight: rowHeight}
	if width < mediumWidth {
		l.left = 130
	}
	l.texts = l.right + 24
	if l.narrow {
		l.left, l.right, l.rowHeight = 12, width-12, rowHeightNarrow
		for _, row := range f.Rows {
			if picture.TextWidth(row.Label, labelStyle)+picture.TextWidth(narrowText(row.Effect), picture.TextStyle{}) > l.right-l.left-2*rowIndent {
				l.second = 18
			}
		}
		l.rowHeight += l.second
	}
	l.bottom = l.top + l.rowHeight*float64(len(f.Rows))
	reach := 0.0
	see := func(percent *float64) {
		switch {
		case percent == nil:
		case *percent <= -100:
			reach = math.Inf(1)
		default:
			reach = max(reach, math.Abs(math.Log1p(*percent/100)))
		}
	}
	tolerance := float64(f.TolerancePercent)
	see(&tolerance)
	for _, row := range f.Rows {
		if e := row.Effect; e != nil {
			see(e.Percent)
			see(e.LowPercent)
			see(e.HighPercent)
			see(e.DetectablePercent)
		}
	}
	const margin = 1.12
	l.x = picture.LogRatio(100*math.Expm1(margin*reach), l.left, l.right)
	l.center = l.x.At(0)
	return l
}

func (l *forestLayout) drawAxis(p *picture.Picture, f *Forest) {
	low, high := "lower: better", "worse: higher"
	if f.Better == v1alpha1.HigherIsBetter {
		low, high = "lower: worse", "better: higher"
	}
	p.Text(l.left, 34, "← "+low, picture.TextStyle{Color: picture.Muted})
	p.Text(l.right, 34, high+" →", picture.TextStyle{Color: picture.Muted, Anchor: picture.End})
	if tolerance := float64(f.TolerancePercent); tolerance > 0 {
		from, to := l.x.At(-tolerance), l.x.At(tolerance)
		p.Rect(from, l.top-6, to-from, l.bottom-l.top+6, picture.Band)
		for _, x := range []float64{from, to} {
			p.Line(x, l.top-6, x, l.bottom, picture.Stroke{Color: picture.AxisColor})
		}
		p.Text((from+to)/2, l.top-12, fmt.Sprintf("tolerance ±%d%%", f.TolerancePercent), picture.TextStyle{Color: picture.Muted, Anchor: picture.Middle})
	}
	p.Line(l.center, l.top-6, l.center, l.bottom+4, picture.Stroke{Color: picture.Text})
	p.Line(l.left, l.bottom, l.right, l.bottom, picture.Stroke{Color: picture.AxisColor})
	for _, t := range l.x.Ticks {
		x := l.x.At(t.Value)
		p.Line(x, l.bottom, x, l.bottom+4, picture.Stroke{Color: picture.AxisColor})
		half := picture.TextWidth(t.Label, picture.TextStyle{}) / 2
		p.Text(min(max(x, half), p.Width-half), l.bottom+18, t.Label, picture.TextStyle{Color: picture.Muted, Anchor: picture.Middle})
	}
	p.Text(l.center, l.bottom+38, "change, % (log scale of the ratio)", picture.TextStyle{Color: picture.Muted, Anchor: picture.Middle})
}

func (l *forestLayout) drawRow(p *picture.Picture, f *Forest, i int) {
	row := &f.Rows[i]
	top := l.top + float64(i)*l.rowHeight
	y := top + l.rowHeight/2 - 3
	indent := rowIndent
	if row.Effect == nil || f.Each {
		indent = 0
	}
	if l.narrow {
		room := l.right - l.left - indent
		if l.second == 0 {
			room -= rowIndent + picture.TextWidth(narrowText(row.Effect), picture.TextStyle{})
		}
		p.OnPlot(l.left+indent, top+14, row.Label, room, labelStyle)
		top += l.second
		y = top + 32
	} else {
		p.Fitted(indent, y+4, row.Label, l.left-indent-12, picture.TextStyle{Size: 13, Bold: row.Effect == nil})
	}
	e := row.Effect
	if e == nil {
		if !l.narrow {
			p.Text(l.texts, y+4, "baseline", picture.TextStyle{Size: 13, Color: picture.Muted})
		} else {
			p.Text(l.right, top+14, narrowText(nil), picture.TextStyle{Color: picture.Muted, Anchor: picture.End})
		}
		return
	}
	color := wordColor(e)
	if l.narrow {
		style := picture.TextStyle{Color: color, Anchor: picture.End}
		width := picture.TextWidth(narrowText(e), style)
		p.Rect(l.right-width-2, top+2, width+2, 16, picture.Plot) // else the band and the axis would be behind the text
		p.Text(l.right, top+14, narrowText(e), style)
	} else {
		p.Text(l.texts+54, y+4, Change(e), picture.TextStyle{Size: 13, Bold: true, Anchor: picture.End})
		p.Text(l.texts+66, y+4, Interval(e), picture.TextStyle{Size: 13})
		p.Text(l.texts+200, y+4, wordOf(e), picture.TextStyle{Size: 13, Color: color, Bold: true})
	}
	if e.Percent == nil {
		return
	}
	l.drawInterval(p, e, y, color)
	l.drawDetectable(p, e, y+10)
}

// narrowText returns what stands above a row at the right; that of a baseline without an effect.
func narrowText(e *benchmark.Effect) string {
	if e == nil {
		return "baseline"
	}
	return fmt.Sprintf("%s (%s) %s", Change(e), Interval(e), benchmark.Phrase(e.Word))
}

// drawInterval draws the interval with its ends, and the estimate on it.
func (l *forestLayout) drawInterval(p *picture.Picture, e *benchmark.Effect, y float64, color picture.Color) {
	if e.LowPercent != nil || e.HighPercent != nil {
		from, to := l.left, l.right
		if e.LowPercent != nil {
			from = l.drawEnd(p, *e.LowPercent, y, color)
		}
		if e.HighPercent != nil {
			to = l.drawEnd(p, *e.HighPercent, y, color)
		}
		p.Line(from, y, to, y, picture.Stroke{Color: color, Width: 2})
	}
	x, beyond := l.x.Place(*e.Percent)
	if beyond {
		p.Arrow(x, y, *e.Percent > 0, color)
		anchor, at := picture.End, x-10
		if *e.Percent < 0 {
			anchor, at = picture.Start, x+10
		}
		p.Text(at, y-6, Change(e), picture.TextStyle{Color: color, Anchor: anchor})
		return
	}
	p.Circle(x, y, 4, color, e.Word == v1alpha1.EffectCannotTell, Change(e)+" ("+Interval(e)+")")
}

func (l *forestLayout) drawEnd(p *picture.Picture, percent, y float64, color picture.Color) float64 {
	x, beyond := l.x.Place(percent)
	if beyond {
		p.Arrow(x, y, percent > 0, color)
	} else {
		p.Line(x, y-5, x, y+5, picture.Stroke{Color: color, Width: 2})
	}
	return x
}

// drawDetectable draws a bracket as wide as the smallest effect that such a round finds.
func (l *forestLayout) drawDetectable(p *picture.Picture, e *benchmark.Effect, y float64) {
	if e.DetectablePercent == nil {
		return
	}
	worse := *e.DetectablePercent
	if e.Better == v1alpha1.HigherIsBetter {
		worse = -worse
	}
	x, beyond := l.x.Place(worse)
	p.Line(l.center, y, x, y, picture.Stroke{Color: picture.AxisColor})
	p.Line(l.center, y-3, l.center, y, picture.Stroke{Color: picture.AxisColor})
	if !beyond {
		p.Line(x, y-3, x, y, picture.Stroke{Color: picture.AxisColor})
	}
}

// wordOf returns the word of an effect, and whether its gate failed.
func wordOf(e *benchmark.Effect) string {
	if e.Verdict == v1alpha1.BenchmarkFailed {
		return benchmark.Phrase(e.Word) + ": failed"
	}
	return benchmark.Phrase(e.Word)
}

// wordColor returns the color of a word: only effects and verdicts have it.
func wordColor(e *benchmark.Effect) picture.Color {
	switch e.Word {
	case v1alpha1.EffectBetter:
		return picture.Good
	case v1alpha1.EffectWorse:
		return picture.Bad
	case v1alpha1.EffectNoDifference:
		return picture.Same
	}
	return picture.Unsure
}
