package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/result"
)

const (
	// curvePoints is the number of steps of a percentile curve, at equal distances on its axis.
	curvePoints = 200
	// enoughBeyond is the number of requests beyond a percentile from which on the curve has its weight.
	enoughBeyond = 10
	// maxClientCurves is the number of clients up to which each has a curve. More have an envelope, and the worst a curve.
	maxClientCurves = 8
)

// Curve is a distribution as its percentiles.
type Curve struct {
	Name string
	// Count is the number of requests.
	Count  int64
	Points []CurvePoint
	// Max is the longest latency in milliseconds.
	Max float64
	// Percentiles are the reported ones, in microseconds.
	Percentiles result.Percentiles
}

// CurvePoint is a percentile of a histogram.
type CurvePoint struct {
	// OneIn is 1/(1-p): of so many requests one takes longer.
	OneIn        float64
	Milliseconds float64
}

// Curves holds the percentile curves of a result.
type Curves struct {
	// Merged is that of all clients, from their merged histogram.
	Merged Curve
	// Others are drawn thinner, by their dash: of an open load the parts of the latency.
	Others []Curve
	// Clients are those of the clients whose histograms are known, Envelope the least and the largest figures of all of
	// them. One of them is nil.
	Clients  []Curve
	Envelope []Band
	// Bounds are the declared thresholds of percentiles.
	Bounds []CurveBound
	// Name says what the latencies are.
	Name    string
	Invalid bool
}

// Band is a range of milliseconds at a share of requests.
type Band struct{ OneIn, Low, High float64 }

// CurveBound is a threshold of a percentile.
type CurveBound struct {
	OneIn, Milliseconds float64
	Text                string
	Met                 bool
}

// NewCurves returns the percentile curves; nil if no request succeeded.
func NewCurves(r *result.Result) *Curves {
	total := r.Merged.Latencies.Get(result.Total)
	if total.Count() == 0 {
		return nil
	}
	c := &Curves{Merged: NewCurve("all clients", total), Name: LatencyName(&r.Run), Invalid: invalid(r)}
	if len(r.Clients) == 1 {
		c.Merged.Name = "client 0"
	}
	for _, other := range []struct {
		phase result.Phase
		name  string
	}{{result.Service, "service time"}, {result.Delay, "start delay"}} {
		if h := r.Merged.Latencies.Get(other.phase); h.Count() > 0 {
			c.Others = append(c.Others, NewCurve(other.name, h))
		}
	}
	if len(r.Clients) > 1 {
		c.addClients(r)
	}
	for _, o := range r.Thresholds {
		if b, ok := curveBound(o); ok {
			c.Bounds = append(c.Bounds, b)
		}
	}
	return c
}

// addClients adds the curves of the clients whose histograms the result has.
func (c *Curves) addClients(r *result.Result) {
	for i := range r.Clients {
		if h := r.Clients[i].Latencies.Get(result.Total); h.Count() > 0 {
			c.Clients = append(c.Clients, NewCurve(fmt.Sprintf("client %d", r.Clients[i].Index), h))
		}
	}
	if len(c.Clients) <= maxClientCurves {
		return
	}
	all := c.Clients
	worst := slices.MaxFunc(all, func(a, b Curve) int { return cmp.Compare(a.at(100), b.at(100)) })
	worst.Name += " (worst)"
	c.Clients = []Curve{worst}
	for _, oneIn := range shares(float64(c.Merged.Count)) {
		b := Band{oneIn, math.Inf(1), math.Inf(-1)}
		for i := range all {
			if float64(all[i].Count) >= oneIn {
				at := all[i].at(oneIn)
				b.Low, b.High = min(b.Low, at), max(b.High, at)
			}
		}
		if b.Low <= b.High {
			c.Envelope = append(c.Envelope, b)
		}
	}
}

// at returns the percentile of the point that is nearest from below, in milliseconds.
func (c *Curve) at(oneIn float64) float64 {
	i, found := slices.BinarySearchFunc(c.Points, oneIn, func(p CurvePoint, oneIn float64) int { return cmp.Compare(p.OneIn, oneIn) })
	if !found {
		i--
	}
	return c.Points[max(0, i)].Milliseconds
}

// Thin returns the share from which on fewer than 10 requests lie beyond.
func (c *Curve) Thin() float64 { return float64(c.Count) / enoughBeyond }

// NewCurve returns the percentile curve of a histogram.
func NewCurve(name string, h *result.Histogram) Curve {
	c := Curve{Name: name, Count: h.Count(), Max: float64(h.Max()) / 1000, Percentiles: h.Summarize(0).Percentiles}
	steps := shares(float64(c.Count))
	// One pass over the buckets serves all steps, which are in ascending order.
	bars := h.Bars()
	at, seen := 0, int64(0)
	for _, oneIn := range steps {
		rank := percentile.Rank(100*(1-1/oneIn), c.Count)
		for at < len(bars)-1 && seen+bars[at].Count < rank {
			seen += bars[at].Count
			at++
		}
		us := min(bars[at].To, h.Max())
		if oneIn == float64(c.Count) {
			us = h.Max()
		}
		c.Points = append(c.Points, CurvePoint{oneIn, float64(us) / 1000})
	}
	// The reported percentiles are on the curve, with the figures that they have everywhere.
	for p := range percentile.Count {
		if oneIn := OneIn(p); oneIn < float64(c.Count) {
			c.Points = append(c.Points, CurvePoint{oneIn, float64(c.Percentiles[p]) / 1000})
		}
	}
	slices.SortFunc(c.Points, func(a, b CurvePoint) int {
		return cmp.Or(cmp.Compare(a.OneIn, b.OneIn), cmp.Compare(a.Milliseconds, b.Milliseconds))
	})
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

// curveBound returns the threshold of a percentile, "below 50ms" of "LatencyP99", and whether it is one.
func curveBound(o result.ThresholdOutcome) (CurveBound, bool) {
	for p := range percentile.Count {
		if o.Metric != "Latency"+p.Name() {
			continue
		}
		milliseconds, known := map[string]float64{"us": 1e-3, "ms": 1, "s": 1e3}[o.Unit]
		if o.Above || !known {
			return CurveBound{}, false
		}
		return CurveBound{OneIn: OneIn(p), Milliseconds: milliseconds * o.Limit, Text: "p" + p.String() + " " + o.Bound, Met: o.Met}, true
	}
	return CurveBound{}, false
}

// Marked are the percentiles that are written at the curve, if the count allows.
var Marked = []percentile.Percentile{percentile.P50, percentile.P90, percentile.P99, percentile.P999}

// Summary returns the curves in a sentence.
func (c *Curves) Summary() string {
	texts := []string{}
	for _, p := range Marked {
		if oneIn := OneIn(p); oneIn <= float64(c.Merged.Count) {
			texts = append(texts, fmt.Sprintf("p%s %s", p, number.Unit(number.Milliseconds(c.Merged.Percentiles[p]), "ms")))
		}
	}
	return fmt.Sprintf("%s of %s requests: %s, the longest %s.", c.Name, number.Count(c.Merged.Count), strings.Join(texts, ", "), number.Unit(number.Significant(c.Merged.Max), "ms"))
}
