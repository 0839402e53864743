package report

import (
	"bytes"
	"fmt"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/assay-dev/assay/internal/result"
)

// writeArrivals writes how well an open load kept its rate, and beside the
// latencies, which are from the intended starts, the times of service.
func writeArrivals(w *bytes.Buffer, r *result.Result) {
	a, dropped := r.Arrivals, r.Merged.Dropped
	fmt.Fprintf(w, "Asked:    %s requests/s, %d in all\n", decimals(a.AskedPerSecond(), 2), a.Due)
	fmt.Fprintf(w, "Achieved: %s requests/s, %d dropped\n\n", decimals(a.AchievedPerSecond(dropped), 2), dropped)
	t := newTable(1, "", "p50 ms", "p90 ms", "p99 ms", "p99.9 ms", "max ms")
	for _, row := range []struct {
		name  string
		phase result.Phase
	}{{"start delay", result.Delay}, {"service time", result.Service}, {"response time", result.Total}} {
		h := r.Merged.Latencies.Get(row.phase)
		cells := table.Row{row.name}
		for _, p := range []float64{50, 90, 99, 99.9, 100} {
			cells = append(cells, orDash(h.Count() > 0, decimals(ms(h.Percentile(p)), 3)))
		}
		t.AppendRow(cells)
	}
	fmt.Fprintln(w, t.Render())
}
