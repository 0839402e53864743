package report

import (
	"bytes"
	"fmt"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/result"
)

const (
	// saturatedPercent of its CPU limit is where a server counts as saturated.
	saturatedPercent = 90.0
	// refusedPercent of failed requests is where a server counts as turning users away.
	refusedPercent = 5.0
)

// writeLevels writes a row for each level of the load, and the first levels at
// which the server was saturated and requests failed.
func writeLevels(w *bytes.Buffer, r *result.Result) {
	held := "connections"
	if r.Run.Load == result.LoadOpen {
		held = "target/s"
	}
	fmt.Fprintf(w, "Requests completed while a level was held; CPU is in percent of the limits.\n\n")
	t := newTable(words(held), "seconds", "requests/s", "p50 ms", "p99 ms", "max ms", "requests", "failed %", "dropped", "target CPU %", "client CPU %")
	for i := range r.Levels {
		l := &r.Levels[i]
		total := levelSummary(l)
		server := l.CPUPercent(l.ServerCPU, r.Environment.TargetCPULimit)
		client := l.CPUPercent(l.ClientCPU, r.Environment.ClientCPULimit)
		some := total.Count > 0
		t.AppendRow(table.Row{
			heldOf(l), l.End - l.Start, decimals(l.RequestsPerSecond(), 2),
			msText(total.Percentiles[percentile.P50], some), msText(total.Percentiles[percentile.P99], some), msText(total.Max, some),
			l.Requests, decimals(l.ErrorPercent(), 2), l.Dropped,
			orDash(server >= 0, decimals(server, 1)), orDash(client >= 0, decimals(client, 1)),
		})
	}
	fmt.Fprintln(w, t.Render())
	first := func(what string, is func(l *result.Level) bool) {
		for i := range r.Levels {
			if l := &r.Levels[i]; is(l) {
				fmt.Fprintf(w, "%s: %d\n", what, heldOf(l))
				return
			}
		}
		fmt.Fprintf(w, "%s: none\n", what)
	}
	fmt.Fprintln(w)
	first("First level with the target's CPU over 90%", func(l *result.Level) bool {
		return l.CPUPercent(l.ServerCPU, r.Environment.TargetCPULimit) > saturatedPercent
	})
	first("First level with a failed request", func(l *result.Level) bool { return l.Errors.Total() > 0 })
	first("First level with at least 5% failed requests", func(l *result.Level) bool {
		return l.ErrorPercent() >= refusedPercent
	})
}

func heldOf(l *result.Level) int64 { return l.TargetConnections + l.TargetRatePerSecond }

func levelSummary(l *result.Level) result.Summary {
	if s := l.Summaries[result.Total]; s != nil {
		return *s
	}
	return l.Latencies.Get(result.Total).Summarize(0)
}
