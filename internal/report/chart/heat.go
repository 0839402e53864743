package chart

import (
	"fmt"
	"math"
	"slices"

	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/report/plot"
	"github.com/assay-dev/assay/internal/result"
)

// PanelHeat is the ID of the latency heat map, which only results with a sketch of each second have.
const PanelHeat = "heatmap"

const (
	heatColumn = 1.0 / 128 // least width of a column, of the axis: narrower points share one
	heatRows   = 24
	heatFactor = 3 // ratio of the shares of two neighboring shades
)

// heatPanel returns the latency heat map; nil unless sketches of seconds are kept.
func heatPanel(r *result.Result) *Panel {
	l := latencyPanel(r)
	if l.Empty != "" {
		return nil
	}
	l.ID, l.Name = PanelHeat, "latency heat map ("+report.LatencyName(&r.Run)+"), ms, log scale"
	l.Lines = slices.DeleteFunc(l.Lines, func(line Line) bool { return line.Name != "p50" && line.Name != "p99" })
	l.Heat = make([]result.Sketch, len(r.Series))
	kept := false
	for i := range r.Series {
		l.Heat[i] = r.Series[i].Sketch
		kept = kept || len(l.Heat[i]) > 0
	}
	if !kept {
		return nil
	}
	return &l
}

// HeatShades says what the shades of a heat map are.
func HeatShades() string {
	least := 100 / math.Pow(heatFactor, plot.HeatColors-1)
	return fmt.Sprintf("The stronger a shade of the heat map, the larger a share of that second's successful requests took that long: from below %s%% to at least %s%%.",
		number.Significant(least), number.Significant(100.0/heatFactor))
}

// heatStep returns the shade of a share that isn't 0, from 0 on.
func heatStep(share float64) int {
	return min(max(0, plot.HeatColors-int(math.Ceil(-math.Log(share)/math.Log(heatFactor)-1e-9))), plot.HeatColors-1)
}

// heat returns the shares of each second's requests by their latency. Seconds that share a column are merged, which sketches can be.
func (t *Timeline) heat(l *Panel) (marks []plot.Mark) {
	x, y := t.scale(), l.Scale()
	value := func(row int) float64 { return y.Low * math.Pow(y.High/y.Low, float64(row)/heatRows) }
	areas := make([]plot.Area, plot.HeatColors)
	for from := 0; from < t.Points(); {
		to := from + 1
		for to < t.Points() && x.At(t.Times[to])-x.At(t.Times[from]) < heatColumn-1e-9 {
			to++
		}
		for _, run := range l.heatRuns(from, to, &y) {
			left, right, low, high := t.Times[from], t.Times[to], value(run.from), value(run.to)
			areas[run.step].Outlines = append(areas[run.step].Outlines, []plot.Point{{X: left, Y: low}, {X: left, Y: high}, {X: right, Y: high}, {X: right, Y: low}})
		}
		from = to
	}
	for step := range areas {
		areas[step].Color = plot.Heat((float64(step) + 0.5) / plot.HeatColors)
		marks = append(marks, areas[step])
	}
	return marks
}

// heatRun is a part of a column with one shade: the rows [from, to) from below.
type heatRun struct{ from, to, step int }

// heatRuns returns the shades of a column, which has the points [from, to).
func (l *Panel) heatRuns(from, to int, y *plot.Scale) (runs []heatRun) {
	var counts [heatRows]int64
	total := int64(0)
	for _, sketch := range l.Heat[from:to] {
		for lowest, n := range sketch.Counts() {
			ms := float64(max(1, lowest)) / 1000
			counts[min(int(heatRows*y.At(ms)), heatRows-1)] += n
			total += n
		}
	}
	for row, n := range counts {
		if n == 0 {
			continue
		}
		step := heatStep(float64(n) / float64(total))
		if last := len(runs) - 1; last >= 0 && runs[last].to == row && runs[last].step == step {
			runs[last].to++
			continue
		}
		runs = append(runs, heatRun{row, row + 1, step})
	}
	return runs
}
