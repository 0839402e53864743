package round

import (
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/report"
)

// writeRunsCSV writes a record for each run of the round: its cell, whether it is valid, and its figures in the units
// of the report. What is unknown is empty.
func writeRunsCSV(w io.Writer, r *Report) error {
	axes, metrics := map[string]bool{}, map[v1alpha1.BenchmarkMetric]bool{}
	for i := range r.Cells {
		for axis := range r.Cells[i].Values {
			axes[axis] = true
		}
	}
	for i := range r.Runs {
		for metric := range r.Runs[i].Figures {
			metrics[metric] = true
		}
	}
	header := []string{"run", "cell"}
	names := slices.Sorted(maps.Keys(axes))
	for _, axis := range names {
		header = append(header, "axis_"+axis)
	}
	header = append(header, "trial", "number", "replacement", "started", "ended", "valid", "load")
	figures := slices.Sorted(maps.Keys(metrics))
	for _, metric := range figures {
		header = append(header, heading(metric))
	}
	records := [][]string{append(header, "message")}
	for i := range r.Runs {
		run := &r.Runs[i]
		cell := &r.Cells[run.Cell]
		record := []string{run.Name, cell.Name}
		for _, axis := range names {
			record = append(record, cell.Values[axis])
		}
		record = append(record, strconv.FormatBool(run.Trial), strconv.Itoa(run.Number), strconv.Itoa(run.Replacement),
			timeText(run.Started), timeText(run.Ended), strconv.FormatBool(run.Valid), "")
		if run.Trial {
			record[len(record)-1] = strconv.FormatInt(run.Load, 10)
		}
		for _, metric := range figures {
			figure, known := run.Figures[metric]
			record = append(record, "")
			if known {
				record[len(record)-1] = unitOf(metric).format(figure)
			}
		}
		records = append(records, append(record, run.Message))
	}
	return report.WriteCSV(w, records)
}

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
