package chart

import (
	"fmt"
	"math"

	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/report/chart"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/report/plot"
	"github.com/assay-dev/assay/internal/report/round"
	"github.com/assay-dev/assay/internal/result"
)

// Percentiles draws the percentile curves of two single runs, and how the second differs from the first in percent at the
// same shares: up to where either run has fewer than 10 requests beyond. Both are nil if a run has no successful request, the
// difference also if a run has too few.
func Percentiles(c *round.Comparison) (curves, difference *plot.Figure) {
	var of [2]chart.Curve
	low, high := math.Inf(1), math.Inf(-1)
	names := [2]string{c.Baseline.Name, c.Candidate.Name}
	for i, r := range c.Results {
		h := r.Merged.Latencies.Get(result.Total)
		if h.Count() == 0 {
			return nil, nil
		}
		of[i] = chart.NewCurve(names[i], h)
		for _, at := range of[i].Points {
			if at.Y > 0 {
				low, high = min(low, at.Y), max(high, at.Y)
			}
		}
	}
	x := plot.Shares(float64(max(of[0].Count, of[1].Count)))
	p := plot.Plot{Axis: "latency, ms (" + report.LatencyName(&c.Results[0].Run) + ")", Height: 260, X: x, XName: plot.SharesName, Y: plot.Logarithmic(low, high)}
	for i := range of {
		p.Marks = append(p.Marks, of[i].Lines(plot.Stroke{Color: plot.VariantColor(i), Width: 2})...)
		p.Marks = append(p.Marks, plot.Variant(i, plot.Point{X: float64(of[i].Count), Y: of[i].Max}, false, fmt.Sprintf("%s: longest %s ms", names[i], number.Significant(of[i].Max))))
		p.Names = append(p.Names, plot.OfVariant(i, names[i], of[i].Max))
	}
	text := fmt.Sprintf("%s: %s requests, the longest in %s ms; %s: %s requests, the longest in %s ms", names[0], number.Count(of[0].Count), number.Significant(of[0].Max),
		names[1], number.Count(of[1].Count), number.Significant(of[1].Max))
	const single = ". One run each: this doesn't tell which is better."
	curves = plot.Of("Percentile curves of "+names[0]+" and "+names[1], text+single, p)

	line := plot.Line{Stroke: plot.Stroke{Color: plot.VariantColor(1), Width: 2}}
	least, most := math.Inf(1), math.Inf(-1)
	for _, at := range of[0].Points {
		a, b := percentileOf(c.Results[0], at.X), percentileOf(c.Results[1], at.X)
		if a > 0 && at.X <= min(of[0].Thin(), of[1].Thin()) {
			percent := 100 * (b/a - 1)
			least, most = min(least, percent), max(most, percent)
			line.Points = append(line.Points, plot.Point{X: at.X, Y: percent})
		}
	}
	if len(line.Points) == 0 {
		return curves, nil
	}
	tolerance := 0.0
	for i := range c.Effects {
		tolerance = float64(c.Effects[i].TolerancePercent)
	}
	d := plot.Plot{Axis: fmt.Sprintf("latency of %s against %s, %%", names[1], names[0]), Height: 130, X: x, XName: plot.SharesName, Gutter: true, Y: changes(1.3, tolerance, least, most)}
	d.Marks = append(toleranceMarks(tolerance), line)
	return curves, plot.Of("Difference of "+names[1]+" from "+names[0]+" by percentile", fmt.Sprintf("%s. The percentiles of %s differ by %s to %s", text, names[1],
		number.Minus(round.SignedPercent(least)), number.Minus(round.SignedPercent(most)))+single, d)
}

// percentileOf returns the percentile that one in so many requests exceeds, in milliseconds.
func percentileOf(r *result.Result, oneIn float64) float64 {
	return float64(r.Merged.Latencies.Get(result.Total).Percentile(100*(1-1/oneIn))) / 1000
}
