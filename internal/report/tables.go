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

// Words is the heading of a column of words, which is aligned to the left. Other columns hold
// numbers and are aligned to the right.
type Words string

// NewTable returns a table without lines.
func NewTable(columns ...any) table.Writer {
	t := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	t.SuppressTrailingSpaces()
	var aligned []table.ColumnConfig
	for i, column := range columns {
		if _, left := column.(Words); !left {
			aligned = append(aligned, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
	}
	t.SetColumnConfigs(aligned)
	t.AppendHeader(columns)
	return t
}

// writeSummary writes a row for each client and one for all together.
func writeSummary(w *bytes.Buffer, r *result.Result) {
	t := NewTable(Words(""), "requests/s", "p50 ms", "p99 ms", "max ms", "requests", "failed")
	row := func(name string, b block) {
		total, some := b.phase(result.Total), b.counts.Succeeded() > 0
		t.AppendRow(table.Row{
			name, decimals(b.requestsPerSecond, 2),
			msText(total.Percentiles[percentile.P50], some), msText(total.Percentiles[percentile.P99], some), msText(total.Max, some),
			b.counts.Requests, b.counts.Errors.Total(),
		})
	}
	for i := range r.Clients {
		row("client "+strconv.Itoa(r.Clients[i].Index), clientBlock(r, &r.Clients[i]))
	}
	row("merged", mergedBlock(r))
	fmt.Fprintf(w, "%s\n\n", t.Render())
	writeCost(w, r)
}

func writeThresholds(w *bytes.Buffer, outcomes []result.ThresholdOutcome, valid bool) {
	switch {
	case len(outcomes) == 0:
		return
	case !valid:
		section(w, "Thresholds: unknown, since the result is not valid")
	case thresholdsMet(outcomes):
		section(w, "Thresholds: all met")
	default:
		section(w, "Thresholds: MISSED")
	}
	t := NewTable(Words("metric"), Words("bound"), Words("actual"), "")
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
	fmt.Fprintf(w, "%s\n\n", t.Render())
	line(w, "Start skew:", "%s ms between clients", msText(r.StartSkewMicroseconds(), true))
	writeWarmup(w, r.Warmup)
}

// writeArrivals writes how well an open load kept its rate and, next to the response times, which
// are measured from the intended start times, the service times.
func writeArrivals(w *bytes.Buffer, r *result.Result) {
	a, dropped := r.Arrivals, r.Merged.Dropped
	fmt.Fprintf(w, "Target rate: %s requests/s, %d total\n", decimals(a.TargetRatePerSecond(), 2), a.Due)
	fmt.Fprintf(w, "Achieved:    %s requests/s, %d dropped\n\n", decimals(a.AchievedPerSecond(dropped), 2), dropped)
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
	fmt.Fprintln(w, t.Render())
}

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
	t := NewTable(Words(held), "seconds", "requests/s", "p50 ms", "p99 ms", "max ms", "requests", "failed %", "dropped", "target CPU %", "client CPU %")
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
