package round

import (
	"fmt"
	"strconv"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/report/doc"
)

// defaultMetrics are the metrics of the table of cells beside those that are compared.
var defaultMetrics = []v1alpha1.BenchmarkMetric{
	v1alpha1.BenchmarkMetric(v1alpha1.MetricRequestsPerSecond), v1alpha1.BenchmarkMetric(v1alpha1.MetricLatencyP50),
	v1alpha1.BenchmarkMetric(v1alpha1.MetricLatencyP99), v1alpha1.BenchmarkMetric(v1alpha1.MetricErrorRate), v1alpha1.MetricTargetCPUPerRequest,
}

// MediansOver says what medians of cells are.
func (r *Report) MediansOver() doc.Paragraph {
	return doc.Paragraph{fmt.Sprintf("Medians over the runs of %s, with intervals that hold the true median with a confidence of %d%% each.", Plural(r.Blocks, "block"), r.Confidence())}
}

// Medians returns the medians of each cell in metrics.
func (r *Report) Medians(caption string, metrics []v1alpha1.BenchmarkMetric) *doc.Table {
	return r.medians(caption, columnsOf(metrics, MetricTitle), true)
}

func columnsOf(metrics []v1alpha1.BenchmarkMetric, title func(v1alpha1.BenchmarkMetric) string) []metricColumn {
	columns := make([]metricColumn, len(metrics))
	for i, m := range metrics {
		columns[i] = metricColumn{m, title(m)}
	}
	return columns
}

// medians returns the medians of each cell and, if runs is set, the number of runs that they are of.
func (r *Report) medians(caption string, columns []metricColumn, runs bool) *doc.Table {
	t := &doc.Table{Caption: caption, Columns: doc.Words("cell")}
	if runs {
		t.Columns = append(t.Columns, doc.Numbers("runs")...)
	}
	for _, c := range columns {
		t.Columns = append(t.Columns, doc.Numbers(c.name)...)
	}
	for cell := range r.Cells {
		row, most := []string{r.Cells[cell].Name}, 0
		if runs {
			row = append(row, "-")
		}
		for _, c := range columns {
			text := "-"
			if e := r.Estimate(cell, c.metric); e != nil {
				text, most = estimate(e), max(most, e.Runs)
			} else if highest := r.NoneUpTo(cell, c.metric); highest > 0 {
				text = noneUpTo(highest)
			}
			row = append(row, text)
		}
		if runs && most > 0 {
			row[1] = strconv.Itoa(most)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// metricColumn is a column of a table with a metric.
type metricColumn struct {
	metric v1alpha1.BenchmarkMetric
	name   string
}

func noneUpTo(load int64) string { return fmt.Sprintf("none up to %d", load) }
