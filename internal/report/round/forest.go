package round

import (
	"math"

	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/plot"
)

const (
	// forestWidth is the width of a forest plot in characters, narrowForestWidth that on a terminal on which its lines wouldn't fit.
	forestWidth       = 41
	narrowForestWidth = 25
	// forestApart is the distance of labels of the axis in characters.
	forestApart = 5.5
)

// forest is a plot of the effects in a metric, in characters; nothing if none is known.
type forest struct{ MetricEffects }

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
	var missing []plot.Row // those without a ratio are last
	var percents []float64
	p := plot.Plot{Axis: "change of " + f.Name() + ", %"}
	for i := range f.Rows {
		e := &f.Rows[i]
		if e.Percent == nil {
			missing = append(missing, plot.Row{Name: e.Label, Marks: []plot.Mark{plot.Rule{}}, Texts: []plot.Text{{Text: e.Missing}}})
			continue
		}
		percents, p.Rows = append(percents, e.Percents()...), append(p.Rows, forestRow(e))
	}
	if len(p.Rows) == 0 {
		return nil
	}
	p.Rows, p.X = append(p.Rows, missing...), plot.LogRatio(forestApart/float64(width-1), 1, percents...)
	return p.Text(width, 0)
}

// forestRow returns the bounds of the claim as rules, the interval of its effect, the estimate as a dot, hollow if the claim is
// undecided, and the verdict.
func forestRow(e *EffectRow) plot.Row {
	row := plot.Row{Name: e.Label, Marks: []plot.Mark{plot.Rule{}}}
	for _, bound := range e.Bounds() {
		if bound != 0 && !math.IsInf(bound, 0) {
			row.Marks = append(row.Marks, plot.Rule{Stroke: plot.Stroke{Dash: "1 3"}, X: bound})
		}
	}
	low, high := math.Inf(-1), math.Inf(1)
	if e.LowPercent != nil {
		low = *e.LowPercent
	}
	if e.HighPercent != nil {
		high = *e.HighPercent
	}
	row.Marks = append(row.Marks, plot.Interval{From: plot.Point{X: low}, To: plot.Point{X: high}},
		plot.Dot{At: plot.Point{X: *e.Percent}, Hollow: e.Tone() == doc.Unsure})
	row.Texts = []plot.Text{{Text: e.Word()}}
	return row
}
