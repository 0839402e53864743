package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/report/plot"
	"github.com/assay-dev/assay/internal/result"
)

const (
	// curvePoints is the number of steps of a percentile curve, at equal distances on its axis.
	curvePoints = 200
	// enoughBeyond is the number of requests beyond a percentile from which on the curve has its weight.
	enoughBeyond = 10
	// maxClientCurves is the number of clients up to which each has a curve. More have a range, and the worst a curve.
	maxClientCurves = 8
)

// Curve is a distribution as its percentiles.
type Curve struct {
	Name string
	// Count is the number of requests.
	Count int64
	// Points are percentiles: X is 1/(1-p), of so many requests one takes longer, and Y is in milliseconds.
	Points []plot.Point
	// Max is the longest latency in milliseconds.
	Max float64
}

// NewCurve returns the percentile curve of a histogram.
func NewCurve(name string, h *result.Histogram) Curve {
	c := Curve{Name: name, Count: h.Count(), Max: float64(h.Max()) / 1000}
	// One pass over the buckets serves all steps, which are in ascending order.
	bars := h.Bars()
	at, seen := 0, int64(0)
	for _, oneIn := range shares(float64(c.Count)) {
		rank := percentile.Rank(100*(1-1/oneIn), c.Count)
		for at < len(bars)-1 && seen+bars[at].Count < rank {
			seen += bars[at].Count
			at++
		}
		us := min(bars[at].To, h.Max())
		if oneIn == float64(c.Count) {
			us = h.Max()
		}
		c.Points = append(c.Points, plot.Point{X: oneIn, Y: float64(us) / 1000})
	}
	// The reported percentiles are on the curve, with the numbers that they have everywhere.
	for p := range percentile.Count {
		if oneIn := OneIn(p); oneIn < float64(c.Count) {
			c.Points = append(c.Points, plot.Point{X: oneIn, Y: float64(h.Percentile(p.Percent())) / 1000})
		}
	}
	slices.SortFunc(c.Points, func(a, b plot.Point) int { return cmp.Or(cmp.Compare(a.X, b.X), cmp.Compare(a.Y, b.Y)) })
	return c
}

// OneIn returns 1/(1-p) of a percentile: of so many requests one takes longer.
func OneIn(p percentile.Percentile) float64 { return 100 / (100 - p.Percent()) }

// shares returns 1/(1-p) from 1 to the count at equal distances on a log scale, which are the same for all counts, and
// the count itself.
func shares(count float64) []float64 {
	const perDecade = curvePoints / 5
	var all []float64
	for i := 0; ; i++ {
		oneIn := math.Pow(10, float64(i)/perDecade)
		if oneIn >= count {
			return append(all, max(1, count))
		}
		all = append(all, oneIn)
	}
}

// at returns the percentile of the point that is nearest from below, in milliseconds.
func (c *Curve) at(oneIn float64) float64 {
	i, found := slices.BinarySearchFunc(c.Points, oneIn, func(p plot.Point, oneIn float64) int { return cmp.Compare(p.X, oneIn) })
	if !found {
		i--
	}
	return c.Points[max(0, i)].Y
}

// Least returns the shortest latency in milliseconds that a log scale has; infinite if all are 0.
func (c *Curve) Least() float64 {
	least := math.Inf(1)
	for _, at := range c.Points {
		if at.Y > 0 {
			least = min(least, at.Y)
		}
	}
	return least
}

// Thin returns the share from which on fewer than 10 requests lie beyond.
func (c *Curve) Thin() float64 { return float64(c.Count) / enoughBeyond }

// Lines returns a curve; from where fewer than 10 requests lie beyond, it is thin.
func (c *Curve) Lines(s plot.Stroke) []plot.Mark {
	n := slices.IndexFunc(c.Points, func(p plot.Point) bool { return p.X > c.Thin() })
	if n < 0 {
		n = len(c.Points)
	}
	light := s
	light.Width = min(1, s.Width)
	return []plot.Mark{plot.Line{Stroke: s, Points: c.Points[:n]}, plot.Line{Stroke: light, Points: c.Points[max(0, n-1):]}} // they meet
}

