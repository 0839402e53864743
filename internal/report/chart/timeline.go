// Package chart draws the result of a run. Each picture has a model with the figures, which also the page's tables and its
// script use, and a function that draws it. Charts only show what packages result and validity measured and decided.
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
	// Windows are the last parts of a warm-up until the target is steady, which were compared.
	Windows []Window
	// Levels are the levels of the load, of which every second one has a band.
	Levels []Span
	// Marks are findings and breaking points, by the time at which they happened.
	Marks []Mark
	// Panels are the plots, in the order from above. The first shows the load, and the folded ones come last.
	Panels []Panel
	// CutShort is the length in seconds of a last point that is shorter than it says, and therefore without rates; else 0.
	CutShort float64
	// Invalid reports whether the result isn't valid.
	Invalid bool
}

// Span is a part of the time in seconds.
type Span struct {
	From, To float64
	Name     string
}

// Window is a part of the warm-up: its middle in seconds from the start of the measurement, its throughput, and its 99th
// percentile in milliseconds, NaN without a successful request.
type Window struct{ At, PerSecond, P99 float64 }

// Mark is what happened at a time. Number is that of its finding; 0 for a breaking point, and negative for the whole
// measurement.
type Mark struct {
	At     float64
	Number int
	Text   string
}

// Panel is a plot of a timeline.
type Panel struct {
	// ID is a word. Name is the axis's name with its unit.
	ID, Name string
	// Unit follows figures in sentences: " ms", "%".
	Unit string
	// Short follows the names of lines in sentences: "CPU"; empty if they don't need it.
	Short string
	// Log reports whether the axis is logarithmic, Stacked whether the lines are columns on top of each other.
	Log, Stacked bool
	// Folded reports whether the plot is low and closed at first.
	Folded bool
	Lines  []Line
	// Rules are bounds with their names.
	Rules []Rule
	// Heat has the histogram of each point behind the lines, nil where it isn't kept; it is nil for all panels but a heat map.
	Heat []*result.Histogram
	// Low and High are figures that the axis spans in addition to those of the lines; 0 for none.
	Low, High float64
	// Empty says why there is no plot, instead of one.
	Empty string
}

// Line is a line of a plot: a figure of each point, NaN where it is unknown.
type Line struct {
	Name   string
	Color  plot.Color
	Width  float64
	Dash   string
	Dots   bool // no line, but a dot for each point
	Step   bool // the figure is of the whole point
	Values []float64
}

// Rule is a bound of a plot.
type Rule struct {
	Value float64
	Text  string
}

// maxWarmupShare is the share of the axis that a warm-up takes at most.
const maxWarmupShare = 0.2

// NewTimeline returns the plots over time; nil if the result has no seconds.
func NewTimeline(r *result.Result) *Timeline {
	if len(r.Series) == 0 {
		return nil
	}
	t := &Timeline{Invalid: invalid(r)}
	for i := range r.Series {
		t.Times = append(t.Times, float64(r.Series[i].Second))
	}
	last := &r.Series[len(r.Series)-1]
	t.End = float64(last.Second + max(1, last.Seconds))
	t.CutShort = cutShort(r)
	t.Times = append(t.Times, t.End)
	if r.Warmup != nil {
		t.Warmup = float64(r.Warmup.DurationMicroseconds) / 1e6
		t.Start = -min(t.Warmup, t.End*maxWarmupShare/(1-maxWarmupShare))
		t.addWindows(r.Warmup.Steady)
	}
	for i := range r.Levels {
		l := &r.Levels[i]
		t.Levels = append(t.Levels, Span{float64(l.Start), float64(l.End), number.Count(l.Load())})
	}
	t.addMarks(r)
	t.Panels = panels(r, t)
	return t
}

// addWindows adds the windows of a warm-up that are on the axis.
func (t *Timeline) addWindows(s *result.Steadiness) {
	if s == nil {
		return
	}
	for _, w := range s.Windows {
		one := Window{At: float64(w.Second) + float64(w.Seconds)/2 - t.Warmup, PerSecond: w.PerSecond(), P99: unknown}
		if w.Succeeded > 0 {
			one.P99 = float64(w.P99) / 1000
		}
		if one.At >= t.Start && one.At < 0 {
			t.Windows = append(t.Windows, one)
		}
	}
}

// addMarks adds findings, each where it first happened, and breaking points.
func (t *Timeline) addMarks(r *result.Result) {
	for i, f := range r.Findings {
		m := Mark{At: -1, Number: i + 1, Text: f.Reason}
		if f.Seconds != nil {
			m.At = float64(f.Seconds.From)
		}
		t.Marks = append(t.Marks, m)
	}
	for i := range r.BreakingPoints {
		if p := &r.BreakingPoints[i]; p.Reached {
			t.Marks = append(t.Marks, Mark{At: float64(p.Second), Text: BreakingPointText(r, p)})
		}
	}
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
