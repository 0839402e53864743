package report

import (
	"bytes"
	"fmt"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/result"
)

// writeArrivals writes how well an open load kept its rate and, next to the response times, which
// are measured from the intended start times, the service times.
func writeArrivals(w *bytes.Buffer, r *result.Result) {
	a, dropped := r.Arrivals, r.Merged.Dropped
	fmt.Fprintf(w, "Target rate: %s requests/s, %d total\n", decimals(a.TargetRatePerSecond(), 2), a.Due)
	fmt.Fprintf(w, "Achieved:    %s requests/s, %d dropped\n\n", decimals(a.AchievedPerSecond(dropped), 2), dropped)
	headings := []any{""}
	for _, p := range percentile.Common {
		headings = append(headings, fmt.Sprintf("p%s ms", p))
	}
	t := newTable(1, append(headings, "max ms")...)
	for _, row := range []struct {
		name  string
		phase result.Phase
	}{{"start delay", result.Delay}, {"service time", result.Service}, {"response time", result.Total}} {
		h := r.Merged.Latencies.Get(row.phase)
		cells := table.Row{row.name}
		for _, p := range percentile.Common {
			cells = append(cells, msText(h.Percentile(p.Percent()), h.Count() > 0))
		}
		t.AppendRow(append(cells, msText(h.Max(), h.Count() > 0)))
	}
	fmt.Fprintln(w, t.Render())
}
