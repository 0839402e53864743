package round

import (
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/report/doc"
)

// writeRunsCSV writes a record for each run of the round: its cell, whether it is valid, and its metrics in the units
// of the report. What is unknown is empty.
func writeRunsCSV(w io.Writer, r *Report) error {
	type run = benchmark.Run
	axes, metrics := map[string]bool{}, map[v1alpha1.BenchmarkMetric]bool{}
	for i := range r.Cells {
		for axis := range r.Cells[i].Values {
			axes[axis] = true
		}
	}
	for i := range r.Runs {
		for metric := range r.Runs[i].Metrics {
			metrics[metric] = true
		}
	}
	fields := []doc.Field[run]{doc.Word("run", func(run *run) string { return run.Name }), doc.Word("cell", func(run *run) string { return r.Cells[run.Cell].Name })}
	for _, axis := range slices.Sorted(maps.Keys(axes)) {
		fields = append(fields, doc.Word("axis_"+axis, func(run *run) string { return r.Cells[run.Cell].Values[axis] }))
	}
	fields = append(fields,
		doc.Word("trial", func(run *run) string { return strconv.FormatBool(run.Trial) }),
		doc.Number("number", func(run *run) string { return strconv.Itoa(run.Number) }),
		doc.Number("replacement", func(run *run) string { return strconv.Itoa(run.Replacement) }),
		doc.Word("started", func(run *run) string { return moment(run.Started) }), doc.Word("ended", func(run *run) string { return moment(run.Ended) }),
		doc.Word("valid", func(run *run) string { return strconv.FormatBool(run.Valid) }),
		doc.Number("load", func(run *run) string {
			if !run.Trial {
				return ""
			}
			return strconv.FormatInt(run.Load, 10)
		}))
	for _, metric := range slices.Sorted(maps.Keys(metrics)) {
		fields = append(fields, doc.Number(Heading(metric), func(run *run) string {
			value, known := run.Metrics[metric]
			if !known {
				return ""
			}
			return unitOf(metric).format(value)
		}))
	}
	fields = append(fields, doc.Word("message", func(run *run) string { return run.Message }))
	return doc.WriteCSV(w, doc.Records(r.Runs, fields...))
}
