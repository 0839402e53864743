package result

import "time"

// SchemaVersion is the version of the JSON form of Result. It changes when a
// reader of the old form would misread the new one.
const SchemaVersion = 1

// Result is everything measured in one run, merged.
type Result struct {
	// SchemaVersion is SchemaVersion.
	SchemaVersion int `json:"schemaVersion"`
	// Run says what was run.
	Run Run `json:"run"`
	// Environment says under what conditions.
	Environment Environment `json:"environment"`
	// Merged is the measure of all clients together.
	Merged Measure `json:"merged"`
	// Arrivals is how well an open load kept its rate over all clients; nil for
	// other loads.
	Arrivals *Arrivals `json:"arrivals,omitempty"`
	// Levels are the levels of a load that goes through stages.
	Levels []Level `json:"levels,omitempty"`
	// Script is what is known of a k6 script; nil for other loads.
	Script *Script `json:"script,omitempty"`
	// DurationMicroseconds is the time from the first client's start to the last
	// client's end.
	DurationMicroseconds int64 `json:"durationMicroseconds"`
	// Clients are the clients' own figures, by index.
	Clients []Client `json:"clients"`
	// Warmup is what was sent before the measurement; nil without a warm-up.
	Warmup *Warmup `json:"warmup,omitempty"`
	// Server is what the server that clients talk to used during the measurement;
	// nil when it couldn't be seen.
	Server *Server `json:"server,omitempty"`
	// Backends are the containers of the target's pod behind that server, by
	// name; of those that couldn't be seen there is none.
	Backends []Backend `json:"backends,omitempty"`
	// Series are the seconds of the measurement, thinned when there are many.
	Series []Second `json:"series"`
	// Findings speak for or against trusting the result.
	Findings []Finding `json:"findings"`
	// Thresholds are the bounds asked for and what became of them.
	Thresholds []ThresholdOutcome `json:"thresholds,omitempty"`
}

