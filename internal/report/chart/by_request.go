package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/report/plot"
	"github.com/assay-dev/assay/internal/result"
)

// maxRequestCurves is the number of requests up to which each has a curve. Of more, those with the longest 99th percentiles have.
const maxRequestCurves = 8

// PercentilesByRequest draws the percentile curve of each request of a load. It has nothing if there are fewer than two.
func PercentilesByRequest(r *result.Result) doc.Plot {
	var curves []Curve
	for i := range r.ByRequest {
		if m := &r.ByRequest[i]; m.Latency != nil && m.Latency.Count() > 0 {
			curves = append(curves, NewCurve(m.Name, m.Latency))
		}
	}
	known := len(curves)
	if known < 2 {
		return doc.Plot{}
	}
	slices.SortStableFunc(curves, func(a, b Curve) int { return cmp.Compare(b.at(OneIn(percentile.P99)), a.at(OneIn(percentile.P99))) })
	curves = curves[:min(known, maxRequestCurves)]
	name, most := report.LatencyName(&r.Run), int64(0)
	low, high := math.Inf(1), 0.0
	p := plot.Plot{Axis: "latency (" + name + "), ms, log scale", Height: 240, XName: plot.SharesName, Invalid: invalid(r)}
	for i := range curves {
		c := &curves[i]
		s := plot.Stroke{Color: plot.VariantColor(i), Width: 1.5, Dash: []string{"", "6 3"}[i/plot.Variants%2]}
		p.Marks = append(p.Marks, c.Lines(s)...)
		p.Names = append(p.Names, plot.Name{Text: c.Name, Y: c.Max, Stroke: s})
		most, low, high = max(most, c.Count), min(low, c.Least()), max(high, c.Max)
	}
	p.X, p.Y = plot.Shares(float64(most)), plot.Logarithmic(low, high)
	caption := "Each request of the load, over all clients; a curve ends at the request's count and is thin where fewer than 10 of its requests lie beyond."
	if known > len(curves) {
		caption += fmt.Sprintf(" The %d of %d requests with the longest 99th percentiles.", len(curves), known)
	}
	description := fmt.Sprintf("%s of %s by their names.", name, number.Plural(len(curves), "request"))
	return doc.Plot{Drawing: plot.Of("Percentile curves by request, "+name, description, p), Caption: caption}
}
