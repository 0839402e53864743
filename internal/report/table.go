package report

import (
	"slices"
	"strconv"

	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/validity"
)

// Row is one run in a table of several: what was declared, and the part of its
// result that the table shows.
type Row struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Connector is the servers of the target and how they accept connections, as in
	// "Tomcat NIO + JSSE".
	Connector string `json:"connector"`
	// Requests are the kinds of requests. Length is the length of the response's body
	// in bytes, -1 if it varies or is unknown.
	Requests []result.Request `json:"requests"`
	// RequestList is their source instead; nil if Requests has them.
	RequestList *result.RequestList `json:"requestList,omitempty"`
	// Sequential reports whether each connection made them in their order.
	// Authentication is the scheme by which they were authenticated; empty for none.
	Sequential     bool   `json:"sequential,omitempty"`
	Authentication string `json:"authentication,omitempty"`
	// KeepAlive reports whether connections were reused. Connections is the number of
	// connections that each client had at a time.
	KeepAlive   bool  `json:"keepAlive"`
	Connections int64 `json:"connections"`
	// UserConnections is the number of connections of each user of a load of pages, whose Connections are
	// users; 0 for other loads.
	UserConnections int64 `json:"userConnections,omitempty"`
	// TargetRatePerSecond is the arrival rate over all clients that open load came to; 0
	// for other loads.
	TargetRatePerSecond float64 `json:"targetRatePerSecond,omitempty"`
	// Tool is the name of another load generator than Assay's own; empty for that.
	Tool string `json:"tool,omitempty"`
	// TLS is nil without TLS.
	TLS *RowTLS `json:"tls,omitempty"`
	// Clients are the metrics of each client in the order of their indexes, Merged
	// those of all merged; nil without a result.
	Clients []Metrics `json:"clients,omitempty"`
	Merged  *Metrics  `json:"merged,omitempty"`
	// Statuses counts the responses to all clients by status. ByRequest are the metrics of each request of a load with several, without
	// their histograms.
	Statuses  result.Statuses         `json:"statuses,omitempty"`
	ByRequest []result.RequestMetrics `json:"byRequest,omitempty"`
	// Containers are those of the target's pod whose usage is known, the server that
	// clients talk to first.
	Containers []RowContainer `json:"containers,omitempty"`
	// CPUPerRequest is the CPU time of a request; nil without a result.
	CPUPerRequest *RowCost `json:"cpuPerRequest,omitempty"`
	// BreakingPoints are those that a load with stages reached.
	BreakingPoints []result.BreakingPoint `json:"breakingPoints,omitempty"`
	// Findings are the reasons to distrust the result.
	Findings []result.Finding `json:"findings,omitempty"`
	// NoResult says why there is no result, as in "no result: it ended as
	// TargetCrashed: …"; empty if there is one.
	NoResult string `json:"noResult,omitempty"`
}

// RowTLS holds the negotiated parameters of TLS. Without a result it holds the declared ones:
// several values, or none.
type RowTLS struct {
	Protocol string `json:"protocol,omitempty"`
	Cipher   string `json:"cipher,omitempty"`
}

// Metrics are those of one client, or of all merged.
type Metrics struct {
	// RequestsPerSecond counts successful requests.
	RequestsPerSecond float64 `json:"requestsPerSecond"`
	result.Counts
	// Latency is of the total times of successful requests; nil without any, or if it is unknown.
	Latency *RowLatency `json:"latency,omitempty"`
	// Usage is the usage of a client, or nil for all clients merged.
	Usage *result.ClientUsage `json:"usage,omitempty"`
}

// RowLatency is a distribution of total times in microseconds.
type RowLatency struct {
	P50 int64 `json:"p50Microseconds"`
	P99 int64 `json:"p99Microseconds"`
	Max int64 `json:"maxMicroseconds"`
}

// RowContainer is the usage of a container of the target's pod.
type RowContainer struct {
	// Name is "server" for the one that clients talk to.
	Name string `json:"name"`
	// CPUPercentOfLimit is the mean during the measurement; 0 if the limit is unknown.
	CPUPercentOfLimit float64 `json:"cpuPercentOfLimit"`
}

// NewRow returns the row of a run with a result. The percentiles of all clients are
// those of the merged histograms.
func NewRow(connector string, r *result.Result) Row {
	row := Row{
		Namespace: r.Run.Namespace, Name: r.Run.Name, Connector: connector,
		Requests: requestsOf(r), RequestList: r.Run.RequestList, Sequential: r.Run.Sequential, Authentication: r.Run.Authentication,
		KeepAlive: r.Run.KeepAlive, Connections: r.Run.Connections, UserConnections: r.Run.UserConnections, TargetRatePerSecond: r.Run.TargetRatePerSecond, Tool: r.Run.Tool,
		Findings: r.Findings, Statuses: r.Statuses, ByRequest: summarized(r.ByRequest),
	}
	if t := r.Environment.TLS; t != nil {
		row.TLS = &RowTLS{Protocol: t.Protocol, Cipher: t.Cipher}
	}
	for i := range r.Clients {
		f := metricsOf(clientBlock(r, &r.Clients[i]))
		usage := r.Clients[i].Usage
		f.Usage = &usage
		row.Clients = append(row.Clients, f)
	}
	merged := metricsOf(mergedBlock(r))
	row.Merged, row.CPUPerRequest = &merged, costOf(r)
	for _, c := range r.Containers() {
		if c.Usage != nil {
			row.Containers = append(row.Containers, RowContainer{Name: c.Name, CPUPercentOfLimit: c.Usage.CPUPercentOf(c.CPULimit)})
		}
	}
	for _, p := range r.BreakingPoints {
		if p.Reached {
			row.BreakingPoints = append(row.BreakingPoints, p)
		}
	}
	return row
}

// Only makes the row that of a single request of the load, by its name. It has no metrics of single clients, and no CPU time.
func (row *Row) Only(r *result.Result, name string) {
	row.Clients, row.CPUPerRequest, row.Statuses, row.ByRequest, row.BreakingPoints = nil, &RowCost{}, nil, nil, nil
	row.Requests = slices.DeleteFunc(slices.Clone(row.Requests), func(q result.Request) bool { return q.DisplayName() != name })
	m := r.Request(name)
	if m == nil {
		row.Merged, row.NoResult = nil, "no metrics of a request "+strconv.Quote(name)+": see the names with kubectl assay report"
		return
	}
	row.Merged = &Metrics{Counts: result.Counts{Requests: m.Requests, Errors: m.Errors, BytesSent: m.BytesSent, BytesReceived: m.BytesReceived, BodyBytes: m.BodyBytes}}
	row.Merged.RequestsPerSecond, _ = r.Metric("RequestsPerSecond", name)
	if total := m.Total(); total.Count > 0 {
		row.Merged.Latency = &RowLatency{P50: total.Percentiles[percentile.P50], P99: total.Percentiles[percentile.P99], Max: total.Max}
	}
}

func metricsOf(b block) Metrics {
	f := Metrics{RequestsPerSecond: b.requestsPerSecond, Counts: b.counts}
	total := b.phase(result.Total)
	if b.counts.Succeeded() > 0 && total.Percentiles[percentile.P50] != result.Unknown && total.Percentiles[percentile.P99] != result.Unknown {
		f.Latency = &RowLatency{P50: total.Percentiles[percentile.P50], P99: total.Percentiles[percentile.P99], Max: total.Max}
	}
	return f
}

// valid reports whether there is a result and no finding invalidates it.
func (row *Row) valid() bool { return row.Merged != nil && validity.Valid(row.Findings) }
