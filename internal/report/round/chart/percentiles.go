package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/report/chart"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/report/plot"
	"github.com/assay-dev/assay/internal/report/round"
	"github.com/assay-dev/assay/internal/result"
)

// Percentiles draws the percentile curves of two single runs or of several, and how each differs from the first in percent at the
// same shares: up to where either run has fewer than 10 requests beyond. Both are nil if a run has no successful request, the
// difference also if all have too few.
func Percentiles(c *round.Comparison) (curves, difference *plot.Figure) {
	names, results := names(c), []*result.Result{c.Results[0]}
	for _, one := range c.All() {
		results = append(results, one.Results[1])
	}
	of := make([]chart.Curve, len(results))
	low, high, count := math.Inf(1), 0.0, int64(0)
	var texts []string
	for i, r := range results {
		h := r.Merged.Latencies.Get(result.Total)
		if h.Count() == 0 {
			return nil, nil
		}
		of[i] = chart.NewCurve(names[i], h)
		count, low, high = max(count, of[i].Count), min(low, of[i].Least()), max(high, of[i].Max)
		texts = append(texts, fmt.Sprintf("%s: %s requests, the longest in %s ms", names[i], number.Count(of[i].Count), number.Significant(of[i].Max)))
	}
	x := plot.Shares(float64(count))
	p := plot.Plot{Axis: "latency, ms (" + report.LatencyName(&results[0].Run) + ")", Height: 260, X: x, XName: plot.SharesName, Y: plot.Logarithmic(low, high)}
	for i := range of {
		p.Marks = append(p.Marks, of[i].Lines(plot.Stroke{Color: plot.VariantColor(i), Width: 2})...)
		p.Marks = append(p.Marks, plot.Variant(i, plot.Point{X: float64(of[i].Count), Y: of[i].Max}, false, fmt.Sprintf("%s: longest %s ms", names[i], number.Significant(of[i].Max))))
		p.Names = append(p.Names, plot.OfVariant(i, names[i], of[i].Max))
	}
	text := strings.Join(texts, "; ")
	const single = ". One run each: this doesn't tell which is better."
	curves = plot.Of("Percentile curves of "+strings.Join(names, " and "), text+single, p)

	lines := make([]plot.Line, len(of))
	least, most := math.Inf(1), math.Inf(-1)
	for i := 1; i < len(of); i++ {
		lines[i] = plot.Line{Stroke: plot.Stroke{Color: plot.VariantColor(i), Width: 2}}
		for _, at := range of[0].Points {
			a, b := percentileOf(results[0], at.X), percentileOf(results[i], at.X)
			if a > 0 && at.X <= min(of[0].Thin(), of[i].Thin()) {
				percent := 100 * (b/a - 1)
				least, most = min(least, percent), max(most, percent)
				lines[i].Points = append(lines[i].Points, plot.Point{X: at.X, Y: percent})
			}
		}
	}
	if math.IsInf(least, 1) {
		return curves, nil
	}
	others := strings.Join(names[1:], " and ")
	d := plot.Plot{Axis: fmt.Sprintf("latency of %s against %s, %%", others, names[0]), Height: 130, X: x, XName: plot.SharesName, Gutter: true, Y: plot.LogRatio(changeApart, 1.3, least, most)}
	d.Marks = []plot.Mark{plot.Level(0, plot.Stroke{Color: plot.Ink})}
	var beyond []string
	for i := 1; i < len(of); i++ {
		if len(lines[i].Points) == 0 {
			continue
		}
		d.Marks = append(d.Marks, lines[i])
		if len(of) > 2 {
			last := lines[i].Points[len(lines[i].Points)-1]
			d.Marks, d.Names = append(d.Marks, plot.Variant(i, last, false, names[i])), append(d.Names, plot.OfVariant(i, names[i], last.Y))
		}
		for _, at := range lines[i].Points { // an arrow head where the line leaves the axis, and its value where it is furthest
			if _, is := d.Y.Place(at.Y); is && (at.Y == least || at.Y == most) {
				text, shape := number.Minus(round.SignedPercent(at.Y)), plot.Up
				if at.Y < 0 {
					shape = plot.Down
				}
				d.Marks = append(d.Marks, plot.Dot{At: at, Shape: shape, Color: plot.VariantColor(i), Tip: text})
				beyond = append(beyond, text)
			}
		}
	}
	difference = plot.Of("Difference of "+others+" from "+names[0]+" by percentile", fmt.Sprintf("%s. The percentiles of %s differ by %s to %s", text, others,
		number.Minus(round.SignedPercent(least)), number.Minus(round.SignedPercent(most)))+single, d)
	if len(beyond) > 0 {
		difference.Note = "arrow heads: beyond the axis, " + strings.Join(slices.Compact(beyond), " and ")
	}
	return curves, difference
}

// percentileOf returns the percentile that one in so many requests exceeds, in milliseconds.
func percentileOf(r *result.Result, oneIn float64) float64 {
	return float64(r.Merged.Latencies.Get(result.Total).Percentile(100*(1-1/oneIn))) / 1000
}
