package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/report/plot"
	"github.com/assay-dev/assay/internal/result"
)

// Bounds holds thresholds that have a figure.
type Bounds struct {
	Rows    []BoundRow
	invalid bool
}

// BoundRow is a threshold.
type BoundRow struct {
	Outcome       result.ThresholdOutcome
	Bound, Actual float64
}

// NewBounds returns the thresholds; nil if none has a figure.
func NewBounds(r *result.Result) *Bounds {
	b := &Bounds{invalid: invalid(r)}
	for _, o := range r.Thresholds {
		if o.Measured != nil {
			b.Rows = append(b.Rows, BoundRow{o, o.Limit, *o.Measured})
		}
	}
	if len(b.Rows) == 0 {
		return nil
	}
	return b
}

// ActualText returns the figure of a threshold with three significant digits, or as it is if these would put it at the bound or
// on its other side.
func ActualText(o *result.ThresholdOutcome) string {
	if o.Measured == nil {
		return o.Actual
	}
	text := number.Significant(*o.Measured)
	rounded, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	if err != nil || cmp.Compare(rounded, o.Limit) != cmp.Compare(*o.Measured, o.Limit) {
		return o.Actual
	}
	return text + o.Unit
}

// word says whether a threshold is met.
func (b *Bounds) word(r *BoundRow) (string, plot.Color) {
	switch {
	case b.invalid:
		return "unknown: result not valid", plot.Same
	case r.Outcome.Met:
		return "met", plot.Good
	}
	return "MISSED", plot.Bad
}

func boundText(r *BoundRow) string {
	return fmt.Sprintf("%s %s: %s", r.Outcome.Metric, r.Outcome.Bound, ActualText(&r.Outcome))
}

// Figure draws a row for each threshold: the side that meets it as a thick line, and the figure as a mark.
func (b *Bounds) Figure() *plot.Figure {
	if b == nil {
		return nil
	}
	var p plot.Plot
	var texts []string
	for i := range b.Rows {
		r := &b.Rows[i]
		word, color := b.word(r)
		texts = append(texts, boundText(r)+", "+word)
		x := plot.LinearExact(1.15 * max(r.Bound, r.Actual))
		met := plot.Interval{Stroke: plot.Stroke{Color: plot.AxisColor, Width: 3}, From: plot.Point{Y: plot.Middle}, To: plot.Point{X: r.Bound, Y: plot.Middle}}
		if r.Outcome.Above {
			met.From.X = x.High
		}
		actual := plot.Dot{At: plot.Point{X: r.Actual, Y: plot.Middle}, Radius: 4, Color: color, Hollow: b.invalid, Tip: ActualText(&r.Outcome)}
		if !r.Outcome.Met {
			actual.Shape = plot.Cross
		}
		p.Rows = append(p.Rows, plot.Row{
			Name: r.Outcome.Metric + " " + r.Outcome.Bound, X: &x, Texts: []plot.Text{{Text: ActualText(&r.Outcome)}, {Text: word, Color: color, Bold: true}},
			Marks: []plot.Mark{
				plot.Interval{Stroke: plot.Stroke{Color: plot.Grid}, From: plot.Point{Y: plot.Middle}, To: plot.Point{X: x.High, Y: plot.Middle}}, met,
				plot.Interval{Stroke: plot.Stroke{Color: plot.Ink, Width: 2}, From: plot.Point{X: r.Bound, Y: plot.Middle - 6}, To: plot.Point{X: r.Bound, Y: plot.Middle + 6}}, actual,
			},
		})
	}
	return plot.Of("Thresholds", strings.Join(texts, "; ")+".", p)
}

// Arrivals holds how well an open load kept its rate.
type Arrivals struct {
	Target, Achieved float64
	Due, Dropped     int64
	invalid          bool
}

// NewArrivals returns the arrivals; nil for other loads than open ones.
func NewArrivals(r *result.Result) *Arrivals {
	if r.Arrivals == nil {
		return nil
	}
	return &Arrivals{r.Arrivals.TargetRatePerSecond(), r.Arrivals.AchievedPerSecond(r.Merged.Dropped), r.Arrivals.Due, r.Merged.Dropped, invalid(r)}
}

