package round

import (
	"fmt"
	"math"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/inference"
	"github.com/assay-dev/assay/internal/report/plot"
)

const (
	// forestWidth is the width of a forest plot in characters, narrowForestWidth that on a terminal on which its lines wouldn't fit, and forestName that of
	// the longest name of a row.
	forestWidth       = 41
	narrowForestWidth = 25
	forestName        = 20
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
	reach, name, tolerance := 0.0, len("baseline"), 0.0
	var rows []EffectRow
	for _, e := range f.rows {
		if e.Metric != f.metric || e.Percent == nil {
			continue
		}
		tolerance = float64(e.TolerancePercent)
		rows = append(rows, e)
		name = max(name, len([]rune(e.Label)))
		for _, p := range []*float64{e.Percent, e.LowPercent, e.HighPercent, &tolerance} {
			switch {
			case p == nil:
			case *p <= -100:
				reach = math.Inf(1)
			default:
				reach = max(reach, math.Abs(math.Log1p(*p/100)))
			}
		}
	}
	if len(rows) == 0 {
		return nil
	}
	name = min(name, forestName)
	x := plot.LogRatio(100*math.Expm1(reach), forestApart/float64(width-1))
	at := func(percent float64) int { return int(math.Round(x.At(percent) * float64(width-1))) }
	lines := []string{strings.Repeat(" ", name+2) + scaleLine(&x, at, width) + "  change of " + MetricName(f.metric) + ", %"}
	for i := range rows {
		e := rows[i].Effect
		label := []rune(rows[i].Label)
		if len(label) > name {
			label = append(label[:name-1:name-1], '…')
		}
		word := inference.Phrase(e.Word)
		if e.Verdict == v1alpha1.BenchmarkFailed {
			word += ": gate failed"
		}
		lines = append(lines, fmt.Sprintf("%-*s  %s  %s", name, string(label), forestRow(e, tolerance, at, width), word))
	}
	return lines
}

// scaleLine returns the labels of the axis, each centered at its place.
func scaleLine(x *plot.Scale, at func(float64) int, width int) string {
	line := []rune(strings.Repeat(" ", width))
	free := 0
	for _, t := range x.Ticks {
		label := []rune(t.Label)
		from := max(0, min(at(t.Value)-len(label)/2, width-len(label)))
		if from < free {
			continue
		}
		copy(line[from:], label)
		free = from + len(label) + 1
	}
	return string(line)
}

// forestRow returns the interval of an effect as a line with an end at each side, and the estimate as a dot, hollow if it can't be told yet.
func forestRow(e *benchmark.Effect, tolerance float64, at func(float64) int, width int) string {
	row := []rune(strings.Repeat(" ", width))
	if tolerance > 0 {
		row[at(-tolerance)], row[at(tolerance)] = ':', ':'
	}
	row[at(0)] = '|'
	low, high := 0, width-1
	left, right := '←', '→'
	if e.LowPercent != nil {
		low, left = at(*e.LowPercent), '├'
	}
	if e.HighPercent != nil {
		high, right = at(*e.HighPercent), '┤'
	}
	for i := low; i <= high; i++ {
		row[i] = '─'
	}
	row[low], row[high] = left, right
	dot := '●'
	if e.Word == v1alpha1.EffectCannotTell {
		dot = '○'
	}
	row[at(*e.Percent)] = dot
	return string(row)
}
