package chart

import (
	"fmt"
	"math"
	"slices"

	"github.com/assay-dev/assay/internal/report/picture"
	"github.com/assay-dev/assay/internal/result"
)

// LaneHeat is the ID of the latency heat map, which only results with a histogram of each second have.
const LaneHeat = "heatmap"

const (
	heatColumn = 3 // least width of a column in pixels: narrower points share one
	heatRow    = 5 // height of a row in pixels
	heatFactor = 3 // ratio of the shares of two neighboring shades
)

// heatLane returns the latency heat map; nil unless histograms of seconds are kept.
func heatLane(r *result.Result) *Lane {
	l := latencyLane(r)
	if l.Empty != "" {
		return nil
	}
	l.ID, l.Name = LaneHeat, "latency heat map ("+LatencyName(&r.Run)+"), ms, log scale"
	l.Lines = slices.DeleteFunc(l.Lines, func(line Line) bool { return line.Name != "p50" && line.Name != "p99" })
	l.Heat = make([]*result.Histogram, len(r.Series))
	kept := false
	for i := range r.Series {
		if h := r.Series[i].Latency; h != nil && h.Count() > 0 {
			l.Heat[i], kept = h, true
		}
	}
	if !kept {
		return nil
	}
	return &l
}

// HeatShades says what the shades of a heat map are.
func HeatShades() string {
	least := 100 / math.Pow(heatFactor, picture.HeatColors-1)
	return fmt.Sprintf("The stronger a shade of the heat map, the larger a share of that second's successful requests took that long: from below %s%% to at least %s%%.",
		picture.Significant(least), picture.Significant(100.0/heatFactor))
}

// heatStep returns the shade of a share that isn't 0, from 0 on.
func heatStep(share float64) int {
	return min(max(0, picture.HeatColors-int(math.Ceil(-math.Log(share)/math.Log(heatFactor)-1e-9))), picture.HeatColors-1)
}

// drawHeat draws the shares of each second's requests by their latency. Seconds that share a column of pixels are merged,
// which histograms can be.
func (t *Timeline) drawHeat(p *picture.Picture, l *Lane, box picture.Box, x, y *picture.Scale) {
	rows := int(box.H / heatRow)
	areas := make([][][]picture.Point, picture.HeatColors)
	for from := 0; from < t.Points(); {
		to := from + 1
		for to < t.Points() && x.At(t.Times[to])-x.At(t.Times[from]) < heatColumn-1e-9 {
			to++
		}
		for _, run := range l.heatRuns(from, to, rows, box, y) {
			left, right := x.At(t.Times[from]), x.At(t.Times[to])
			top, bottom := box.Bottom()-float64(run.to)*heatRow, box.Bottom()-float64(run.from)*heatRow
			areas[run.step] = append(areas[run.step], []picture.Point{{X: left, Y: bottom}, {X: left, Y: top}, {X: right, Y: top}, {X: right, Y: bottom}})
		}
		from = to
	}
	for step, of := range areas {
		if len(of) > 0 {
			p.Areas(of, picture.Heat((float64(step)+0.5)/picture.HeatColors))
		}
	}
}

// heatRun is a part of a column with one shade: the rows [from, to) from below.
type heatRun struct{ from, to, step int }

// heatRuns returns the shades of a column, which has the points [from, to).
func (l *Lane) heatRuns(from, to, rows int, box picture.Box, y *picture.Scale) (runs []heatRun) {
	counts, total := make([]int64, rows), int64(0)
	for _, h := range l.Heat[from:to] {
		if h == nil {
			continue
		}
		for _, bar := range h.Bars() {
			if bar.Count > 0 {
				ms := float64(max(1, min(max(bar.From, h.Min()), h.Max()))) / 1000
				counts[min(int((box.Bottom()-y.At(ms))/heatRow), rows-1)] += bar.Count
				total += bar.Count
			}
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
