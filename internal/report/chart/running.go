package chart

import (
	"math"
	"slices"

	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/result"
)

// Running draws a measurement under way again and again. Its axes only grow. The zero value is ready to use.
type Running struct {
	ranges map[string][2]float64 // by the panels' IDs
}

// Timeline returns the plots over the planned time in seconds; nil without any second. The result has what is known so far. Where seconds are missing, lines
// have gaps. Each line's name has its last value.
func (g *Running) Timeline(r *result.Result, planned float64) *Timeline {
	filled := *r
	var missing []int
	filled.Series, missing = withoutGaps(r.Series)
	t := NewTimeline(&filled)
	if t == nil {
		return nil
	}
	t.End = max(planned, t.End)
	for i := range t.Panels {
		l := &t.Panels[i]
		for j := range l.Lines {
			for _, at := range missing {
				l.Lines[j].Values[at] = unknown
			}
		}
		switch {
		case l.Empty == "" && !l.known():
			l.Lines, l.Empty = nil, "not available"
		case l.ID == PanelErrors && l.Empty != "":
			l.Empty += " in " + number.Unit(number.Significant(t.Times[t.Points()]), "s")
		}
		g.grow(l)
		for j := range l.Lines {
			if line := &l.Lines[j]; l.ID != PanelLoad {
				line.Name += " " + number.Significant(line.last())
			}
		}
	}
	return t
}

// grow makes a panel's axis span at least what it has spanned before.
func (g *Running) grow(l *Panel) {
	if len(l.Lines) == 0 {
		return
	}
	before, drawn := g.ranges[l.ID]
	if drawn {
		l.Low, l.High = before[0], before[1]
	}
	low, high := l.Range()
	if g.ranges == nil {
		g.ranges = map[string][2]float64{}
	}
	g.ranges[l.ID] = [2]float64{low, high}
}

// last returns the last value of a line that is known, or -Inf without any.
func (line *Line) last() float64 {
	for _, v := range slices.Backward(line.Values) {
		if !math.IsNaN(v) {
			return v
		}
	}
	return math.Inf(-1)
}

// withoutGaps returns seconds with an entry for those that are missing between them, and the indexes of these entries.
func withoutGaps(series []result.Second) (filled []result.Second, missing []int) {
	for i := range series {
		if n := len(filled); n > 0 {
			if end := filled[n-1].Second + filled[n-1].Seconds; series[i].Second > end {
				missing = append(missing, n)
				filled = append(filled, result.Second{Second: end, Seconds: series[i].Second - end, P50: result.Unknown, P90: result.Unknown, P99: result.Unknown, Max: result.Unknown})
			}
		}
		filled = append(filled, series[i])
	}
	return filled, missing
}
