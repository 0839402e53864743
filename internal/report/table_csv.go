package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/internal/result"
)

// csvColumns are the columns of a table as CSV. Figures of several clients or
// containers stand in one field, separated by spaces, clients in the order of
// their indexes. What isn't known is empty.
var csvColumns = []string{
	"namespace", "run", "connector", "file", "keep_alive", "connections", "asked_per_second", "methods", "authentication", "tls_protocol", "tls_cipher",
	"clients", "requests", "failed", "failed_kinds", "requests_per_second", "p50_ms", "p99_ms", "max_ms",
	"client_requests_per_second", "client_p50_ms", "client_p99_ms", "client_max_ms", "client_failed",
	"client_scheduler_lag_p99_ms", "client_gc_pause_max_ms",
	"target_cpu_percent", "backend_cpu_percent", "valid", "reason",
}

// writeTableCSV writes a record for each run under a header, as RFC 4180 has it
// but with line feeds alone.
func writeTableCSV(w io.Writer, rows []Row) error {
	out := csv.NewWriter(w)
	if err := out.Write(csvColumns); err != nil {
		return err
	}
	for i := range rows {
		if err := out.Write(csvRecord(&rows[i])); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// allMethods are the methods of requests; empty for those of a list, which aren't
// known.
func allMethods(requests []result.Request) string {
	var methods []string
	for _, q := range requests {
		if method := orElse(q.Method, "GET"); !slices.Contains(methods, method) {
			methods = append(methods, method)
		}
	}
	return strings.Join(methods, " ")
}

func csvRecord(row *Row) []string {
	tls := RowTLS{}
	if row.TLS != nil {
		tls = *row.TLS
	}
	asked := ""
	if row.AskedPerSecond > 0 {
		asked = strconv.FormatInt(row.AskedPerSecond, 10)
	}
	record := []string{
		row.Namespace, row.Name, row.Connector, filesCell(row), strconv.FormatBool(row.KeepAlive),
		strconv.FormatInt(row.Connections, 10), asked, allMethods(row.Requests), row.Authentication, tls.Protocol, tls.Cipher,
	}
	record = append(record, csvFigures(row)...)
	server, backends := "", []string{}
	for _, c := range row.Containers {
		if c.Name == result.ServerContainer {
			server = decimals(c.CPUPercentOfLimit, 1)
			continue
		}
		backends = append(backends, c.Name+"="+decimals(c.CPUPercentOfLimit, 1))
	}
	valid, reason := "", row.NoResult
	if row.Merged != nil {
		valid, reason = strconv.FormatBool(row.valid()), strings.Join(invalidating(row), "; ")
	}
	return append(record, server, strings.Join(backends, " "), valid, reason)
}

// csvFigures are the fields from clients to client_gc_pause_max_ms.
func csvFigures(row *Row) []string {
	if row.Merged == nil {
		return make([]string, 15)
	}
	var kinds []string
	for _, k := range errorKinds(row.Merged.Errors) {
		kinds = append(kinds, fmt.Sprintf("%s=%d", k, row.Merged.Errors[k]))
	}
	fields := []string{
		strconv.Itoa(len(row.Clients)), strconv.FormatInt(row.Merged.Requests, 10),
		strconv.FormatInt(row.Merged.Errors.Total(), 10), strings.Join(kinds, " "),
	}
	columns := []func(f *Figures) string{
		func(f *Figures) string { return decimals(f.RequestsPerSecond, 2) },
		func(f *Figures) string { return csvLatency(f, func(l *RowLatency) int64 { return l.P50 }) },
		func(f *Figures) string { return csvLatency(f, func(l *RowLatency) int64 { return l.P99 }) },
		func(f *Figures) string { return csvLatency(f, func(l *RowLatency) int64 { return l.Max }) },
	}
	for _, column := range columns {
		fields = append(fields, column(row.Merged))
	}
	columns = append(columns,
		func(f *Figures) string { return strconv.FormatInt(f.Errors.Total(), 10) },
		func(f *Figures) string {
			return csvUsage(f, func(u *result.ClientUsage) int64 { return u.SchedulingLatencyP99 })
		},
		func(f *Figures) string { return csvUsage(f, func(u *result.ClientUsage) int64 { return u.GCPauseMax }) },
	)
	for _, column := range columns {
		var ofClients []string
		for i := range row.Clients {
			ofClients = append(ofClients, orElse(column(&row.Clients[i]), "-"))
		}
		fields = append(fields, strings.Join(ofClients, " "))
	}
	return fields
}

// csvLatency is a latency in milliseconds, empty when no request succeeded.
func csvLatency(f *Figures, figure func(*RowLatency) int64) string {
	if f.Latency == nil {
		return ""
	}
	return decimals(ms(figure(f.Latency)), 3)
}

// csvUsage is a time of a client's usage in milliseconds.
func csvUsage(f *Figures, figure func(*result.ClientUsage) int64) string {
	if f.Usage == nil {
		return ""
	}
	return decimals(ms(figure(f.Usage)), 3)
}
