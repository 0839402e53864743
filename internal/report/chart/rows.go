package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/report/plot"
	"github.com/assay-dev/assay/internal/result"
)

// Thresholds draws a row for each threshold that has a number: the side that meets it as a thick line, and what was measured as a
// mark. The table has all thresholds. It has nothing without any, and no drawing if none has a number.
func Thresholds(r *result.Result) doc.Plot {
	if len(r.Thresholds) == 0 {
		return doc.Plot{}
	}
	var p plot.Plot
	var texts []string
	table := &doc.Table{Caption: "Thresholds", Columns: doc.Words("metric", "bound", "actual", "outcome")}
	at := func(x, y float64) plot.Point { return plot.Point{X: x, Y: plot.Middle + y} }
	for i := range r.Thresholds {
		o := &r.Thresholds[i]
		word, color := outcome(r, o.Met)
		name, actual := o.Name()+" "+o.Bound, ActualText(o)
		table.Rows = append(table.Rows, []string{o.Name(), o.Bound, actual, word})
		if o.Measured == nil {
			continue
		}
		texts = append(texts, fmt.Sprintf("%s: %s, %s", name, actual, word))
		x := plot.LinearExact(1.15 * max(o.Limit, *o.Measured))
		met := plot.Interval{Stroke: plot.Stroke{Color: plot.AxisColor, Width: 3}, From: at(0, 0), To: at(o.Limit, 0)}
		if o.Above {
			met.From.X = x.High
		}
		dot := plot.Dot{At: at(*o.Measured, 0), Radius: 4, Color: color, Hollow: invalid(r), Tip: actual}
		if !o.Met {
			dot.Shape = plot.Cross
		}
		p.Rows = append(p.Rows, plot.Row{Name: name, X: &x, Texts: []plot.Text{{Text: actual}, {Text: word, Color: color, Bold: true}}, Marks: []plot.Mark{
			plot.Interval{Stroke: plot.Stroke{Color: plot.Grid}, From: at(0, 0), To: at(x.High, 0)}, met,
			plot.Interval{Stroke: plot.Stroke{Color: plot.Ink, Width: 2}, From: at(o.Limit, -6), To: at(o.Limit, 6)}, dot,
		}})
	}
	if len(p.Rows) == 0 {
		return doc.Plot{Table: table}
	}
	return doc.Plot{Drawing: plot.Of("Thresholds", strings.Join(texts, "; ")+".", p), Table: table}
}

// outcome says whether a threshold is met, and in which color.
func outcome(r *result.Result, met bool) (string, plot.Color) {
	switch {
	case invalid(r):
		return "unknown: result not valid", plot.Same
	case met:
		return "met", plot.Good
	}
	return "MISSED", plot.Bad
}

// ActualText returns what was measured of a threshold with three significant digits, or as it is if these would put it at the
// bound or on its other side.
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

// Arrivals draws the target rate of an open load as an outline, and the achieved one as a bar. It has nothing for other loads.
func Arrivals(r *result.Result) doc.Plot {
	if r.Arrivals == nil {
		return doc.Plot{}
	}
	target, achieved, due, dropped := r.Arrivals.TargetRatePerSecond(), r.Arrivals.AchievedPerSecond(r.Merged.Dropped), r.Arrivals.Due, r.Merged.Dropped
	text := fmt.Sprintf("none of %s requests was dropped", number.Count(due))
	if dropped > 0 {
		text = fmt.Sprintf("%s of %s requests were dropped (%s): they never started, because no connection was free in time", number.Count(dropped), number.Count(due), number.Share(dropped, due))
	}
	rate := func(x float64) string { return number.Unit(number.Significant(x), "requests/s") }
	outline, full := bar(0, target, plot.Ink, ""), bar(0, achieved, plot.Throughput, "")
	outline.Outlined, full.Hatched = true, invalid(r)
	p := plot.Plot{Axis: "requests started per second", X: plot.LinearExact(max(target, achieved)), Rows: []plot.Row{
		{Name: "target rate", Marks: []plot.Mark{outline}, Texts: []plot.Text{{Text: rate(target)}}},
		{Name: "achieved rate", Marks: []plot.Mark{full}, Texts: []plot.Text{{Text: rate(achieved)}}},
	}}
	p.X.Ticks = nil // each bar has its number
	f := plot.Of("Target rate and achieved rate", fmt.Sprintf("Target %s requests/s, achieved %s requests/s; %s.", number.Significant(target), number.Significant(achieved), text), p)
	f.Note = text
	return doc.Plot{Drawing: f}
}

// Clients draws a bar of CPU with the bounds of findings for each client and, if it is known, when it started; those with the most
// CPU first. It has nothing if no limit of their CPU is known.
func Clients(r *result.Result) doc.Plot {
	limit, most := r.Environment.ClientCPULimit, 8
	if limit <= 0 || len(r.Clients) == 0 {
		return doc.Plot{}
	}
	clients := slices.Clone(r.Clients)
	slices.SortStableFunc(clients, func(a, b result.Client) int { return cmp.Compare(b.CPUPercentOf(limit), a.CPUPercentOf(limit)) })
	reach := 0.0
	for i := range clients {
		reach = max(reach, math.Abs(float64(clients[i].StartSkewMicroseconds)/1000))
	}
	shown := clients[:min(len(clients), most)]
	bound := plot.Stroke{Color: plot.Ink, Dash: "2 3"}
	used := plot.Plot{Axis: "CPU, % of each client's limit; from 80% on it can be the limit", X: plot.LinearExact(max(100, shown[0].CPUPercentOf(limit)))}
	started := plot.Plot{Axis: "start, ± ms from the common time", X: plot.Around(reach), Marks: []plot.Mark{plot.Rule{X: 0, Stroke: plot.Stroke{Color: plot.AxisColor}}}}
	for i := range shown {
		c := &shown[i]
		percent, skew := c.CPUPercentOf(limit), float64(c.StartSkewMicroseconds)/1000
		used.Rows = append(used.Rows, plot.Row{Name: clientName(c), Texts: []plot.Text{{Text: number.Percent(percent)}}, Marks: []plot.Mark{
			bar(0, percent, plot.Clients, ""), plot.Rule{X: 80, Stroke: bound}, plot.Rule{X: 90, Stroke: bound},
		}})
		started.Rows = append(started.Rows, plot.Row{Name: clientName(c), Texts: []plot.Text{{Text: milliseconds(skew)}}, Marks: []plot.Mark{
			plot.Dot{At: plot.Point{X: skew, Y: plot.Middle}, Radius: 3.5, Color: plot.Clients, Tip: milliseconds(skew)},
		}})
	}
	f := plot.Of("CPU of each client in percent of its limit", fmt.Sprintf("%s used most, %s; the least of those shown %s.", clientName(&shown[0]),
		number.Percent(shown[0].CPUPercentOf(limit)), number.Percent(shown[len(shown)-1].CPUPercentOf(limit))), used)
	if reach > 0 && len(shown) > 1 {
		f.Columns[0] = append(f.Columns[0], started)
	}
	if omitted := len(clients) - len(shown); omitted > 0 {
		f.Note = fmt.Sprintf("%d clients that used less are in the table.", omitted)
	}
	return doc.Plot{Drawing: f}
}
