package runpage

import (
	"math"

	"github.com/assay-dev/assay/internal/k6metric"
	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/result"
)

// script returns k6's metrics: trends with their percentiles, and the others with their values.
func script(s *result.Script) []doc.Block {
	trends := &doc.Table{Caption: "Trends", Columns: append(doc.Words("metric", "unit"), doc.Numbers("avg", "min")...)}
	for _, p := range percentile.Common {
		trends.Columns = append(trends.Columns, doc.Numbers("p"+p.String())...)
	}
	trends.Columns = append(trends.Columns, doc.Numbers("max", "samples")...)
	others := &doc.Table{Caption: "Counters, gauges and rates", Columns: append(doc.Words("metric", "kind", "unit"), doc.Numbers("value", "min", "max", "samples")...)}
	metrics := s.Metrics
	for i := range metrics {
		m := &metrics[i]
		low, high, samples := number.Significant(m.Min), number.Significant(m.Max), number.Count(m.Samples)
		switch m.Kind {
		case k6metric.Counter:
			others.Rows = append(others.Rows, []string{m.Name, "counter", string(m.Unit), exact(m.Sum), "-", "-", samples})
		case k6metric.Gauge:
			others.Rows = append(others.Rows, []string{m.Name, "gauge", string(m.Unit), exact(m.Last), exact(m.Min), exact(m.Max), samples})
		case k6metric.Rate:
			others.Rows = append(others.Rows, []string{m.Name, "rate", "", number.Share(int64(m.Sum), m.Samples), "-", "-", samples})
		default:
			row := []string{m.Name, string(m.Unit), number.Significant(m.Mean()), low}
			for i := range percentile.Common { // what is read may have more or fewer
				text := "-"
				if i < len(m.Percentiles) {
					text = number.Significant(m.Percentiles[i])
				}
				row = append(row, text)
			}
			trends.Rows = append(trends.Rows, append(row, high, samples))
		}
	}
	blocks := []doc.Block{
		doc.Paragraph{"k6's metrics over all clients, setup() and teardown() included. The percentiles of a trend are of the merged values of all clients."}, report.ScriptFacts(s),
	}
	for _, t := range []*doc.Table{trends, others} {
		if len(t.Rows) > 0 {
			blocks = append(blocks, t)
		}
	}
	return blocks
}

// exact returns a whole number with all of its digits, and others with three.
func exact(x float64) string {
	const most = 1 << 53 // up to which each whole number is a float64
	if x == math.Trunc(x) && math.Abs(x) < most {
		return number.Count(int64(x))
	}
	return number.Significant(x)
}
