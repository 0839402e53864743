package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/internal/result"
)

// csvColumn is a column of a table as CSV. Values of several clients or containers are in one
// field, separated by spaces, clients in the order of their indexes. What is unknown is empty.
type csvColumn = column[Row]

func csvColumns() []csvColumn {
	type figure struct {
		name string
		of   func(f *Figures) string
	}
	figures := []figure{
		{"requests_per_second", func(f *Figures) string { return decimals(f.RequestsPerSecond, 2) }},
		{"p50_ms", latencyField(func(l *RowLatency) int64 { return l.P50 })},
		{"p99_ms", latencyField(func(l *RowLatency) int64 { return l.P99 })},
		{"max_ms", latencyField(func(l *RowLatency) int64 { return l.Max })},
	}
	columns := append(slices.Clone(declaredColumns),
		csvColumn{"clients", ofResult(func(row *Row) string { return strconv.Itoa(len(row.Clients)) })},
		csvColumn{"requests", ofMerged(func(f *Figures) string { return strconv.FormatInt(f.Requests, 10) })},
		csvColumn{"failed", ofMerged(failedField)},
		csvColumn{"failed_kinds", ofMerged(failedKindsField)},
	)
	for _, f := range figures {
		columns = append(columns, csvColumn{f.name, ofMerged(f.of)})
	}
	for _, f := range append(figures, figure{"failed", failedField}) {
		columns = append(columns, csvColumn{"client_" + f.name, ofClients(f.of)})
	}
	for i := range result.ClientFigures {
		if f := &result.ClientFigures[i]; f.CSV != "" {
			columns = append(columns, csvColumn{f.CSV, ofClients(func(of *Figures) string { return valueOf(f, of.Usage, "", false) })})
		}
	}
	for i := range result.Counters {
		if f := &result.Counters[i]; f.CSV != "" {
			columns = append(columns, csvColumn{f.CSV, ofMerged(func(of *Figures) string { return valueOf(f, &of.Counts, "", false) })})
		}
	}
	return append(columns,
		csvColumn{"target_cpu_percent", func(row *Row) string { return cpuField(row, false) }},
		csvColumn{"backend_cpu_percent", func(row *Row) string { return cpuField(row, true) }},
		csvColumn{"target_cpu_per_request_us", ofResult(func(row *Row) string { return costText(row.CPUPerRequest.Target, "", "") })},
		csvColumn{"client_cpu_per_request_us", ofResult(func(row *Row) string { return costText(row.CPUPerRequest.Clients, "", "") })},
		csvColumn{"breaking_points", ofResult(func(row *Row) string { return breakingPointsField(row.BreakingPoints) })},
		csvColumn{"valid", ofResult(func(row *Row) string { return strconv.FormatBool(row.valid()) })},
		csvColumn{"reason", func(row *Row) string { return cmp.Or(row.NoResult, reasons(row)) }},
	)
}

// declaredColumns are the columns that need no result.
var declaredColumns = []csvColumn{
	{"namespace", func(row *Row) string { return row.Namespace }},
	{"run", func(row *Row) string { return row.Name }},
	{"connector", func(row *Row) string { return row.Connector }},
	{"file", filesCell},
	{"keep_alive", func(row *Row) string { return strconv.FormatBool(row.KeepAlive) }},
	{"connections", func(row *Row) string { return strconv.FormatInt(row.Connections, 10) }},
	{"asked_per_second", func(row *Row) string {
		if row.TargetRatePerSecond == 0 {
			return ""
		}
		return strconv.FormatInt(row.TargetRatePerSecond, 10)
	}},
	{"methods", func(row *Row) string { return strings.Join(methodsOf(row.Requests), " ") }}, // those of a list are unknown
	{"authentication", func(row *Row) string { return row.Authentication }},
	{"tls_protocol", func(row *Row) string { return cmp.Or(row.TLS, &RowTLS{}).Protocol }},
	{"tls_cipher", func(row *Row) string { return cmp.Or(row.TLS, &RowTLS{}).Cipher }},
}

// writeTableCSV writes a record for each run under a header.
func writeTableCSV(w io.Writer, rows []Row) error { return WriteCSV(w, records(csvColumns(), rows)) }

// ofResult returns a column that is empty without a result.
func ofResult(of func(*Row) string) func(*Row) string {
	return func(row *Row) string {
		if row.Merged == nil {
			return ""
		}
		return of(row)
	}
}

// ofMerged returns a column with a figure of all clients merged.
func ofMerged(of func(*Figures) string) func(*Row) string {
	return ofResult(func(row *Row) string { return of(row.Merged) })
}

// ofClients returns a column with a figure of each client.
func ofClients(of func(*Figures) string) func(*Row) string {
	return ofResult(func(row *Row) string {
		var texts []string
		for i := range row.Clients {
			texts = append(texts, cmp.Or(of(&row.Clients[i]), "-"))
		}
		return strings.Join(texts, " ")
	})
}

func failedField(f *Figures) string { return strconv.FormatInt(f.Errors.Total(), 10) }

func failedKindsField(f *Figures) string {
	var kinds []string
	for k, n := range f.Errors.Occurred() {
		kinds = append(kinds, fmt.Sprintf("%s=%d", k, n))
	}
	return strings.Join(kinds, " ")
}

// latencyField returns a latency in milliseconds, empty if no request succeeded.
func latencyField(of func(*RowLatency) int64) func(*Figures) string {
	return func(f *Figures) string {
		if f.Latency == nil {
			return ""
		}
		return msText(of(f.Latency), true)
	}
}

// cpuField returns the CPU of the server in percent of its limit, or that of each
// backend with its name.
func cpuField(row *Row, backends bool) string {
	var texts []string
	for _, c := range row.Containers {
		switch server := c.Name == result.ServerContainer; {
		case server && !backends:
			texts = append(texts, decimals(c.CPUPercentOfLimit, 1))
		case !server && backends:
			texts = append(texts, c.Name+"="+decimals(c.CPUPercentOfLimit, 1))
		}
	}
	return strings.Join(texts, " ")
}