// Figure draws the target rate as an outline and the achieved one as a bar.
func (a *Arrivals) Figure() *plot.Figure {
	if a == nil {
		return nil
	}
	text := fmt.Sprintf("%s of %s requests were dropped (%s): they never started, because no connection was free in time", number.Count(a.Dropped), number.Count(a.Due), number.Share(a.Dropped, a.Due))
	if a.Dropped == 0 {
		text = fmt.Sprintf("none of %s requests was dropped", number.Count(a.Due))
	}
	p := plot.Plot{Axis: "requests started per second", X: plot.LinearExact(max(a.Target, a.Achieved))}
	p.X.Ticks = nil // each bar has its number
	for i, bar := range []struct {
		name  string
		value float64
	}{{"target rate", a.Target}, {"achieved rate", a.Achieved}} {
		rect := plot.Rect{From: plot.Point{Y: barTop}, To: plot.Point{X: bar.value, Y: barBottom}, Color: plot.Throughput, Hatched: a.invalid}
		if i == 0 {
			rect.Color, rect.Outlined, rect.Hatched = plot.Ink, true, false
		}
		p.Rows = append(p.Rows, plot.Row{Name: bar.name, Marks: []plot.Mark{rect}, Texts: []plot.Text{{Text: number.Unit(number.Significant(bar.value), "requests/s")}}})
	}
	f := plot.Of("Target rate and achieved rate", fmt.Sprintf("Target %s requests/s, achieved %s requests/s; %s.", number.Significant(a.Target), number.Significant(a.Achieved), text), p)
	f.Note = text
	return f
}

// ClientRows holds what the clients used, those with the most CPU first.
type ClientRows struct {
	Rows    []ClientRow
	Omitted int
	reach   float64 // the largest skew in milliseconds
}

// ClientRow is a client.
type ClientRow struct {
	Name string
	// CPUPercent is of the client's limit. Skew is from the common start time to its first request, in milliseconds.
	CPUPercent, Skew float64
}

// NewClients returns the clients' usage; nil if no limit of their CPU is known.
func NewClients(r *result.Result) *ClientRows {
	limit := r.Environment.ClientCPULimit
	if limit <= 0 || len(r.Clients) == 0 {
		return nil
	}
	c := &ClientRows{}
	for i := range r.Clients {
		one := &r.Clients[i]
		c.Rows = append(c.Rows, ClientRow{fmt.Sprintf("client %d", one.Index), one.CPUPercentOf(limit), float64(one.StartSkewMicroseconds) / 1000})
		c.reach = max(c.reach, math.Abs(float64(one.StartSkewMicroseconds)/1000))
	}
	slices.SortStableFunc(c.Rows, func(a, b ClientRow) int { return cmp.Compare(b.CPUPercent, a.CPUPercent) })
	const most = 8
	if c.Omitted = len(c.Rows) - most; c.Omitted > 0 {
		c.Rows = c.Rows[:most]
	}
	return c
}

// Figure draws a bar of CPU for each client with the bounds of findings and, if it is known, when it started.
func (c *ClientRows) Figure() *plot.Figure {
	if c == nil {
		return nil
	}
	p := plot.Plot{Axis: "CPU, % of each client's limit; from 80% on it can be the limit"}
	skew := plot.Plot{Axis: "start, ± ms from the common time", X: plot.Around(c.reach), Marks: []plot.Mark{plot.Rule{X: 0, Stroke: plot.Stroke{Color: plot.AxisColor}}}}
	high := 100.0
	for _, r := range c.Rows {
		high = max(high, r.CPUPercent)
		p.Rows = append(p.Rows, plot.Row{Name: r.Name, Texts: []plot.Text{{Text: number.Percent(r.CPUPercent)}}, Marks: []plot.Mark{
			plot.Rect{From: plot.Point{Y: barTop}, To: plot.Point{X: r.CPUPercent, Y: barBottom}, Color: plot.Clients},
			plot.Rule{X: 80, Stroke: plot.Stroke{Color: plot.Ink, Dash: "2 3"}}, plot.Rule{X: 90, Stroke: plot.Stroke{Color: plot.Ink, Dash: "2 3"}},
		}})
		text := number.Unit(number.Significant(r.Skew), "ms")
		skew.Rows = append(skew.Rows, plot.Row{Name: r.Name, Texts: []plot.Text{{Text: text}}, Marks: []plot.Mark{plot.Dot{At: plot.Point{X: r.Skew, Y: plot.Middle}, Radius: 3.5, Color: plot.Clients, Tip: text}}})
	}
	p.X = plot.LinearExact(high)
	f := plot.Of("CPU of each client in percent of its limit", c.summary(), p)
	if c.reach > 0 && len(c.Rows) > 1 {
		f.Columns[0] = append(f.Columns[0], skew)
	}
	if c.Omitted > 0 {
		f.Note = fmt.Sprintf("%d clients that used less are in the table.", c.Omitted)
	}
	return f
}

func (c *ClientRows) summary() string {
	return fmt.Sprintf("%s used most, %s; the least of those shown %s.", c.Rows[0].Name, number.Percent(c.Rows[0].CPUPercent), number.Percent(c.Rows[len(c.Rows)-1].CPUPercent))
}
