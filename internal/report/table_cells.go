package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/result"
)

// tableColumns are the columns of a table for people.
var tableColumns = slices.Concat(
	doc.Words("run", "connector", "file", "options"), doc.Numbers("requests/s per client", "total", "p50/p99/max ms per client", "merged"),
	doc.Words("failed per client"), doc.Numbers("target CPU %", "CPU µs/request of target/clients"), doc.Words("valid"),
)

// droppableColumns are the columns that a narrow terminal can do without, the first to drop first. Of those that decide all stay.
var droppableColumns = []string{
	"p50/p99/max ms per client", "requests/s per client", "CPU µs/request of target/clients", "file", "options", "connector", "target CPU %",
}

// tableCells returns the cells of a row under tableColumns, and the note to which
// the last of them refers by its number; empty for none.
func tableCells(row *Row, place int) (cells []string, note string) {
	rates, latencies, total, merged := "-", "-", "-", "-"
	if row.Merged != nil {
		rates = each(row.Clients, func(f Metrics) string { return number.Significant(f.RequestsPerSecond) })
		latencies = each(row.Clients, func(f Metrics) string { return latencyCell(f.Latency) })
		total, merged = number.Significant(row.Merged.RequestsPerSecond), latencyCell(row.Merged.Latency)
	}
	valid, note := validCell(row, place)
	return []string{
		row.Name, cmp.Or(row.Connector, "unknown"), filesCell(row), optionsCell(row), rates, total,
		latencies, merged, failedCell(row), cpuCell(row.Containers), costCell(row.CPUPerRequest), valid,
	}, note
}

func each(clients []Metrics, text func(Metrics) string) string {
	texts := make([]string, 0, len(clients))
	for _, f := range clients {
		texts = append(texts, text(f))
	}
	return cmp.Or(strings.Join(texts, ", "), "-")
}

// filesCell returns the fileCell or, for a list of requests, their number.
func filesCell(row *Row) string {
	switch l := row.RequestList; {
	case l == nil:
		return fileCell(row.Requests)
	case l.Requests > 0:
		return "list of " + number.Count(l.Requests)
	}
	return "list"
}

// fileCell returns the size of the requested file, "31,819 B", or the number of
// kinds of requests with their smallest and largest known length.
func fileCell(requests []result.Request) string {
	var lengths []int64
	for _, q := range requests {
		if q.Length >= 0 {
			lengths = append(lengths, q.Length)
		}
	}
	switch {
	case len(requests) == 1 && len(lengths) == 1:
		return number.Count(lengths[0]) + " B"
	case len(requests) == 1:
		return "variable"
	case len(lengths) == 0:
		return number.Plural(len(requests), "kind")
	}
	span := number.Count(slices.Min(lengths))
	if most := number.Count(slices.Max(lengths)); most != span {
		span += " to " + most
	}
	return number.Plural(len(requests), "kind") + ", " + span + " B"
}

// methodsOf returns the methods of requests, each once.
func methodsOf(requests []result.Request) []string {
	var methods []string
	for _, q := range requests {
		if method := cmp.Or(q.Method, "GET"); !slices.Contains(methods, method) {
			methods = append(methods, method)
		}
	}
	return methods
}

// optionsCell returns how clients connected, in ab's terms if it has them, the
// target rate of open load, and methods other than GET.
func optionsCell(row *Row) string {
	text := "no keep-alive"
	if row.KeepAlive {
		text = "keep-alive"
	}
	if row.TargetRatePerSecond > 0 {
		text += fmt.Sprintf(", %s/s", number.Rate(row.TargetRatePerSecond))
	}
	if row.UserConnections > 0 {
		text += fmt.Sprintf(", %d users", row.Connections)
	} else {
		text += fmt.Sprintf(", -c %d", row.Connections)
	}
	if row.Tool != "" {
		text += ", by " + row.Tool
	}
	if others := slices.DeleteFunc(methodsOf(row.Requests), func(m string) bool { return m == "GET" }); len(others) > 0 {
		text += ", " + strings.Join(others, "/")
	}
	if row.Authentication != "" {
		text += ", " + row.Authentication
	}
	if row.TLS != nil {
		text += ", " + strings.TrimSpace(cmp.Or(row.TLS.Protocol, "TLS")+" "+row.TLS.Cipher)
	}
	return text
}

