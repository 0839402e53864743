package report

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/result"
)

// newTable is a table without lines, its first leftColumns columns aligned to
// the left and the others to the right, as numbers are.
func newTable(leftColumns int, columns ...any) table.Writer {
	t := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	t.SuppressTrailingSpaces()
	var aligned []table.ColumnConfig
	for i := range columns {
		if i >= leftColumns {
			aligned = append(aligned, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
	}
	t.SetColumnConfigs(aligned)
	t.AppendHeader(columns)
	return t
}

// writeSummary writes a row for each client and one for all together.
func writeSummary(w *bytes.Buffer, r *result.Result) {
	t := newTable(1, "", "requests/s", "p50 ms", "p99 ms", "max ms", "requests", "failed")
	row := func(name string, b block) {
		total := b.phase(result.Total)
		p50, p99, longest := "-", "-", "-"
		if b.counts.Succeeded() > 0 {
			p50 = decimals(ms(total.Percentiles[percentile.P50]), 3)
			p99 = decimals(ms(total.Percentiles[percentile.P99]), 3)
			longest = decimals(ms(total.Max), 3)
		}
		t.AppendRow(table.Row{name, decimals(b.requestsPerSecond(), 2), p50, p99, longest, b.counts.Requests, b.counts.Errors.Total()})
	}
	for i := range r.Clients {
		row("client "+strconv.Itoa(r.Clients[i].Index), clientBlock(r, &r.Clients[i]))
	}
	row("merged", mergedBlock(r))
	fmt.Fprintln(w, t.Render())
}

// writeThresholds writes the bounds asked for and what became of them.
func writeThresholds(w *bytes.Buffer, outcomes []result.ThresholdOutcome) {
	if len(outcomes) == 0 {
		return
	}
	if thresholdsMet(outcomes) {
		section(w, "Thresholds: all met")
	} else {
		section(w, "Thresholds: MISSED")
	}
	t := newTable(3, "metric", "bound", "actual", "")
	for _, o := range outcomes {
		verdict := "met"
		if !o.Met {
			verdict = "MISSED"
		}
		t.AppendRow(table.Row{o.Metric, o.Bound, o.Actual, verdict})
	}
	fmt.Fprintln(w, t.Render())
}

// writeClients writes what each client used, and how well they began together.
func writeClients(w *bytes.Buffer, r *result.Result) {
	fmt.Fprintf(w, "CPU is in percent of each client's limit of %s CPUs.\n\n", cpus(r.Environment.ClientCPULimit))
	t := newTable(2, "", "node", "CPU %", "throttled ms", "lag p99 ms", "GC ms", "GC max ms", "max RSS MiB", "start skew ms", "clock error ms")
	for i := range r.Clients {
		c := &r.Clients[i]
		t.AppendRow(table.Row{
			"client " + strconv.Itoa(c.Index), orUnknown(c.Node),
			decimals(c.CPUPercentOf(r.Environment.ClientCPULimit), 1),
			orDash(c.Usage.Throttled >= 0, decimals(ms(c.Usage.Throttled), 3)),
			decimals(ms(c.Usage.SchedulingLatencyP99), 3), decimals(ms(c.Usage.GCPause), 3), decimals(ms(c.Usage.GCPauseMax), 3),
			decimals(mebibytes(c.Usage.MaxResident), 1),
			decimals(ms(c.StartSkewMicroseconds), 3), decimals(ms(c.ClockErrorMicroseconds), 3),
		})
	}
	fmt.Fprintln(w, t.Render())
	fmt.Fprintf(w, "\nStart skew between clients: %s ms\n", decimals(ms(r.StartSkewMicroseconds()), 3))
	fmt.Fprintf(w, "Warm-up: %s\n", warmupLine(r.Warmup))
	if line := steadyLine(r.Warmup); line != "" {
		fmt.Fprintf(w, "Steady after it: %s\n", line)
	}
}

func decimals(x float64, n int) string { return strconv.FormatFloat(x, 'f', n, 64) }

func orDash(known bool, text string) string {
	if !known {
		return "-"
	}
	return text
}

func mebibytes(bytes int64) float64 { return float64(bytes) / (1 << 20) }

// cpus is thousandths of a CPU as CPUs: "2", "1.5", "unknown".
func cpus(millis int64) string {
	if millis <= 0 {
		return "unknown"
	}
	return strconv.FormatFloat(float64(millis)/1000, 'f', -1, 64)
}
