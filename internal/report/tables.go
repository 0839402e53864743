package report

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/result"
)

// newTable returns a table without lines, its first leftColumns columns aligned to
// the left and the others, which hold numbers, to the right.
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
		total, some := b.phase(result.Total), b.counts.Succeeded() > 0
		t.AppendRow(table.Row{
			name, decimals(b.requestsPerSecond(), 2),
			msText(total.Percentiles[percentile.P50], some), msText(total.Percentiles[percentile.P99], some), msText(total.Max, some),
			b.counts.Requests, b.counts.Errors.Total(),
		})
	}
	for i := range r.Clients {
		row("client "+strconv.Itoa(r.Clients[i].Index), clientBlock(r, &r.Clients[i]))
	}
	row("merged", mergedBlock(r))
	fmt.Fprintln(w, t.Render())
}

// writeThresholds writes the bounds and whether they were met.
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

// writeClients writes what each client used, and how close together they started.
func writeClients(w *bytes.Buffer, r *result.Result) {
	limit := r.Environment.ClientCPULimit
	fmt.Fprintf(w, "CPU is in percent of each client's limit of %s CPUs.\n\n", cpus(limit))
	columns := []any{"", "node", "CPU %"}
	for i := range result.ClientFigures {
		if f := &result.ClientFigures[i]; f.Column != "" {
			columns = append(columns, f.Column+" "+units[f.Unit].name)
		}
	}
	t := newTable(2, append(columns, "start skew ms", "clock error ms")...)
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
	fmt.Fprintf(w, "%s\n\n", t.Render())
	line(w, "Start skew:", "%s ms between clients", msText(r.StartSkewMicroseconds(), true))
	writeWarmup(w, r.Warmup)
}
