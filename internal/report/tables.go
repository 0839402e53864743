package report

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/result"
)

// writeSummary writes a row for each client and one for all together.
func writeSummary(w *paper, r *result.Result) {
	w.table(summaryTable(r))
	w.printf("\n")
	writeCost(w, r)
}

func summaryTable(r *result.Result) *Sheet {
	t := NewTable(Words(""), "requests/s", "p50 ms", "p99 ms", "max ms", "requests", "failed")
	row := func(name string, b block) {
		total, some := b.phase(result.Total), b.counts.Succeeded() > 0
		t.AppendRow(table.Row{
			name, decimals(b.requestsPerSecond, 2),
			percentileText(total, percentile.P50, some), percentileText(total, percentile.P99, some), msText(total.Max, some),
			b.counts.Requests, b.counts.Errors.Total(),
		})
	}
	for i := range r.Clients {
		row("client "+strconv.Itoa(r.Clients[i].Index), clientBlock(r, &r.Clients[i]))
	}
	row("merged", mergedBlock(r))
	return t
}

// percentileText returns a percentile in ms, or - if it is unknown.
func percentileText(s result.Summary, p percentile.Percentile, exists bool) string {
	return msText(s.Percentiles[p], exists && s.Percentiles[p] != result.Unknown)
}

func writeThresholds(w *paper, outcomes []result.ThresholdOutcome, valid bool) {
	if len(outcomes) == 0 {
		return
	}
	section(w, "%s", thresholdsTitle(outcomes, valid))
	w.table(thresholdsTable(outcomes))
}

// writeClients writes what each client used, and how close together they started.
func writeClients(w *paper, r *result.Result) {
	limit := r.Environment.ClientCPULimit
	w.printf("CPU is in percent of each client's limit of %s CPUs.\n\n", CPUs(limit))
	columns := []any{Words(""), Words("node"), "CPU %"}
	for i := range result.ClientFigures {
		if f := &result.ClientFigures[i]; f.Column != "" {
			columns = append(columns, f.Column+" "+units[f.Unit].name)
		}
	}
	t := NewTable(append(columns, "start skew ms", "clock error ms")...)
	for i := range r.Clients {
		c := &r.Clients[i]
		row := table.Row{"client " + strconv.Itoa(c.Index), cmp.Or(c.Node, "unknown"), decimals(c.CPUPercentOf(limit), 1)}
		for i := range result.ClientFigures {
			if f := &result.ClientFigures[i]; f.Column != "" {
				row = append(row, valueOf(f, &c.Usage, "-", false))
			}
		}
		t.AppendRow(append(row, msText(c.StartSkewMicroseconds, true), msText(c.ClockErrorMicroseconds, true)))
	}
	w.table(t)
	w.printf("\n")
	line(w, "Start skew:", "%s ms between clients", msText(r.StartSkewMicroseconds(), true))
	writeWarmup(w, r.Warmup)
}

// writeArrivals writes how well an open load kept its rate and, next to the response times, which
// are measured from the intended start times, the service times.
func writeArrivals(w *paper, r *result.Result) {
	a, dropped := r.Arrivals, r.Merged.Dropped
	w.printf("Target rate: %s requests/s, %d total\n", decimals(a.TargetRatePerSecond(), 2), a.Due)
	w.printf("Achieved:    %s requests/s, %d dropped\n\n", decimals(a.AchievedPerSecond(dropped), 2), dropped)
	headings := []any{Words("")}
	for _, p := range percentile.Common {
		headings = append(headings, fmt.Sprintf("p%s ms", p))
	}
	t := NewTable(append(headings, "max ms")...)
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
	w.table(t)
}
