package chart

import (
	"math"

	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/result"
)

const (
	// curvePoints is the number of points of a percentile curve.
	curvePoints = 240
	// enoughBeyond is the number of requests that must lie beyond a percentile for it to be drawn with weight, and
	// for a difference to be drawn at all.
	enoughBeyond = 10
)

// Percentiles holds the percentile curves of two runs, and how the second differs from the first.
type Percentiles struct {
	Curves [2]Curve
	// Differences are those of the second curve from the first in percent, at the same shares. They end where either
	// run has fewer than 10 requests beyond.
	Differences []Difference
	// TolerancePercent is the difference that doesn't matter.
	TolerancePercent int32
	// Axis says what the latencies are.
	Axis string
}

// Curve is the percentile curve of a run.
type Curve struct {
	Name string
	// Count is the number of successful requests.
	Count  int64
	Points []CurvePoint
	// Max is the longest latency in milliseconds.
	Max float64
}

// CurvePoint is a percentile of one merged histogram.
type CurvePoint struct {
	// OneIn is 1/(1-p): of so many requests one takes longer.
	OneIn        float64
	Milliseconds float64
	// Thin reports whether fewer than 10 requests lie beyond.
	Thin bool
}

// Difference is that of two percentiles.
type Difference struct {
	OneIn, Percent float64
}

// NewPercentiles returns the percentile curves of two results; nil if one of them has no successful request.
func NewPercentiles(names [2]string, results [2]*result.Result, tolerancePercent int32) *Percentiles {
	p := &Percentiles{TolerancePercent: tolerancePercent, Axis: LatencyName(results[0].Run.Load)}
	var histograms [2]*result.Histogram
	for i, r := range results {
		h := r.Merged.Latencies.Get(result.Total)
		if h.Count() == 0 {
			return nil
		}
		histograms[i] = h
		p.Curves[i] = newCurve(names[i], h)
	}
	least := min(p.Curves[0].Count, p.Curves[1].Count)
	for _, oneIn := range steps(float64(least) / enoughBeyond) {
		a, b := at(histograms[0], oneIn), at(histograms[1], oneIn)
		if a > 0 {
			p.Differences = append(p.Differences, Difference{OneIn: oneIn, Percent: 100 * (b/a - 1)})
		}
	}
	return p
}

// LatencyName returns what the latency of a load is.
func LatencyName(load string) string {
	switch load {
	case result.LoadOpen:
		return "response time"
	case result.LoadScript:
		return "http_req_duration of k6"
	}
	return "service time"
}

func newCurve(name string, h *result.Histogram) Curve {
	c := Curve{Name: name, Count: h.Count(), Max: float64(h.Max()) / 1000}
	for _, oneIn := range steps(float64(h.Count())) {
		c.Points = append(c.Points, CurvePoint{OneIn: oneIn, Milliseconds: at(h, oneIn), Thin: oneIn > float64(h.Count())/enoughBeyond})
	}
	c.Points[len(c.Points)-1].Milliseconds = c.Max // one of all takes that long
	return c
}

// at returns the percentile that one in so many requests exceeds, in milliseconds.
func at(h *result.Histogram, oneIn float64) float64 {
	return float64(h.Percentile(100*(1-1/oneIn))) / 1000
}

// steps returns values from 1 up to a limit at equal distances on a log scale, and exactly those of the percentiles
// that the table has.
func steps(limit float64) []float64 {
	if limit < 1 {
		return nil
	}
	all := []float64{1}
	for i := 1; i < curvePoints; i++ {
		all = append(all, math.Pow(limit, float64(i)/curvePoints))
	}
	return append(all, limit)
}

// PercentileRow is a row of the table of two percentile curves. Both are in milliseconds, and NaN where a run has
// fewer requests.
type PercentileRow struct {
	Percent float64
	Values  [2]float64
	// Change is the difference in percent; NaN where either run has fewer than 10 requests beyond.
	Change float64
}

// PercentileRows returns the percentiles of two results.
func PercentileRows(results [2]*result.Result) []PercentileRow {
	var rows []PercentileRow
	for _, percent := range []float64{50, 66, 75, 80, 90, 95, 98, 99, 99.9, 99.99} {
		row := PercentileRow{Percent: percent, Change: math.NaN()}
		enough := true
		for i, r := range results {
			h := r.Merged.Latencies.Get(result.Total)
			beyond := h.Count() - percentile.Rank(percent, h.Count())
			enough = enough && beyond >= enoughBeyond
			row.Values[i] = math.NaN()
			if beyond >= 1 {
				row.Values[i] = float64(h.Percentile(percent)) / 1000
			}
		}
		if enough && row.Values[0] > 0 {
			row.Change = 100 * (row.Values[1]/row.Values[0] - 1)
		}
		rows = append(rows, row)
	}
	return rows
}
