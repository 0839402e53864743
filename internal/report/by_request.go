package report

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/result"
)

// byRequest returns which statuses and content codings responses had and, of a load of several requests, a row for each.
func byRequest(r *result.Result) doc.Section {
	s := doc.Section{ID: "requests", Title: "Requests", Question: "Which requests were slow, and which failed?"}
	if len(r.ByRequest) > 0 {
		s.Add(requestsTable(r))
	}
	if len(r.Statuses) > 0 {
		s.Add(statusesTable(r))
	}
	if text := encodingsText(r); text != "" {
		s.Add(doc.Paragraph{text})
	}
	if len(s.Blocks) == 0 {
		return doc.Section{}
	}
	return s
}

// requestsTable has a row for each request of a load.
func requestsTable(r *result.Result) *doc.Table {
	fields := []doc.Field[result.RequestMetrics]{
		doc.Word("request", func(m *result.RequestMetrics) string { return m.Name }),
		doc.Number("requests/s", func(m *result.RequestMetrics) string { return requestMetric(r, "RequestsPerSecond", m.Name, 2) }),
	}
	fields = append(fields, times((*result.RequestMetrics).Total, mostRead)...)
	return doc.TableOf("Each request of the load, over all clients", summarized(r.ByRequest), append(fields,
		doc.Number("requests", func(m *result.RequestMetrics) string { return whole(m.Requests) }),
		doc.Number("failed", func(m *result.RequestMetrics) string { return whole(m.Errors.Total()) }),
		doc.Number("failed %", func(m *result.RequestMetrics) string { return decimals(m.ErrorPercent(), 2) }),
		doc.Number("kB received", func(m *result.RequestMetrics) string {
			return number.OrDash(m.BytesReceived > 0, decimals(float64(m.BytesReceived)/1024, 0))
		}),
		doc.Word("errors", func(m *result.RequestMetrics) string { return cmp.Or(kindsText(m.Errors), "-") }),
	)...)
}

// summarized returns metrics of requests with summaries in place of histograms.
func summarized(requests []result.RequestMetrics) []result.RequestMetrics {
	requests = slices.Clone(requests)
	for i := range requests {
		requests[i].Summarize()
	}
	return requests
}

// kindsText returns the kinds of errors with their numbers, as in "3 timeout, 1 status"; empty for none.
func kindsText(errs result.ErrorCounts) string {
	return joinCounts(errs.Occurred(), "%[2]d %[1]s", ", ")
}

// requestMetric returns a metric of a request as text, or - if there is none.
func requestMetric(r *result.Result, metric, request string, places int) string {
	value, exists := r.Metric(metric, request)
	if !exists {
		return "-"
	}
	return decimals(value, places)
}

// statusesTable has a row for each status of a response, and one for requests without a complete response.
func statusesTable(r *result.Result) *doc.Table {
	t := &doc.Table{Caption: "Responses by status", Columns: append(doc.Words("status"), doc.Numbers("responses", "% of requests")...)}
	left := r.Merged.Requests
	add := func(name string, n int64) {
		t.Rows = append(t.Rows, []string{name, whole(n), decimals(100*float64(n)/float64(max(1, r.Merged.Requests)), 2)})
	}
	for status, n := range r.Statuses.All() {
		add(strconv.Itoa(status), n)
		left -= n
	}
	if left > 0 {
		add("no complete response", left)
	}
	return t
}

// encodingsText says how many responses had an encoded body; empty if none had.
func encodingsText(r *result.Result) string {
	codings := joinCounts(r.ContentEncodings.All(), "%s %d", ", ")
	if codings == "" {
		return ""
	}
	return fmt.Sprintf("Responses by Content-Encoding: %s, of %d requests. Bytes of bodies are those of the encoded ones.", codings, r.Merged.Requests)
}

// errNoRequests is the error of a result without metrics of single requests.
var errNoRequests = errors.New("the result has no metrics of single requests: a list of requests, a script, ab and siege have none")

// writeRequestsCSV writes a record for each request of the load.
func writeRequestsCSV(w io.Writer, r *result.Result) error {
	r = Shown(r)
	requests := summarized(r.ByRequest)
	if len(requests) == 0 && len(r.Run.Requests) == 1 && r.Run.Tool == "" {
		if m := r.Request(r.Run.Requests[0].DisplayName()); m != nil {
			requests = []result.RequestMetrics{*m}
		}
	}
	if len(requests) == 0 {
		return errNoRequests
	}
	count := func(name string, of func(*result.RequestMetrics) int64) doc.Field[result.RequestMetrics] {
		return doc.Number(name, func(m *result.RequestMetrics) string { return whole(of(m)) })
	}
	bytes := func(name string, of func(*result.RequestMetrics) int64) doc.Field[result.RequestMetrics] {
		return doc.Number(name, func(m *result.RequestMetrics) string {
			if m.BytesSent == 0 { // k6 counts those of all requests together
				return ""
			}
			return whole(of(m))
		})
	}
	columns := []doc.Field[result.RequestMetrics]{
		doc.Number("request", func(m *result.RequestMetrics) string { return m.Name }),
		count("requests", func(m *result.RequestMetrics) int64 { return m.Requests }),
		count("failed", func(m *result.RequestMetrics) int64 { return m.Errors.Total() }),
		doc.Number("failed_percent", func(m *result.RequestMetrics) string { return decimals(m.ErrorPercent(), 4) }),
	}
	for k := range result.ErrorKinds {
		columns = append(columns, count("failed_"+k.String(), func(m *result.RequestMetrics) int64 { return m.Errors[k] }))
	}
	columns = append(columns,
		doc.Number("requests_per_second", func(m *result.RequestMetrics) string { return requestMetric(r, "RequestsPerSecond", m.Name, 2) }),
		bytes("bytes_sent", func(m *result.RequestMetrics) int64 { return m.BytesSent }),
		bytes("bytes_received", func(m *result.RequestMetrics) int64 { return m.BytesReceived }),
		bytes("body_bytes", func(m *result.RequestMetrics) int64 { return m.BodyBytes }),
	)
	return doc.WriteCSV(w, doc.Records(requests, append(columns, timesCSV("", (*result.RequestMetrics).Total, withMean(common))...)...))
}