// Percentiles draws the percentile curve of all clients, those of the parts of an open load's latency, and those of clients: the
// share of requests on a logarithmic axis of 1/(1-p), so that each further nine has the same room, and the latency on a
// logarithmic one. It has nothing if no request succeeded.
func Percentiles(r *result.Result) doc.Plot {
	total := r.Merged.Latencies.Get(result.Total)
	if total.Count() == 0 {
		return doc.Plot{}
	}
	merged, count := NewCurve("all clients", total), float64(total.Count())
	if len(r.Clients) == 1 {
		merged.Name = "client 0"
	}
	clients, least, most := clientCurves(r)
	others := []Curve{}
	for _, other := range []result.Phase{result.Service, result.Delay} {
		if h := r.Merged.Latencies.Get(other); h.Count() > 0 {
			others = append(others, NewCurve(map[result.Phase]string{result.Service: "service time", result.Delay: "start delay"}[other], h))
		}
	}
	name := report.LatencyName(&r.Run)
	p := plot.Plot{Axis: "latency (" + name + "), ms, log scale", Height: 280, X: plot.Shares(count), XName: plot.SharesName, Invalid: invalid(r)}
	p.Names = []plot.Name{{Text: merged.Name, Y: merged.Max, Stroke: plot.Stroke{Color: plot.Ink, Width: 2}, Bold: true}}
	caption := fmt.Sprintf("%s requests of all clients, from their merged histogram; the curve ends at their count and is thin where fewer than 10 requests lie beyond.", number.Count(merged.Count))
	low, high := math.Inf(1), merged.Max
	draw := func(c *Curve, s plot.Stroke) {
		p.Marks = append(p.Marks, c.Lines(s)...)
		if c.Name != "start delay" { // most are some microseconds, which would take all of the axis
			low = min(low, c.Least())
		}
	}
	if len(most) > 0 {
		outline := slices.Concat(most, least)
		slices.Reverse(outline[len(most):])
		p.Marks = append(p.Marks, plot.Area{Color: plot.Grid, Outlines: [][]plot.Point{outline}})
	}
	for i := range clients {
		draw(&clients[i], plot.Stroke{Color: plot.AxisColor})
	}
	for i := range others {
		s := plot.Stroke{Color: plot.P99, Width: 1.5, Dash: []string{"6 3", "1.5 3"}[i]}
		draw(&others[i], s)
		p.Names = append(p.Names, plot.Name{Text: others[i].Name, Y: others[i].Max, Stroke: s})
	}
	draw(&merged, plot.Stroke{Color: plot.Ink, Width: 2})
	switch n := len(clients); {
	case len(most) > 0:
		caption += " Gray: the range of all clients, and the worst of them."
		p.Names = append(p.Names, plot.Name{Text: clients[0].Name, Y: clients[0].Max, Stroke: plot.Stroke{Color: plot.AxisColor}},
			plot.Name{Text: "range of clients", Y: least[len(least)-1].Y, Stroke: plot.Stroke{Color: plot.Grid}, Box: true})
	case n > 0:
		caption += " Thin gray lines: each client."
		p.Names = append(p.Names, plot.Name{Text: fmt.Sprintf("%d clients", n), Y: clients[n-1].Max, Stroke: plot.Stroke{Color: plot.AxisColor}})
	case len(r.Clients) > 1:
		caption += " The clients' histograms were dropped to keep the stored result small."
	}
	marks, texts := marked(&merged, total)
	p.Marks = append(p.Marks, marks...)
	for _, o := range r.Thresholds {
		if name, at, is := percentileBound(&o); is {
			word, color := outcome(r, o.Met)
			low, high = min(low, at.Y), max(high, at.Y)
			p.Marks = append(p.Marks, bracket(&merged, at, fmt.Sprintf("%s %s: %s", name, o.Bound, word), color)...)
		}
	}
	p.Y = plot.Logarithmic(low, high)
	description := fmt.Sprintf("%s of %s requests: %s, the longest %s.", name, number.Count(merged.Count), strings.Join(texts, ", "), milliseconds(merged.Max))
	return doc.Plot{Drawing: plot.Of("Percentile curve, "+name, description, p), Table: percentileTable(r), Caption: caption}
}

// clientCurves returns the curves of the clients whose histograms are known. Of many it returns the worst one, and the least and
// the largest percentiles of all of them.
func clientCurves(r *result.Result) (curves []Curve, least, most []plot.Point) {
	if len(r.Clients) == 1 {
		return nil, nil, nil
	}
	for i := range r.Clients {
		if h := r.Clients[i].Latencies.Get(result.Total); h.Count() > 0 {
			curves = append(curves, NewCurve(clientName(&r.Clients[i]), h))
		}
	}
	if len(curves) <= maxClientCurves {
		return curves, nil, nil
	}
	for _, oneIn := range shares(float64(r.Merged.Latencies.Get(result.Total).Count())) {
		low, high := math.Inf(1), math.Inf(-1)
		for i := range curves {
			if float64(curves[i].Count) >= oneIn {
				at := curves[i].at(oneIn)
				low, high = min(low, at), max(high, at)
			}
		}
		if low <= high {
			least, most = append(least, plot.Point{X: oneIn, Y: low}), append(most, plot.Point{X: oneIn, Y: high})
		}
	}
	worst := slices.MaxFunc(curves, func(a, b Curve) int { return cmp.Compare(a.at(100), b.at(100)) })
	worst.Name += " (worst)"
	return []Curve{worst}, least, most
}

