package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/validity"
)

// Row is one run in a table over several: what was declared, and what of its
// result stands in the table.
type Row struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Connector names the servers of the target and how they accept connections,
	// as in "Tomcat NIO + JSSE".
	Connector string `json:"connector"`
	// Requests are the kinds of requests. Length is the length of the response's
	// body in bytes, -1 when it varies or isn't known.
	Requests []result.Request `json:"requests"`
	// RequestList is where they are from instead; nil where Requests has them.
	RequestList *result.RequestList `json:"requestList,omitempty"`
	// Sequential is whether each connection made them in their order. Authentication
	// is the scheme by which they were authenticated; empty for none.
	Sequential     bool   `json:"sequential,omitempty"`
	Authentication string `json:"authentication,omitempty"`
	// KeepAlive is whether connections were reused, Connections how many each
	// client had at a time.
	KeepAlive   bool  `json:"keepAlive"`
	Connections int64 `json:"connections"`
	// AskedPerSecond is the arrival rate over all clients that open load came to; 0
	// for other loads.
	AskedPerSecond int64 `json:"askedPerSecond,omitempty"`
	// TLS is nil without TLS.
	TLS *RowTLS `json:"tls,omitempty"`
	// Clients are each client's own figures, in the order of their indexes; Merged
	// those of all together, nil without a result.
	Clients []Figures `json:"clients,omitempty"`
	Merged  *Figures  `json:"merged,omitempty"`
	// Containers are those of the target's pod that were seen, the server that
	// clients talk to first.
	Containers []RowContainer `json:"containers,omitempty"`
	// Findings speak against trusting the result.
	Findings []result.Finding `json:"findings,omitempty"`
	// NoResult says why there is no result, as in "no result: it ended as
	// TargetCrashed: …"; empty when there is one.
	NoResult string `json:"noResult,omitempty"`
}

// RowTLS is what was negotiated; without a result what was declared, of which
// there may be several, or nothing.
type RowTLS struct {
	Protocol string `json:"protocol,omitempty"`
	Cipher   string `json:"cipher,omitempty"`
}

// Figures are those of one client, or of all.
type Figures struct {
	// RequestsPerSecond counts requests that succeeded.
	RequestsPerSecond float64 `json:"requestsPerSecond"`
	// Requests are all that ended, Errors those that failed by kind.
	Requests int64              `json:"requests"`
	Errors   result.ErrorCounts `json:"errors"`
	// Latency is of the total times of requests that succeeded; nil without any.
	Latency *RowLatency `json:"latency,omitempty"`
	// Usage is what a client used, and how late it ran itself; nil of all together.
	Usage *result.ClientUsage `json:"usage,omitempty"`
}

// RowLatency is a distribution of total times in microseconds.
type RowLatency struct {
	P50 int64 `json:"p50Microseconds"`
	P99 int64 `json:"p99Microseconds"`
	Max int64 `json:"maxMicroseconds"`
}

// RowContainer is what a container of the target's pod used.
type RowContainer struct {
	// Name is "server" for the one that clients talk to.
	Name string `json:"name"`
	// CPUPercentOfLimit is the mean during the measurement; 0 when the limit isn't
	// known.
	CPUPercentOfLimit float64 `json:"cpuPercentOfLimit"`
}

// NewRow is the row of a run with a result. The percentiles of all clients are
// those of the merged histograms.
func NewRow(connector string, r *result.Result) Row {
	row := Row{
		Namespace: r.Run.Namespace, Name: r.Run.Name, Connector: connector,
		Requests: slices.Clone(r.Run.Requests), RequestList: r.Run.RequestList, Sequential: r.Run.Sequential, Authentication: r.Run.Authentication,
		KeepAlive: r.Run.KeepAlive, Connections: r.Run.Connections, AskedPerSecond: r.Run.AskedPerSecond,
		Findings: r.Findings,
	}
	if len(row.Requests) > 0 && row.Requests[0].Length < 0 {
		row.Requests[0].Length = r.Environment.DocumentLength
	}
	if t := r.Environment.TLS; t != nil {
		row.TLS = &RowTLS{Protocol: t.Protocol, Cipher: t.Cipher}
	}
	for i := range r.Clients {
		f := figuresOf(clientBlock(r, &r.Clients[i]))
		usage := r.Clients[i].Usage
		f.Usage = &usage
		row.Clients = append(row.Clients, f)
	}
	merged := figuresOf(mergedBlock(r))
	row.Merged = &merged
	for _, c := range r.Containers() {
		if c.Usage != nil {
			row.Containers = append(row.Containers, RowContainer{Name: c.Name, CPUPercentOfLimit: c.Usage.CPUPercentOf(c.CPULimit)})
		}
	}
	return row
}

func figuresOf(b block) Figures {
	f := Figures{RequestsPerSecond: b.requestsPerSecond(), Requests: b.counts.Requests, Errors: b.counts.Errors}
	if b.counts.Succeeded() > 0 {
		total := b.phase(result.Total)
		f.Latency = &RowLatency{P50: total.Percentiles[percentile.P50], P99: total.Percentiles[percentile.P99], Max: total.Max}
	}
	return f
}

// valid is whether there is a result and nothing invalidates it.
func (r *Row) valid() bool { return r.Merged != nil && validity.Valid(r.Findings) }

// TableFormat writes rows as a table in one form.
type TableFormat func(w io.Writer, rows []Row) error

// TableFormats are all forms of tables, by their names.
var TableFormats = map[string]TableFormat{
	"csv":      writeTableCSV,
	"json":     writeTableJSON,
	"markdown": writeTableMarkdown,
	"text":     writeTableText,
}

// TableNames are the names of all forms of tables, in alphabetical order.
func TableNames() []string { return slices.Sorted(maps.Keys(TableFormats)) }

// WriteTable writes rows as a table in the form of that name.
func WriteTable(w io.Writer, format string, rows []Row) error {
	write, known := TableFormats[format]
	if !known {
		return fmt.Errorf("there is no format %q: use one of %s", format, strings.Join(TableNames(), ", "))
	}
	printable := make([]Row, 0, len(rows))
	for i := range rows {
		printable = append(printable, shownRow(rows[i]))
	}
	if err := write(w, printable); err != nil {
		return fmt.Errorf("write table as %s: %w", format, err)
	}
	return nil
}

// shownRow is a copy of the row in which all texts are printable.
func shownRow(row Row) Row {
	clean := func(texts ...*string) {
		for _, text := range texts {
			*text = printable.Text(*text)
		}
	}
	clean(&row.Namespace, &row.Name, &row.Connector, &row.NoResult)
	row.Requests = slices.Clone(row.Requests)
	for i := range row.Requests {
		clean(&row.Requests[i].Method, &row.Requests[i].Path)
	}
	clean(&row.Authentication)
	if row.RequestList != nil {
		list := *row.RequestList
		row.RequestList = &list
		clean(&list.ConfigMap, &list.Key, &list.File)
	}
	if row.TLS != nil {
		tls := *row.TLS
		clean(&tls.Protocol, &tls.Cipher)
		row.TLS = &tls
	}
	row.Containers = slices.Clone(row.Containers)
	for i := range row.Containers {
		clean(&row.Containers[i].Name)
	}
	row.Findings = slices.Clone(row.Findings)
	for i := range row.Findings {
		clean(&row.Findings[i].Reason, (*string)(&row.Findings[i].Severity), &row.Findings[i].Message)
	}
	return row
}
