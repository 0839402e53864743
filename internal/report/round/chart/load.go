package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/report/plot"
	"github.com/assay-dev/assay/internal/report/round"
)

// loadFields are the ends of the paths of those fields that say how much load there is.
var loadFields = []string{"/connections", "/requestsPerSecond", "/users"}

// loadAxis returns the first axis whose values are numbers of one of loadFields; empty without one.
func loadAxis(r *round.Report) string {
	for i := range r.Spec.Axes {
		a := &r.Spec.Axes[i]
		if strings.HasPrefix(a.Path, "/load/") && slices.ContainsFunc(loadFields, func(end string) bool { return strings.HasSuffix(a.Path, end) }) {
			return a.Name
		}
	}
	return ""
}

// LatencyOfThroughput draws the latencies at the throughput of the cells that an axis of the load has, joined in the order of the
// load, for each value of the other axes. It returns nil without such an axis, and if no two cells of it have both metrics.
func LatencyOfThroughput(r *round.Report) *plot.Figure {
	axis := loadAxis(r)
	if axis == "" {
		return nil
	}
	type place struct {
		cell int
		load float64
	}
	var names []string
	variants := map[string][]place{}
	for i := range r.Cells {
		load, err := strconv.ParseFloat(r.Cells[i].Values[axis], 64)
		if err != nil || r.Estimate(i, throughput) == nil {
			continue
		}
		name := strings.Join(slices.DeleteFunc(strings.Split(r.Cells[i].Name, ","), func(part string) bool { return strings.HasPrefix(part, axis+"=") }), " ")
		position(&names, name)
		variants[name] = append(variants[name], place{i, load})
	}
	names = slices.DeleteFunc(names, func(name string) bool { return len(variants[name]) < 2 })
	if len(names) == 0 {
		return nil
	}
	shown := names[:min(len(names), plot.Variants)]
	f := &plot.Figure{
		Title: "Latency against throughput by " + axis, Note: fmt.Sprintf("Marks are medians, joined in the order of %s, whose values stand at the first and the last. Where more load brings no more throughput, a line turns upward or back.", axis),
		Description: fmt.Sprintf("p50 and p99 of %s at the throughput of each number of %s.", number.Plural(len(shown), "variant"), axis),
	}
	if more := len(names) - len(shown); more > 0 {
		f.Note += fmt.Sprintf(" %d more are in the table of cells.", more)
	}
	for i, name := range shown {
		f.Names = append(f.Names, plot.OfVariant(i, cmp.Or(name, "all"), 0))
	}
	for _, metric := range []v1alpha1.BenchmarkMetric{"LatencyP50", "LatencyP99"} {
		low, high, most := math.Inf(1), 0.0, 0.0
		p := plot.Plot{Axis: r.AxisTitle(metric) + ", log scale", Height: 200, XName: "throughput, requests/s"}
		for i, name := range shown {
			cells := variants[name]
			slices.SortStableFunc(cells, func(a, b place) int { return cmp.Compare(a.load, b.load) })
			line := plot.Line{Stroke: plot.Stroke{Color: plot.VariantColor(i)}}
			for _, c := range cells {
				x, y := r.Estimate(c.cell, throughput), r.Estimate(c.cell, metric)
				if y == nil || y.Median <= 0 {
					continue
				}
				at := plot.Point{X: x.Median, Y: round.InUnit(metric, y.Median)}
				low, high, most = min(low, at.Y), max(high, at.Y), max(most, at.X)
				if y.Low != nil && y.High != nil && *y.Low > 0 {
					from, to := round.InUnit(metric, *y.Low), round.InUnit(metric, *y.High)
					low, high = min(low, from), max(high, to)
					p.Marks = append(p.Marks, plot.Interval{Stroke: plot.Stroke{Color: plot.VariantColor(i), Width: 2}, From: plot.Point{X: at.X, Y: from}, To: plot.Point{X: at.X, Y: to}})
				}
				line.Points = append(line.Points, at)
				p.Marks = append(p.Marks, plot.Variant(i, at, false, fmt.Sprintf("%s: %s at %s requests/s", r.Cells[c.cell].Name, round.EstimateText(y), round.EstimateText(x))))
			}
			if n := len(line.Points); n > 1 {
				p.Marks = append(p.Marks, line)
				for _, end := range []struct {
					at plot.Point
					of place
				}{{line.Points[n-1], cells[len(cells)-1]}, {line.Points[0], cells[0]}} {
					p.Marks = append(p.Marks, plot.Text{At: end.at, DX: -6, DY: -8, Text: number.Significant(end.of.load), Anchor: plot.End, Color: plot.Muted})
				}
			}
		}
		if most == 0 {
			return nil
		}
		p.X, p.Y = plot.LinearExact(most), plot.Logarithmic(low, high)
		f.Columns = append(f.Columns, []plot.Plot{p})
	}
	return f
}

const throughput v1alpha1.BenchmarkMetric = "RequestsPerSecond"
