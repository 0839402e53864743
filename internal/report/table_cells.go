package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/internal/result"
)

// tableColumns are the columns of a table for people.
var tableColumns = []any{
	"run", "connector", "file", "options", "requests/s per client", "in all",
	"p50/p99/max ms per client", "merged", failedColumn, "target CPU %", validColumn,
}

// The first leftTableColumns and these two hold words, the others figures.
const (
	leftTableColumns = 4
	failedColumn     = "failed per client"
	validColumn      = "valid"
)

// tableCells are the cells of a row under tableColumns, and the note that the
// last of them refers to by its number; empty for none.
func tableCells(row *Row, number int) (cells []any, note string) {
	rates, latencies, inAll, merged := "-", "-", "-", "-"
	if row.Merged != nil {
		rates = each(row.Clients, func(f Figures) string { return decimals(f.RequestsPerSecond, 2) })
		latencies = each(row.Clients, func(f Figures) string { return latencyCell(f.Latency) })
		inAll, merged = decimals(row.Merged.RequestsPerSecond, 2), latencyCell(row.Merged.Latency)
	}
	valid, note := validCell(row, number)
	return []any{
		row.Name, orUnknown(row.Connector), filesCell(row), optionsCell(row), rates, inAll,
		latencies, merged, failedCell(row), cpuCell(row.Containers), valid,
	}, note
}

// each is the figure of every client.
func each(clients []Figures, figure func(Figures) string) string {
	texts := make([]string, 0, len(clients))
	for _, f := range clients {
		texts = append(texts, figure(f))
	}
	return orElse(strings.Join(texts, ", "), "-")
}

// filesCell is fileCell or, of a list of requests, how many there are.
func filesCell(row *Row) string {
	switch l := row.RequestList; {
	case l == nil:
		return fileCell(row.Requests)
	case l.Requests > 0:
		return "list of " + thousands(l.Requests)
	}
	return "list"
}

// fileCell is how large the files are that were asked for: "31,819 B", or the
// number of kinds of requests with their smallest and largest known length.
func fileCell(requests []result.Request) string {
	var lengths []int64
	for _, q := range requests {
		if q.Length >= 0 {
			lengths = append(lengths, q.Length)
		}
	}
	switch {
	case len(requests) == 1 && len(lengths) == 1:
		return thousands(lengths[0]) + " B"
	case len(requests) == 1:
		return "variable"
	case len(lengths) == 0:
		return plural(len(requests), "kind")
	}
	span := thousands(slices.Min(lengths))
	if most := thousands(slices.Max(lengths)); most != span {
		span += " to " + most
	}
	return plural(len(requests), "kind") + ", " + span + " B"
}

// thousands is a number with a comma before each three digits.
func thousands(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// methodsOf are the methods of requests but GET, as in "HEAD/POST"; empty for
// none.
func methodsOf(requests []result.Request) string {
	var methods []string
	for _, q := range requests {
		if q.Method != "" && !slices.Contains(methods, q.Method) {
			methods = append(methods, q.Method)
		}
	}
	return strings.Join(methods, "/")
}

// optionsCell is how clients connected, in ab's words where it has some, at what
// rate open load came, and what was asked for beside GET.
func optionsCell(row *Row) string {
	text := "no keep-alive"
	if row.KeepAlive {
		text = "keep-alive"
	}
	if row.AskedPerSecond > 0 {
		text += fmt.Sprintf(", %s/s", thousands(row.AskedPerSecond))
	}
	text += fmt.Sprintf(", -c %d", row.Connections)
	if methods := methodsOf(row.Requests); methods != "" {
		text += ", " + methods
	}
	if row.Authentication != "" {
		text += ", " + row.Authentication
	}
	if row.TLS != nil {
		text += ", " + strings.TrimSpace(orElse(row.TLS.Protocol, "TLS")+" "+row.TLS.Cipher)
	}
	return text
}

// latencyCell is median, 99th percentile and maximum in milliseconds.
func latencyCell(l *RowLatency) string {
	if l == nil {
		return "-"
	}
	return decimals(ms(l.P50), 1) + "/" + decimals(ms(l.P99), 1) + "/" + decimals(ms(l.Max), 1)
}

// failedCell is how many requests of each client failed, and how: "0" when none
// did, "0, 1 (exception)" when all that did failed in one way, and
// "3 (1 length, 2 timeout), 0" otherwise.
func failedCell(row *Row) string {
	if row.Merged == nil {
		return "-"
	}
	switch kinds := errorKinds(row.Merged.Errors); len(kinds) {
	case 0:
		return "0"
	case 1:
		return each(row.Clients, func(f Figures) string { return strconv.FormatInt(f.Errors.Total(), 10) }) + " (" + kinds[0].String() + ")"
	}
	return each(row.Clients, func(f Figures) string {
		kinds := errorKinds(f.Errors)
		text := strconv.FormatInt(f.Errors.Total(), 10)
		switch len(kinds) {
		case 0:
			return text
		case 1:
			return text + " (" + kinds[0].String() + ")"
		}
		var parts []string
		for _, k := range kinds {
			parts = append(parts, fmt.Sprintf("%d %s", f.Errors[k], k))
		}
		return text + " (" + strings.Join(parts, ", ") + ")"
	})
}

// errorKinds are the kinds that occurred.
func errorKinds(errors result.ErrorCounts) []result.ErrorKind {
	var kinds []result.ErrorKind
	for k, n := range errors {
		if n > 0 {
			kinds = append(kinds, result.ErrorKind(k))
		}
	}
	return kinds
}

// cpuCell is the CPU of each container of the target in percent of its limit,
// with names when there are several.
func cpuCell(containers []RowContainer) string {
	if len(containers) == 1 {
		return decimals(containers[0].CPUPercentOfLimit, 1)
	}
	var texts []string
	for _, c := range containers {
		texts = append(texts, c.Name+" "+decimals(c.CPUPercentOfLimit, 1))
	}
	return orElse(strings.Join(texts, ", "), "-")
}

// validCell is whether a row's figures can be trusted, and the note on why not,
// to which the cell refers by its number.
func validCell(row *Row, number int) (cell, note string) {
	mark := fmt.Sprintf("[%d]", number)
	switch {
	case row.Merged == nil:
		return "no result " + mark, fmt.Sprintf("%s %s has %s", mark, row.Name, orElse(row.NoResult, "no result"))
	case !row.valid():
		return "NO " + mark, fmt.Sprintf("%s %s isn't valid: %s", mark, row.Name, strings.Join(invalidating(row), "; "))
	case len(row.Findings) > 0:
		return "yes, " + plural(len(row.Findings), "warning"), ""
	}
	return "yes", ""
}

// invalidating are the findings that invalidate a row's result, in words.
func invalidating(row *Row) []string {
	var texts []string
	for _, f := range row.Findings {
		if f.Severity == result.Invalidates {
			texts = append(texts, f.Reason+": "+f.Message)
		}
	}
	return texts
}

// orElse is the text or, when it is empty, the other one.
func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}
