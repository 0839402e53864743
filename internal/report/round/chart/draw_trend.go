package chart

import (
	"fmt"
	"math"
	"time"

	"github.com/assay-dev/assay/internal/report/picture"
	"github.com/assay-dev/assay/internal/report/round"
)

const trendHeight = 140.0

// DrawTrends draws a plot for each series: the medians of the rounds by the time of their end, and the levels between
// changes. Of too many series those with changes are drawn.
func DrawTrends(trends []Trend, width float64) *picture.Picture {
	drawn := trends[:min(len(trends), maxTrends)]
	each := trendHeight + 112
	height := each * float64(len(drawn))
	if len(trends) > maxTrends {
		height += 24
	}
	p := picture.New(width, height)
	p.Describe("Trend over rounds", trendSummary(trends))
	for i := range drawn {
		drawn[i].draw(p, each*float64(i))
	}
	if more := len(trends) - maxTrends; more > 0 {
		p.Text(0, height-8, fmt.Sprintf("%d more series are in the table.", more), picture.TextStyle{Color: picture.Muted})
	}
	return p
}

func trendSummary(trends []Trend) string {
	changes, rounds := 0, 0
	for _, t := range trends {
		changes += max(0, len(t.Levels)-1)
		rounds = max(rounds, len(t.Points))
	}
	return fmt.Sprintf("Medians of %d rounds in %d series, %d changes of level. A change of level decides nothing.", rounds, len(trends), changes)
}

func (t *Trend) draw(p *picture.Picture, top float64) {
	right := 24.0
	plot := picture.Box{X: axisLeft, Y: top + 64, W: p.Width - axisLeft - right, H: trendHeight}
	p.Clipped(0, top+16, fmt.Sprintf("%s of %s", round.MetricName(t.Metric), t.Label), p.Width, picture.TextStyle{Size: 13, Bold: true})
	low, high := math.Inf(1), math.Inf(-1)
	see := func(x *float64) {
		if x != nil {
			low, high = min(low, *x), max(high, *x)
		}
	}
	for i := range t.Points {
		see(t.Points[i].Median)
		see(t.Points[i].Low)
		see(t.Points[i].High)
	}
	y := picture.Range(low, high, plot.Y+plot.H, plot.Y)
	x := picture.Dates(t.Points[0].Ended, t.Points[len(t.Points)-1].Ended, plot.X+6, plot.X+plot.W-6)
	yAxis(p, plot, &y, t.Axis)
	p.XAxis(plot, &x, "date of the round (UTC)")
	t.drawChanged(p, plot, x)
	t.drawLevels(p, plot, x, y)
	for i := range t.Points {
		t.drawPoint(p, &t.Points[i], x, y, i == len(t.Points)-1)
	}
}

// drawChanged draws a tick where the conditions changed, with what changed.
func (t *Trend) drawChanged(p *picture.Picture, plot picture.Box, x picture.Scale) {
	last := math.Inf(-1)
	for i := range t.Points {
		if t.Points[i].Changed == "" {
			continue
		}
		at := x.At(seconds(t.Points[i].Ended))
		p.Line(at, plot.Bottom()-10, at, plot.Bottom(), picture.Stroke{Color: picture.Text, Width: 1.5})
		half := picture.TextWidth(t.Points[i].Changed, picture.TextStyle{}) / 2
		middle := min(max(at, plot.X+half), p.Width-half)
		if middle-half < last {
			continue // the table has all
		}
		last = middle + half + 6
		p.Text(middle, plot.Bottom()-14, t.Points[i].Changed, picture.TextStyle{Color: picture.Muted, Anchor: picture.Middle})
	}
}

// drawLevels draws the median of each level as a line, and a rule where it changed.
func (t *Trend) drawLevels(p *picture.Picture, plot picture.Box, x, y picture.Scale) {
	last := math.Inf(-1)
	for i := range t.Levels {
		l := &t.Levels[i]
		from, to := x.At(seconds(t.Points[l.First].Ended)), x.At(seconds(t.Points[l.Last].Ended))
		p.Line(from, y.At(l.Median), max(to, from+8), y.At(l.Median), picture.Stroke{Color: picture.Text, Width: 1.5})
		if l.Change == "" {
			continue
		}
		p.Line(from-4, plot.Y-26, from-4, plot.Y+plot.H, picture.Stroke{Color: picture.Text, Dash: "3 3"})
		width := picture.TextWidth(l.Change, picture.TextStyle{})
		left := from
		if from > plot.X+plot.W/2 {
			left = from - 4 - width
		}
		if left = min(max(left, 0), p.Width-width); left > last+6 {
			p.Text(left, plot.Y-30, l.Change, picture.TextStyle{})
			last = left + width // the table has those that have no room
		}
	}
}

func (t *Trend) drawPoint(p *picture.Picture, at *TrendPoint, x, y picture.Scale, last bool) {
	if at.Median == nil {
		return
	}
	if at.Low != nil && at.High != nil {
		p.Line(x.At(seconds(at.Ended)), y.At(*at.Low), x.At(seconds(at.Ended)), y.At(*at.High), picture.Stroke{Color: picture.Variant(0), Width: 2})
	}
	tip := fmt.Sprintf("round %d, %s: %s", at.Round, at.Ended.UTC().Format("2006-01-02 15:04"), picture.Significant(*at.Median))
	if at.Inconclusive {
		tip += ", inconclusive"
	}
	p.Circle(x.At(seconds(at.Ended)), y.At(*at.Median), 3.5, picture.Variant(0), at.Inconclusive, tip)
	if last {
		p.Text(x.At(seconds(at.Ended))-8, y.At(*at.Median)-9, fmt.Sprintf("round %d", at.Round), picture.TextStyle{Anchor: picture.End})
	}
}

func seconds(t time.Time) float64 { return float64(t.Unix()) }