// marked writes some percentiles and the maximum at the curve of a histogram, and returns the percentiles as texts as well.
func marked(c *Curve, h *result.Histogram) (marks []plot.Mark, texts []string) {
	mark := func(name string, oneIn, ms float64) {
		at := plot.Point{X: oneIn, Y: ms}
		text := plot.Text{At: at, DX: -4, DY: -8, Text: name + " " + milliseconds(ms), Anchor: plot.End, Bold: true}
		if oneIn < 4 {
			text.Anchor, text.DX, text.DY = plot.Start, 6, 18
		}
		marks = append(marks, plot.Dot{At: at, Color: plot.Ink, Tip: text.Text}, text)
	}
	mark("max", float64(c.Count), c.Max)
	for _, p := range []percentile.Percentile{percentile.P999, percentile.P99, percentile.P90, percentile.P50} {
		if oneIn := OneIn(p); oneIn <= float64(c.Count) {
			ms := float64(h.Percentile(p.Percent())) / 1000
			mark("p"+p.String(), oneIn, ms)
			texts = append([]string{fmt.Sprintf("p%s %s", p, milliseconds(ms))}, texts...)
		}
	}
	return marks, texts
}

// percentileBound returns name and place of a threshold of a percentile, "below 50ms" of "LatencyP99", and whether it is one.
func percentileBound(o *result.ThresholdOutcome) (name string, at plot.Point, is bool) {
	for p := range percentile.Count {
		if o.Metric == "Latency"+p.Name() && o.Request == "" {
			milliseconds, known := map[string]float64{"us": 1e-3, "ms": 1, "s": 1e3}[o.Unit]
			return "p" + p.String(), plot.Point{X: OneIn(p), Y: milliseconds * o.Limit}, known && !o.Above
		}
	}
	return "", at, false
}

// bracket returns a bracket with words at the bound of a percentile: what is above it is missed.
func bracket(c *Curve, at plot.Point, words string, color plot.Color) []plot.Mark {
	wide := math.Pow(float64(max(2, c.Count)), 0.012)
	text := plot.Text{At: at, DX: 12, DY: -4, Text: words, Color: color}
	if math.Log(at.X) > 0.5*math.Log(float64(c.Count)) {
		text.Anchor, text.DX = plot.End, -12
	}
	if curve := c.at(at.X); curve > at.Y || at.Y/curve < 1.5 { // beside the curve, and not over the names at it
		text.DY = 20
	}
	return []plot.Mark{plot.Interval{Stroke: plot.Stroke{Color: color, Width: 2}, From: plot.Point{X: at.X / wide, Y: at.Y}, To: plot.Point{X: at.X * wide, Y: at.Y}, Caps: 3}, text}
}

// percentileTable has ab's percentiles and further ones of all clients and of each, in milliseconds.
func percentileTable(r *result.Result) *doc.Table {
	type row struct {
		name string
		result.Summary
	}
	rows := []row{{"all clients", r.TotalSummary()}}
	if len(r.Clients) > 1 {
		for i := range r.Clients {
			c := &r.Clients[i]
			s := c.Latencies.Get(result.Total).Summarize(0)
			if kept := c.Summaries[result.Total]; kept != nil {
				s = *kept
			}
			rows = append(rows, row{clientName(c), s})
		}
	}
	fields := []doc.Field[row]{doc.Word("", func(x *row) string { return x.name })}
	for p := range percentile.Count {
		fields = append(fields, doc.Number(p.String()+"%", func(x *row) string {
			if x.Percentiles[p] == result.Unknown || x.Count == 0 {
				return "-"
			}
			return report.Milliseconds(x.Percentiles[p])
		}))
	}
	return doc.TableOf("Latency in ms by percentile", rows, append(fields,
		doc.Number("max", func(x *row) string { return report.Milliseconds(x.Max) }),
		doc.Number("requests", func(x *row) string { return number.Count(x.Count) }))...)
}
