package round

import (
	"io"
	"maps"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/report"
)

// writeBenchstat writes each valid run of the round, trials of capacity searches aside, as a repetition of its cell.
// The axes are parts of the names, so that benchstat can put any of them in columns.
func writeBenchstat(w io.Writer, r *Report) error {
	var all []report.Measured
	for i := range r.Runs {
		run := &r.Runs[i]
		if run.Trial {
			continue
		}
		cell := &r.Cells[run.Cell]
		m := report.Measured{Base: r.Benchmark}
		for _, axis := range slices.Sorted(maps.Keys(cell.Values)) {
			m.Keys = append(m.Keys, report.Key{Name: axis, Value: cell.Values[axis]})
		}
		if !run.Valid {
			m.Omitted = run.Name + " is not valid: " + run.Message
		}
		for _, metric := range slices.Sorted(maps.Keys(run.Metrics)) {
			m.Values = append(m.Values, goUnit(metric, run.Metrics[metric]))
		}
		all = append(all, m)
	}
	return report.WriteBenchstat(w, all)
}

// goUnit returns a metric in a unit of Go's benchmark format. Values are in the units of result.Metrics.
func goUnit(key v1alpha1.BenchmarkMetric, value float64) benchfmt.Value {
	metric, request := benchmark.SplitMetric(key)
	if request != "" {
		of := goUnit(metric, value)
		of.Unit = request + ":" + of.Unit
		return of
	}
	name := string(metric)
	switch {
	case name == "LatencyMean":
		return benchfmt.Value{Unit: "sec/op", Value: value / 1e6}
	case strings.HasPrefix(name, "Latency"):
		return benchfmt.Value{Unit: strings.ToLower(strings.TrimPrefix(name, "Latency")) + "-sec", Value: value / 1e6}
	}
	switch metric {
	case v1alpha1.BenchmarkMetric(v1alpha1.MetricRequestsPerSecond):
		return benchfmt.Value{Unit: "req/s", Value: value}
	case v1alpha1.BenchmarkMetric(v1alpha1.MetricErrorRate):
		return benchfmt.Value{Unit: "error-%", Value: value}
	case v1alpha1.MetricBytesPerSecond:
		return benchfmt.Value{Unit: "B/s", Value: value}
	case v1alpha1.MetricTargetPeakMemory:
		return benchfmt.Value{Unit: "target-peak-B", Value: value}
	case v1alpha1.MetricTargetCPUPerRequest:
		return benchfmt.Value{Unit: "target-cpu-sec/op", Value: value / 1e6}
	case v1alpha1.MetricClientCPUPerRequest:
		return benchfmt.Value{Unit: "client-cpu-sec/op", Value: value / 1e6}
	}
	return benchfmt.Value{Unit: name, Value: value}
}
