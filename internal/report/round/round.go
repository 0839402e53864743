// Package round writes what a round of a Benchmark says, for people and for other programs: its verdict with
// effects and intervals, its cells as a table, and comparisons of other sets of runs. It only reads what package
// benchmark decided. Texts from outside are printed without what a terminal or a Markdown viewer would obey.
package round

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/result"
)

// Report is a round to report on.
type Report struct {
	*benchmark.Round
	// Notes say what the reader should know of the report itself, for example that metrics are missing.
	Notes []string `json:"notes,omitempty"`
}

// Label returns the name of a cell in sentences and pictures: the values of its axes, as in "apr connections=400". A
// value that could be taken for a number has the name of its axis.
func (r *Report) Label(cell int) string {
	c := &r.Cells[cell]
	var parts []string
	for i := range r.Spec.Axes {
		axis := r.Spec.Axes[i].Name
		value, has := c.Values[axis]
		if !has {
			return c.Name
		}
		if first := []rune(value); len(first) == 0 || !unicode.IsLetter(first[0]) {
			value = axis + "=" + value
		}
		parts = append(parts, value)
	}
	if len(parts) == 0 {
		return c.Name
	}
	return strings.Join(parts, " ")
}

// Confidence returns the confidence of a round's intervals in percent.
func (r *Report) Confidence() int32 { return ptr.Deref(r.Spec.ConfidencePercent, 95) }

// Compared returns the metrics that the claims and the comparison name.
func (r *Report) Compared() (metrics []v1alpha1.BenchmarkMetric) {
	add := func(metric v1alpha1.BenchmarkMetric) {
		if !slices.Contains(metrics, metric) {
			metrics = append(metrics, metric)
		}
	}
	for i := range r.Spec.Claims {
		if c := &r.Spec.Claims[i]; c.Level == nil {
			add(benchmark.MetricKey(c.Metric, c.Request))
		}
	}
	if c := r.Spec.Comparison; c != nil {
		for i := range c.Metrics {
			add(benchmark.KeyOf(&c.Metrics[i]))
		}
	}
	return metrics
}

// ComparedWith returns the name of a cell that others are compared with, or that of the stored baseline for cells.NoBaseline.
func (r *Report) ComparedWith(than int) string {
	c := r.Spec.Comparison
	switch {
	case than != cells.NoBaseline:
		return r.Label(than)
	case c == nil:
	case c.Baseline.LastPassed != nil && r.Baseline != nil && r.Baseline.AcceptanceTime != nil:
		return fmt.Sprintf("round %d, which was accepted", r.Baseline.Number)
	case c.Baseline.LastPassed != nil && r.Baseline != nil:
		return fmt.Sprintf("round %d, the last that passed", r.Baseline.Number)
	case c.Baseline.LastPassed != nil:
		return "the last round that passed"
	case c.Baseline.Runs != nil:
		return "the selected runs"
	case c.Baseline.Benchmark != nil:
		return "Benchmark " + c.Baseline.Benchmark.Name
	}
	return "the baseline"
}

// AxisTitle is like MetricTitle, but says of a latency whether it is the service time or the response time: "p99 (service time), ms".
func (r *Report) AxisTitle(metric v1alpha1.BenchmarkMetric) string {
	name := r.latencyName()
	if name == "" || !strings.HasPrefix(string(metric), "Latency") {
		return MetricTitle(metric)
	}
	of, request := benchmark.SplitMetric(metric)
	if request != "" {
		name = request + ", " + name
	}
	return MetricName(of) + " (" + name + "), " + MetricUnit(metric)
}

// latencyName returns what the latencies of all cells are; empty if they aren't the same, or the spec doesn't say.
func (r *Report) latencyName() string {
	cells, err := cells.Of(&r.Spec)
	if err != nil {
		return ""
	}
	all := ""
	for i := range cells {
		spec, err := cells[i].Spec(&r.Spec.Template.Spec)
		if err != nil {
			return ""
		}
		name := latencyNameOf(spec)
		if i > 0 && name != all {
			return ""
		}
		all = name
	}
	return all
}

func latencyNameOf(spec *v1alpha1.BenchmarkRunSpec) string {
	load, run := &spec.Load, &result.Run{}
	if tool := spec.Clients.Tool; tool != nil {
		run.Tool = string(tool.Name)
	}
	switch {
	case spec.Script != nil:
		run.Load = result.LoadScript
	case load.Open != nil, load.Stages != nil && len(load.Stages.Levels) > 0 && load.Stages.Levels[0].RequestsPerSecond != nil:
		run.Load = result.LoadOpen
	case load.Closed != nil, load.Stages != nil:
		run.Load = result.LoadClosed
	default:
		return ""
	}
	return report.LatencyName(run)
}
