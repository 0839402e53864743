// Package chart draws the result of a run. Each chart is a function of the result that returns a plot with its table. The plots over
// time share a Timeline, whose lines the page's table and script read as well. Charts only show what packages result and validity
// measured and decided.
package chart

import (
	"fmt"
	"math"

	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/report/plot"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/validity"
)

// Timeline holds the plots over time of a result, which share the axis.
type Timeline struct {
	// Warmup is the length of the warm-up in seconds, 0 for none. Start is where the axis begins, at most 0; it is later
	// than the warm-up's begin if that would take more than a fifth of the axis. End is where the axis ends. All are in
	// seconds from the start of the measurement.
	Warmup, Start, End float64
	// Times has the begin of each point, and the end of the last.
	Times []float64
	// Panels are the plots, in the order from above. The first shows the load, and the folded ones come last.
	Panels []Panel

	r *result.Result
}

// Panel is a plot of a timeline.
type Panel struct {
	// ID is a word. Name is the axis's name with its unit.
	ID, Name string
	// Unit follows numbers in sentences: " ms", "%".
	Unit string
	// Short follows the names of lines in sentences: "CPU"; empty if they don't need it.
	Short string
	// Log reports whether the axis is logarithmic, Stacked whether the lines are columns on top of each other.
	Log, Stacked bool
	// Folded reports whether the plot is low and closed at first.
	Folded bool
	Lines  []Line
	// Rules are bounds, which are drawn where the axis has them.
	Rules []float64
	// Heat has the sketch of each point behind the lines, nil where it isn't kept; it is nil for all panels but a heat map.
	Heat []result.Sketch
	// Low and High are values that the axis spans in addition to those of the lines; 0 for none.
	Low, High float64
	// Empty says why there is no plot, instead of one.
	Empty string
}

// Line is a line of a plot: a value of each point, NaN where it is unknown.
type Line struct {
	Name string
	plot.Stroke
	Dots   bool // no line, but a dot for each point
	Step   bool // the value is of the full point
	Values []float64
}

// maxWarmupShare is the share of the axis that a warm-up takes at most.
const maxWarmupShare = 0.2

// NewTimeline returns the plots over time; nil if the result has no seconds.
func NewTimeline(r *result.Result) *Timeline {
	if len(r.Series) == 0 {
		return nil
	}
	shown := *r
	shown.Series, r = r.Points(), &shown
	t := &Timeline{r: r}
	for i := range r.Series {
		t.Times = append(t.Times, float64(r.Series[i].Second))
	}
	last := &r.Series[len(r.Series)-1]
	t.End = float64(last.Second) + last.Length()
	t.Times = append(t.Times, t.End)
	if r.Warmup != nil {
		t.Warmup = float64(r.Warmup.DurationMicroseconds) / 1e6
		t.Start = -min(t.Warmup, t.End*maxWarmupShare/(1-maxWarmupShare))
	}
	t.Panels = t.panels()
	return t
}

// Windows returns the parts of the warm-up by which it was decided whether the target is steady, as far as the axis has them, with
// the middle of each in seconds.
func (t *Timeline) Windows() (windows []result.WarmupWindow, middles []float64) {
	if t.r.Warmup == nil || t.r.Warmup.Steady == nil {
		return nil, nil
	}
	for _, w := range t.r.Warmup.Steady.Windows {
		if middle := float64(w.Second) + float64(w.Seconds)/2 - t.Warmup; middle >= t.Start && middle < 0 {
			windows, middles = append(windows, w), append(middles, middle)
		}
	}
	return windows, middles
}

// Joined returns the number of seconds of the longest point.
func (t *Timeline) Joined() int {
	longest := 0.0
	for i := range t.Points() {
		longest = max(longest, t.Times[i+1]-t.Times[i])
	}
	return int(math.Round(longest))
}

// Points returns the number of points.
func (t *Timeline) Points() int { return len(t.Times) - 1 }

// Panel returns the panel of that ID; nil if there is none.
func (t *Timeline) Panel(id string) *Panel {
	for i := range t.Panels {
		if t.Panels[i].ID == id {
			return &t.Panels[i]
		}
	}
	return nil
}

// Summary returns range and extremes of a panel in a sentence.
func (t *Timeline) Summary(l *Panel) string {
	if l.Empty != "" {
		return l.Empty + "."
	}
	text := ""
	for i := range l.Lines {
		line := &l.Lines[i]
		least, most, leastAt, mostAt := math.Inf(1), math.Inf(-1), 0, 0
		for p, v := range line.Values {
			if v < least {
				least, leastAt = v, p
			}
			if v > most {
				most, mostAt = v, p
			}
		}
		name := line.Name
		if text != "" {
			text += "; "
		}
		switch {
		case math.IsInf(least, 1):
			text += name + " not available"
		case least == most:
			text += fmt.Sprintf("%s %s", name, number.Unit(number.Significant(least), l.Unit))
		default:
			text += fmt.Sprintf("%s from %s at %s to %s at %s", name, number.Significant(least), plot.Clock(t.Times[leastAt], t.End),
				number.Unit(number.Significant(most), l.Unit), plot.Clock(t.Times[mostAt], t.End))
		}
	}
	return text + "."
}

func invalid(r *result.Result) bool { return !validity.Valid(r.Findings) }
