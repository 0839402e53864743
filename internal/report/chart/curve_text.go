package chart

import (
	"fmt"
	"strings"

	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/report/plot"
	"github.com/assay-dev/assay/internal/result"
)

// PercentilesText draws the percentile curve of all clients for a terminal, with both axes on a log scale: the latency upward, and
// to the right the share of requests that take longer. It is empty if no request succeeded.
func PercentilesText(r *result.Result) string {
	total := r.Merged.Latencies.Get(result.Total)
	if total.Count() == 0 {
		return ""
	}
	c := NewCurve("all clients", total)
	p := plot.Plot{
		X: plot.Shares(float64(c.Count)), Y: plot.Logarithmic(c.Points[0].Y, c.Max), Marks: []plot.Mark{plot.Line{Points: c.Points}},
	}
	title := fmt.Sprintf("%s, ms, log scale, by percentile: %s", report.LatencyName(&r.Run), c.Name)
	return strings.Join(append([]string{title}, p.Text(60, 12)...), "\n") + "\n"
}