// Run says what was run, as far as a report needs it.
type Run struct {
	// Alone is whether one client drove the load by itself, with no manager, no
	// pods and a target that nothing is known of.
	Alone     bool   `json:"alone,omitempty"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
	// Image is the target's image as declared, Server the kind of server, as
	// "Tomcat NIO".
	Image  string `json:"image"`
	Server string `json:"server"`
	// Load is the shape of the load: LoadClosed, LoadOpen or LoadScript.
	Load string `json:"load"`
	// Connections is the number of concurrent connections of a client, of the one
	// that has most, at most: under open load not all of them need be used.
	Connections int64 `json:"connections"`
	// AllConnections is the same over all clients; 0 for Connections of each.
	AllConnections int64 `json:"allConnections,omitempty"`
	// Streams is the number of concurrent requests on each HTTP/2 connection; 0 in
	// HTTP/1.1, with one.
	Streams int64 `json:"streams,omitempty"`
	// AskedPerSecond is the arrival rate over all clients that open load comes to, of
	// levels the highest; 0 for other loads.
	AskedPerSecond int64 `json:"askedPerSecond,omitempty"`
	// Requests are the kinds of requests made, RequestList where they are from
	// instead, nil where Requests has them.
	Requests    []Request    `json:"requests"`
	RequestList *RequestList `json:"requestList,omitempty"`
	// Sequential is whether each connection made them in their order, instead of
	// drawing them by their weights.
	Sequential bool `json:"sequential,omitempty"`
	// Cookies is whether each connection sent back the cookies that it was given.
	Cookies bool `json:"cookies,omitempty"`
	// Authentication is the scheme by which requests were authenticated; empty for
	// none.
	Authentication string `json:"authentication,omitempty"`
	// KeepAlive is whether connections were reused.
	KeepAlive bool `json:"keepAlive"`
	// MeasurementTime is the common start instant of the measurement.
	MeasurementTime time.Time `json:"measurementTime"`
}

// The shapes of load.
const (
	// LoadClosed keeps connections busy: latencies are service times.
	LoadClosed = "closed"
	// LoadOpen makes requests at a rate: latencies are from the intended start.
	LoadOpen = "open"
)

// HTTP2 is the version that Environment has for it.
const HTTP2 = "HTTP/2"

// Concurrency is the number of concurrent requests on so many connections.
func (r *Run) Concurrency(connections int64) int64 { return connections * max(1, r.Streams) }

// Request is one kind of request made.
type Request struct {
	// Method is empty for GET.
	Method string `json:"method,omitempty"`
	Path   string `json:"path"`
	Weight int64  `json:"weight"`
	// Length is the length that the body must have, in bytes; -1 when any will do.
	Length int64 `json:"length"`
}

// RequestList is a list of requests that isn't in the run itself.
type RequestList struct {
	ConfigMap string `json:"configMap,omitempty"`
	Key       string `json:"key,omitempty"`
	// File is where it was read from instead, without a cluster.
	File string `json:"file,omitempty"`
	// Requests is their number; 0 where it isn't known.
	Requests int64 `json:"requests"`
}

// Environment is the conditions of a run.
type Environment struct {
	TargetNode     string `json:"targetNode"`
	TargetAddress  string `json:"targetAddress"`
	TargetImageID  string `json:"targetImageID"`
	ServerSoftware string `json:"serverSoftware"`
	// ServerVersion, Connector and Libraries are what the server that clients talk
	// to says of itself in its log; empty where it doesn't, or can't be read.
	ServerVersion string   `json:"serverVersion"`
	Connector     string   `json:"connector"`
	Libraries     []string `json:"libraries,omitempty"`
	// Unproven is whether the server should have said so, and didn't.
	Unproven bool `json:"unproven"`
	// DocumentLength is the length of the body of the first request's response
	// as the agent saw it, in bytes; -1 when it isn't known.
	DocumentLength int64 `json:"documentLength"`
	// HTTP is the version of HTTP that the target answered in: HTTP2; empty for
	// HTTP/1.1 and before.
	HTTP string `json:"http,omitempty"`
	// TLS is what was negotiated with the target; nil without TLS.
	TLS *Handshake `json:"tls,omitempty"`
	// TargetCPULimit and ClientCPULimit are in thousandths of a CPU.
	TargetCPULimit int64 `json:"targetCPULimitMillis"`
	ClientCPULimit int64 `json:"clientCPULimitMillis"`
	// TargetCPUs lists the CPUs that the server may run on; CPUExclusivity is
	// Exclusive, Shared or Unknown.
	TargetCPUs     string `json:"targetCPUs"`
	CPUExclusivity string `json:"cpuExclusivity"`
	// Backends are the containers of the target's pod behind the server, in the
	// order of the pod's containers.
	Backends []BackendEnvironment `json:"backends,omitempty"`
	// Kernel is the release of the target node's kernel.
	Kernel string `json:"kernel"`
	// ContainerRuntime and Kubelet are the versions on the target's node.
	ContainerRuntime string `json:"containerRuntime"`
	Kubelet          string `json:"kubelet"`
	// Assay is the version of the operator.
	Assay string `json:"assay"`
}

// Client is the figures of one client.
type Client struct {
	Index int    `json:"index"`
	Node  string `json:"node"`
	Totals
	// Summaries stand for Latencies where those were dropped to keep the stored
	// result small; all nil otherwise.
	Summaries Summaries `json:"summaries,omitzero"`
	// StartSkewMicroseconds is how long after the common start instant its first
	// request began, by the manager's clock.
	StartSkewMicroseconds int64 `json:"startSkewMicroseconds"`
	// ClockErrorMicroseconds bounds the error of that, from the measurement of
	// the clock offset.
	ClockErrorMicroseconds int64 `json:"clockErrorMicroseconds"`
}

// Totals are a client's final figures of its measurement.
type Totals struct {
	Measure
	// Arrivals is how well an open load kept its rate; nil for other loads.
	Arrivals *Arrivals `json:"arrivals,omitempty"`
	// StartedAt and EndedAt are the start of the first request and the end of
	// the last: microseconds since the Unix epoch by the manager's clock. Under
	// open load StartedAt is the start instant and what the first request was late.
	StartedAt int64 `json:"startedAtMicroseconds"`
	EndedAt   int64 `json:"endedAtMicroseconds"`
	// Usage is what the client used from StartedAt to EndedAt.
	Usage ClientUsage `json:"usage"`
	// Warmup is what the client counted before; nil without a warm-up.
	Warmup *Counts `json:"warmup,omitempty"`
	// WarmupMicroseconds is how long that took, from the start of its first request
	// to the end of its last.
	WarmupMicroseconds int64 `json:"warmupMicroseconds,omitempty"`
	// Levels are its figures of each level. A result has them merged instead.
	Levels []LevelTotals `json:"levels,omitempty"`
	// Script is its figures of a k6 script; nil for other loads. A result has them
	// merged instead.
	Script *ScriptTotals `json:"script,omitempty"`
}

// DurationMicroseconds is the time from the first request's start to the last
// one's end.
func (t *Totals) DurationMicroseconds() int64 { return t.EndedAt - t.StartedAt }

// Severity says what a finding means for the result.
type Severity string

const (
	// Invalidates means that the result isn't one.
	Invalidates Severity = "Invalidates"
	// Warns means that the result stands, but the reader should know.
	Warns Severity = "Warns"
)

// Finding is something that speaks against trusting a result.
type Finding struct {
	// Reason is a CamelCase word, such as ClientSaturated.
	Reason   string   `json:"reason"`
	Severity Severity `json:"severity"`
	// Message says what was seen, with figures, and what to do.
	Message string `json:"message"`
}

// ThresholdOutcome is a bound asked for and what became of it.
type ThresholdOutcome struct {
	// Metric is the metric's name, Bound the bound as in "below 50ms", Actual the
	// figure in the same unit.
	Metric string `json:"metric"`
	Bound  string `json:"bound"`
	Actual string `json:"actual"`
	Met    bool   `json:"met"`
}
