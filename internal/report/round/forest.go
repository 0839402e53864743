package round

import (
	"math"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark/inference"
	"github.com/assay-dev/assay/internal/report/plot"
)

const (
	// forestWidth is the width of a forest plot in characters, narrowForestWidth that on a terminal on which its lines wouldn't fit.
	forestWidth       = 41
	narrowForestWidth = 25
	// forestApart is the distance of labels of the axis in characters.
	forestApart = 5.5
)

// forest is a plot of those effects that are in a metric and known, in characters.
type forest struct {
	metric v1alpha1.BenchmarkMetric
	rows   []EffectRow
}

// SVG implements doc.Drawing.
func (*forest) SVG() string { return "" }

// Lines implements doc.Drawing.
func (f *forest) Lines(columns int) []string {
	lines := f.lines(forestWidth)
	for _, line := range lines {
		if columns > 0 && len([]rune(line)) >= columns {
			return f.lines(narrowForestWidth)
		}
	}
	return lines
}

// lines returns the plot with an axis of a number of characters.
func (f *forest) lines(width int) []string {
	reach, p := 0.0, plot.Plot{Axis: "change of " + MetricName(f.metric) + ", %"}
	for _, e := range f.rows {
		if e.Metric != f.metric || e.Percent == nil {
			continue
		}
		tolerance := float64(e.TolerancePercent)
		for _, p := range []*float64{e.Percent, e.LowPercent, e.HighPercent, &tolerance} {
			switch {
			case p == nil:
			case *p <= -100:
				reach = math.Inf(1)
			default:
				reach = max(reach, math.Abs(math.Log1p(*p/100)))
			}
		}
		p.Rows = append(p.Rows, forestRow(&e, tolerance))
	}
	if len(p.Rows) == 0 {
		return nil
	}
	p.X = plot.LogRatio(100*math.Expm1(reach), forestApart/float64(width-1))
	return p.Text(width, 0)
}

// forestRow returns the interval of an effect, the estimate as a dot, hollow if it can't be told yet, and the conclusion.
func forestRow(e *EffectRow, tolerance float64) plot.Row {
	row := plot.Row{Name: e.Label}
	if tolerance > 0 {
		dashed := plot.Stroke{Dash: "1 3"}
		row.Marks = append(row.Marks, plot.Rule{Stroke: dashed, X: -tolerance}, plot.Rule{Stroke: dashed, X: tolerance})
	}
	low, high := math.Inf(-1), math.Inf(1)
	if e.LowPercent != nil {
		low = *e.LowPercent
	}
	if e.HighPercent != nil {
		high = *e.HighPercent
	}
	row.Marks = append(row.Marks, plot.Rule{}, plot.Interval{From: plot.Point{X: low}, To: plot.Point{X: high}},
		plot.Dot{At: plot.Point{X: *e.Percent}, Hollow: e.Word == v1alpha1.EffectCannotTell})
	word := inference.Phrase(e.Word)
	if e.Verdict == v1alpha1.BenchmarkFailed {
		word += ": gate failed"
	}
	row.Texts = []plot.Text{{Text: word}}
	return row
}
