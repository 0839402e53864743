package ui

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/report/plot"
	"github.com/assay-dev/assay/internal/report/round"
	"github.com/assay-dev/assay/internal/statistics"
)

// interim is what the valid runs of a round under way say of each cell, from their statuses. It decides nothing.
type interim struct {
	// Title names the metric with its unit. From and To are the ends of the axis.
	Title, From, To string
	// Dots are the pictures of the cells.
	Dots []template.HTML
}

// interimOf returns the dots of cells: runs are by cell and block, nil where there is none. It returns nil without a valid run.
func interimOf(spec *v1alpha1.BenchmarkSpec, names []string, runs [][]*v1alpha1.BenchmarkRun) *interim {
	metric := decidingMetric(spec)
	values := make([][]float64, len(runs))
	low, high := math.Inf(1), math.Inf(-1)
	for cell := range runs {
		for _, run := range runs[cell] {
			x := valueOf(run, metric)
			values[cell] = append(values[cell], x)
			if !math.IsNaN(x) {
				low, high = min(low, x), max(high, x)
			}
		}
	}
	if math.IsInf(low, 1) {
		return nil
	}
	x := plot.Range(low, high)
	s := &interim{Title: round.MetricTitle(metric), From: x.Ticks[0].Label, To: x.Ticks[len(x.Ticks)-1].Label}
	x.Ticks = nil
	for cell := range values {
		s.Dots = append(s.Dots, drawDots(names[cell], values[cell], inWholeBlocks(values, cell), x))
	}
	return s
}

// drawDots draws the values of a cell and the interval of their median over whole blocks, in gray.
func drawDots(name string, values, whole []float64, x plot.Scale) template.HTML {
	row, text, n := plot.Row{}, "", 0
	if len(whole) > 0 {
		const alpha = 0.05
		if i, err := statistics.Median(whole, alpha); err == nil && i.Bounded() {
			row.Marks = append(row.Marks, plot.Interval{
				Stroke: plot.Stroke{Color: plot.Muted, Width: 2}, From: plot.Point{X: i.Low, Y: plot.Middle}, To: plot.Point{X: i.High, Y: plot.Middle}, Caps: 5,
			})
			text = fmt.Sprintf(", 95%% interval of the median so far %s to %s", number.Significant(i.Low), number.Significant(i.High))
		}
	}
	for _, value := range values {
		if !math.IsNaN(value) {
			row.Marks = append(row.Marks, plot.Dot{At: plot.Point{X: value, Y: plot.Middle}, Color: plot.Ink, Hollow: true, Tip: number.Significant(value)})
			n++
		}
	}
	return plot.Of(name, fmt.Sprintf("%d valid runs so far%s.", n, text), plot.Plot{X: x, Rows: []plot.Row{row}}).HTML()
}

// inWholeBlocks returns the values of a cell in the blocks in which every cell has one.
func inWholeBlocks(values [][]float64, cell int) (whole []float64) {
	for block, x := range values[cell] {
		if !slices.ContainsFunc(values, func(of []float64) bool { return math.IsNaN(of[block]) }) {
			whole = append(whole, x)
		}
	}
	return whole
}

// decidingMetric returns the first metric of the claims, and of the gate, that statuses of runs have, else the throughput.
func decidingMetric(spec *v1alpha1.BenchmarkSpec) v1alpha1.BenchmarkMetric {
	known := func(name v1alpha1.BenchmarkMetric, request string) bool {
		return request == "" && slices.Contains([]v1alpha1.BenchmarkMetric{"LatencyP50", "LatencyP90", "LatencyP95", "LatencyP99", "RequestsPerSecond"}, name)
	}
	for i := range spec.Claims {
		if c := &spec.Claims[i]; c.Level == nil && known(c.Metric, c.Request) {
			return c.Metric
		}
	}
	if c := spec.Comparison; c != nil {
		for i := range c.Metrics {
			if m := &c.Metrics[i]; m.Role != v1alpha1.RoleReport && known(m.Name, m.Request) {
				return m.Name
			}
		}
	}
	return "RequestsPerSecond"
}

// valueOf returns the value of a valid run in the unit of the metric's title, NaN for other runs.
func valueOf(run *v1alpha1.BenchmarkRun, metric v1alpha1.BenchmarkMetric) float64 {
	if run == nil || !finished(run) || run.Status.Result == nil || run.Status.Verdict == v1alpha1.VerdictInvalid || run.Status.Verdict == v1alpha1.VerdictError {
		return math.NaN()
	}
	s := run.Status.Result
	if metric == "RequestsPerSecond" {
		x, err := strconv.ParseFloat(s.RequestsPerSecond, 64)
		if err != nil {
			return math.NaN()
		}
		return round.InUnit(metric, x)
	}
	if s.Latency == nil || s.Latency.Total == nil {
		return math.NaN()
	}
	t := s.Latency.Total
	of := map[v1alpha1.BenchmarkMetric]*int64{
		"LatencyP50": t.P50Microseconds, "LatencyP90": t.P90Microseconds, "LatencyP95": t.P95Microseconds, "LatencyP99": t.P99Microseconds,
	}[metric]
	if of == nil {
		return math.NaN()
	}
	return round.InUnit(metric, float64(*of))
}