// latencyCell returns median, 99th percentile and maximum in milliseconds.
func latencyCell(l *RowLatency) string {
	if l == nil {
		return "-"
	}
	return number.Milliseconds(l.P50) + "/" + number.Milliseconds(l.P99) + "/" + number.Milliseconds(l.Max)
}

// failedCell returns the number of failed requests of each client, and how they failed: "0" if none
// did, "0, 1 (exception)" if all failed in one way, and "3 (1 length, 2 timeout), 0" otherwise.
func failedCell(row *Row) string {
	if row.Merged == nil {
		return "-"
	}
	clients := row.Clients
	if len(clients) == 0 { // the row of a single request
		clients = []Metrics{*row.Merged}
	}
	if kinds := errorKinds(row.Merged.Errors); len(kinds) == 0 {
		return "0"
	} else if len(kinds) == 1 {
		return each(clients, func(f Metrics) string { return failedField(&f) }) + " (" + kinds[0].String() + ")"
	}
	return each(clients, func(f Metrics) string {
		switch kinds := errorKinds(f.Errors); len(kinds) {
		case 0:
			return "0"
		case 1:
			return failedField(&f) + " (" + kinds[0].String() + ")"
		}
		return failedField(&f) + " (" + kindsText(f.Errors) + ")"
	})
}

func failedField(f *Metrics) string { return strconv.FormatInt(f.Errors.Total(), 10) }

func errorKinds(errors result.ErrorCounts) []result.ErrorKind {
	return slices.Sorted(maps.Keys(maps.Collect(errors.Occurred())))
}

// cpuCell returns the CPU of each container of the target in percent of its limit,
// with names if there are several.
func cpuCell(containers []RowContainer) string {
	if len(containers) == 1 {
		return decimals(containers[0].CPUPercentOfLimit, 0)
	}
	var texts []string
	for _, c := range containers {
		texts = append(texts, c.Name+" "+decimals(c.CPUPercentOfLimit, 0))
	}
	return cmp.Or(strings.Join(texts, ", "), "-")
}

// validCell returns whether a row's result is valid, and the note that says why it
// is not, to which the cell refers by its number.
func validCell(row *Row, place int) (cell, note string) {
	mark := fmt.Sprintf("[%d]", place)
	switch {
	case row.Merged == nil:
		return "no result " + mark, fmt.Sprintf("%s %s has %s", mark, row.Name, cmp.Or(row.NoResult, "no result"))
	case !row.valid():
		return "NO " + mark, fmt.Sprintf("%s %s is not valid: %s", mark, row.Name, reasons(row))
	case warnings(row.Findings) > 0:
		return "yes, " + number.Plural(warnings(row.Findings), "warning"), ""
	}
	return "yes", ""
}

// reasons returns the findings that invalidate a row's result as text.
func reasons(row *Row) string {
	return strings.Join(invalidating(row.Findings, func(f result.Finding) string { return f.Reason + ": " + f.Message }), " ")
}

// tableOf returns a row for each run and, under them, why results aren't valid or aren't there.
func tableOf(rows []Row) *doc.Document {
	t := &doc.Table{Caption: "Runs", Columns: tableColumns, Droppable: droppableColumns}
	var notes doc.Paragraph
	for i := range rows {
		cells, note := tableCells(&rows[i], len(notes)+1)
		if t.Rows = append(t.Rows, cells); note != "" {
			notes = append(notes, note)
		}
	}
	return &doc.Document{Sections: []doc.Section{{Blocks: []doc.Block{t, notes}}}}
}

func writeTableText(w io.Writer, rows []Row) error     { return doc.WriteText(w, tableOf(rows)) }
func writeTableMarkdown(w io.Writer, rows []Row) error { return doc.WriteMarkdown(w, tableOf(rows)) }
