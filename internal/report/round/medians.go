package round

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/report/doc"
)

// defaultMetrics are the metrics of the table of cells beside those that are compared.
var defaultMetrics = []v1alpha1.BenchmarkMetric{
	v1alpha1.BenchmarkMetric(v1alpha1.MetricRequestsPerSecond), v1alpha1.BenchmarkMetric(v1alpha1.MetricLatencyP50),
	v1alpha1.BenchmarkMetric(v1alpha1.MetricLatencyP99), v1alpha1.BenchmarkMetric(v1alpha1.MetricErrorRate), v1alpha1.MetricTargetCPUPerRequest,
}

// OtherMedians returns the medians of each cell in the metrics that the report's table of cells doesn't have; nil without any.
func (r *Report) OtherMedians() *doc.Table {
	var metrics []v1alpha1.BenchmarkMetric
	for i := range r.Estimates {
		if m := r.Estimates[i].Metric; !slices.Contains(metrics, m) && !slices.Contains(r.Compared(), m) && !slices.Contains(defaultMetrics, m) {
			metrics = append(metrics, m)
		}
	}
	if len(metrics) == 0 {
		return nil
	}
	return r.medians("Medians of all cells in other metrics", columnsOf(metrics, Heading), true)
}

func columnsOf(metrics []v1alpha1.BenchmarkMetric, title func(v1alpha1.BenchmarkMetric) string) []metricColumn {
	columns := make([]metricColumn, len(metrics))
	for i, m := range metrics {
		columns[i] = metricColumn{m, title(m)}
	}
	return columns
}

// medians returns the medians of each cell in the columns of which any cell has something and, if runs is set, the number of runs that
// they are of.
func (r *Report) medians(caption string, columns []metricColumn, runs bool) *doc.Table {
	columns = slices.DeleteFunc(slices.Clone(columns), func(c metricColumn) bool {
		return !slices.ContainsFunc(r.Cells, func(cell cells.Cell) bool {
			return r.Estimate(cell.Index, c.metric) != nil || r.NoneUpTo(cell.Index, c.metric) > 0
		})
	})
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
				text, most = EstimateText(e), max(most, e.Runs)
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
