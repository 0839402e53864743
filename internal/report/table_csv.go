package report

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/result"
)

// csvColumns returns the columns of a table as CSV. Values of several clients or containers are in one
// field, separated by spaces, clients in the order of their indexes. What is unknown is empty.
func csvColumns() []doc.Field[Row] {
	type metric struct {
		name string
		of   func(f *Metrics) string
	}
	metrics := []metric{
		{"requests_per_second", func(f *Metrics) string { return decimals(f.RequestsPerSecond, 2) }},
		{"p50_ms", latencyField(func(l *RowLatency) int64 { return l.P50 })},
		{"p99_ms", latencyField(func(l *RowLatency) int64 { return l.P99 })},
		{"max_ms", latencyField(func(l *RowLatency) int64 { return l.Max })},
	}
	columns := append(slices.Clone(declaredColumns),
		doc.Number("clients", ofResult(func(row *Row) string {
			if len(row.Clients) == 0 { // the row of a single request
				return ""
			}
			return strconv.Itoa(len(row.Clients))
		})),
		doc.Number("requests", ofMerged(func(f *Metrics) string { return strconv.FormatInt(f.Requests, 10) })),
		doc.Number("failed", ofMerged(failedField)),
		doc.Number("failed_kinds", ofMerged(func(f *Metrics) string { return joinCounts(f.Errors.Occurred(), "%s=%d", " ") })),
		doc.Number("statuses", ofResult(func(row *Row) string { return joinCounts(row.Statuses.All(), "%d=%d", " ") })),
	)
	for _, f := range metrics {
		columns = append(columns, doc.Number(f.name, ofMerged(f.of)))
	}
	for _, f := range append(metrics, metric{"failed", failedField}) {
		columns = append(columns, doc.Number("client_"+f.name, ofClients(f.of)))
	}
	for i := range result.ClientMetrics {
		if f := &result.ClientMetrics[i]; f.CSV != "" {
			columns = append(columns, doc.Number(f.CSV, ofClients(func(of *Metrics) string { return valueOf(f, of.Usage, "", false) })))
		}
	}
	for i := range result.Counters {
		if f := &result.Counters[i]; f.CSV != "" {
			columns = append(columns, doc.Number(f.CSV, ofMerged(func(of *Metrics) string { return valueOf(f, &of.Counts, "", false) })))
		}
	}
	return append(columns,
		doc.Number("target_cpu_percent", func(row *Row) string { return cpuField(row, false) }),
		doc.Number("backend_cpu_percent", func(row *Row) string { return cpuField(row, true) }),
		doc.Number("target_cpu_per_request_us", ofResult(func(row *Row) string { return costText(row.CPUPerRequest.Target, "", "") })),
		doc.Number("client_cpu_per_request_us", ofResult(func(row *Row) string { return costText(row.CPUPerRequest.Clients, "", "") })),
		doc.Number("breaking_points", ofResult(func(row *Row) string { return breakingPointsField(row.BreakingPoints) })),
		doc.Number("valid", ofResult(func(row *Row) string { return strconv.FormatBool(row.valid()) })),
		doc.Number("reason", func(row *Row) string { return cmp.Or(row.NoResult, reasons(row)) }),
	)
}

// declaredColumns are the columns that need no result.
var declaredColumns = []doc.Field[Row]{
	doc.Number("namespace", func(row *Row) string { return row.Namespace }),
	doc.Number("run", func(row *Row) string { return row.Name }),
	doc.Number("connector", func(row *Row) string { return row.Connector }),
	doc.Number("file", filesCell),
	doc.Number("keep_alive", func(row *Row) string { return strconv.FormatBool(row.KeepAlive) }),
	doc.Number("connections", func(row *Row) string { return strconv.FormatInt(row.Connections, 10) }),
	doc.Number("asked_per_second", func(row *Row) string {
		if row.TargetRatePerSecond == 0 {
			return ""
		}
		return strconv.FormatFloat(row.TargetRatePerSecond, 'f', -1, 64)
	}),
	doc.Number("methods", func(row *Row) string { return strings.Join(methodsOf(row.Requests), " ") }), // those of a list are unknown
	doc.Number("authentication", func(row *Row) string { return row.Authentication }),
	doc.Number("tls_protocol", func(row *Row) string { return cmp.Or(row.TLS, &RowTLS{}).Protocol }),
	doc.Number("tls_cipher", func(row *Row) string { return cmp.Or(row.TLS, &RowTLS{}).Cipher }),
}

// writeTableCSV writes a record for each run under a header.
func writeTableCSV(w io.Writer, rows []Row) error {
	return doc.WriteCSV(w, doc.Records(rows, csvColumns()...))
}

// ofResult returns a column that is empty without a result.
func ofResult(of func(*Row) string) func(*Row) string {
	return func(row *Row) string {
		if row.Merged == nil {
			return ""
		}
		return of(row)
	}
}

// ofMerged returns a column with a value of all clients merged.
func ofMerged(of func(*Metrics) string) func(*Row) string {
	return ofResult(func(row *Row) string { return of(row.Merged) })
}

// ofClients returns a column with a value of each client.
func ofClients(of func(*Metrics) string) func(*Row) string {
	return ofResult(func(row *Row) string {
		var texts []string
		for i := range row.Clients {
			texts = append(texts, cmp.Or(of(&row.Clients[i]), "-"))
		}
		return strings.Join(texts, " ")
	})
}

// latencyField returns a latency in milliseconds, empty if no request succeeded.
func latencyField(of func(*RowLatency) int64) func(*Metrics) string {
	return func(f *Metrics) string {
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
