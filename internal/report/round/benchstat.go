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
	u, known := goUnits[metric]
	switch percentile, is := strings.CutPrefix(string(metric), "Latency"); {
	case known:
	case is:
		u = unit{size: 1e6, name: strings.ToLower(percentile) + "-sec"}
	default:
		u = unit{size: 1, name: string(metric)}
	}
	if request != "" {
		u.name = request + ":" + u.name
	}
	return benchfmt.Value{Unit: u.name, Value: value / u.size}
}

// goUnits are the units in Go's benchmark format of metrics other than percentiles, as far as they have one.
var goUnits = map[v1alpha1.BenchmarkMetric]unit{
	"LatencyMean": {size: 1e6, name: "sec/op"}, "RequestsPerSecond": {size: 1, name: "req/s"}, "ErrorRate": {size: 1, name: "error-%"},
	"BytesPerSecond": {size: 1, name: "B/s"}, "TargetPeakMemory": {size: 1, name: "target-peak-B"},
	"TargetCPUPerRequest": {size: 1e6, name: "target-cpu-sec/op"}, "ClientCPUPerRequest": {size: 1e6, name: "client-cpu-sec/op"},
}
