package chart

import (
	"fmt"
	"math"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/trend"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/report/plot"
	"github.com/assay-dev/assay/internal/report/round"
)

// maxTrends is the largest number of series that are drawn; the table has all.
const maxTrends = 12

// Trend draws a plot for each series of a round's trend: the medians of the rounds by the time of their end, and the levels
// between changes. Of too many series those with changes are drawn. It returns nil without a trend.
func Trend(r *round.Report) *plot.Figure {
	trends := r.Trends()
	if len(trends) == 0 {
		return nil
	}
	drawn, changes := trends[:min(len(trends), maxTrends)], 0
	for i := range trends {
		changes += max(0, len(trends[i].Levels)-1)
	}
	var plots []plot.Plot
	for i := range drawn {
		plots = append(plots, trendPlot(r, &drawn[i]))
	}
	f := plot.Of("Trend over rounds", fmt.Sprintf("Medians of %d rounds in %d series, %d changes of level. A change of level decides nothing.", len(r.Trend.Rounds), len(trends), changes), plots...)
	if more := len(trends) - maxTrends; more > 0 {
		f.Note = fmt.Sprintf("%d more series are in the table.", more)
	}
	return f
}

func trendPlot(r *round.Report, t *round.Trend) plot.Plot {
	rounds := r.Trend.Rounds
	p := plot.Plot{
		Title: fmt.Sprintf("%s of %s", round.MetricName(t.Metric), t.Label), Axis: r.AxisTitle(t.Metric), Height: 140,
		X: plot.Dates(rounds[0].Ended, rounds[len(rounds)-1].Ended), XName: "date of the round (UTC)",
	}
	at := func(place int, y float64) plot.Point { return plot.Point{X: float64(rounds[place].Ended.Unix()), Y: y} }
	low, high := math.Inf(1), math.Inf(-1)
	for i := range rounds {
		median := round.InUnitOf(t.Metric, t.Medians[i])
		if median == nil {
			continue
		}
		low, high = min(low, *median), max(high, *median)
		if e := trendEstimate(r, t); rounds[i].Number == r.Number && e != nil && e.Low != nil && e.High != nil {
			from, to := round.InUnit(t.Metric, *e.Low), round.InUnit(t.Metric, *e.High)
			low, high = min(low, from), max(high, to)
			p.Marks = append(p.Marks, plot.Interval{Stroke: plot.Stroke{Color: plot.VariantColor(0), Width: 2}, From: at(i, from), To: at(i, to)})
		}
		dot := plot.Dot{At: at(i, *median), Radius: 3.5, Color: plot.VariantColor(0), Tip: fmt.Sprintf("round %d, %s: %s", rounds[i].Number, rounds[i].Ended.UTC().Format("2006-01-02 15:04"), number.Significant(*median))}
		if rounds[i].Verdict == v1alpha1.BenchmarkInconclusive {
			dot.Hollow, dot.Tip = true, dot.Tip+", inconclusive"
		}
		p.Marks = append(p.Marks, dot)
		if i == len(rounds)-1 {
			p.Marks = append(p.Marks, plot.Text{At: dot.At, DX: -8, DY: -9, Text: fmt.Sprintf("round %d", rounds[i].Number), Anchor: plot.End})
		}
	}
	p.Y = plot.Range(low, high)
	for i, names := range r.TrendConditions() {
		if names != "" {
			top := at(i, p.Y.Low+0.07*(p.Y.High-p.Y.Low))
			p.Marks = append(p.Marks, plot.Interval{Stroke: plot.Stroke{Color: plot.Ink, Width: 1.5}, From: at(i, p.Y.Low), To: top}, plot.Text{At: top, DY: -4, Text: names, Anchor: plot.Center, Color: plot.Muted})
		}
	}
	for _, l := range t.Levels {
		median := round.InUnit(t.Metric, l.Median)
		p.Marks = append(p.Marks, plot.Interval{Stroke: plot.Stroke{Color: plot.Ink, Width: 1.5}, From: at(l.First, median), To: at(l.Last, median)})
		if l.Change != nil {
			p.Marks = append(p.Marks, plot.Rule{X: at(l.First, 0).X, Stroke: plot.Stroke{Color: plot.Ink, Dash: "3 3"}, Text: changeText(r, t, l.Change)})
		}
	}
	return p
}

// trendEstimate returns the median of a series in the round that is reported, whose interval is known; nil without one.
func trendEstimate(r *round.Report, t *round.Trend) *benchmark.Estimate {
	for i := range r.Cells {
		if r.Cells[i].Name == t.Cell {
			return r.Estimate(i, t.Metric)
		}
	}
	return nil
}

// changeText says how the level changed, from which round on and in which one that was found.
func changeText(r *round.Report, t *round.Trend, c *benchmark.TrendChange) string {
	text := fmt.Sprintf("from round %d", c.Round)
	if percent := c.Percent(); percent != nil {
		text = number.Minus(round.SignedPercent(*percent)) + " " + text
	}
	if found := trend.FoundIn(r.Trend, t.TrendSeries, c); found > 0 {
		text += fmt.Sprintf(", found in round %d", found)
	}
	return text
}
