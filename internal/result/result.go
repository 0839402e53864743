package result

import (
	"cmp"
	"time"
)

// SchemaVersion is the version of the JSON format of Result. It changes if a reader
// of the old format would misread the new one.
const SchemaVersion = 1

// Result is everything measured in one run, merged.
type Result struct {
	// SchemaVersion is SchemaVersion.
	SchemaVersion int `json:"schemaVersion"`
	// Run describes what was run.
	Run Run `json:"run"`
	// Environment holds the conditions.
	Environment Environment `json:"environment"`
	// Merged is the measure of all clients merged.
	Merged Measure `json:"merged"`
	// Causes say why requests failed, by kind of error, over all clients.
	Causes Causes `json:"causes,omitzero"`
	// Statuses counts the responses to the requests of all clients by status, as far as it is known: other load generators don't say.
	Statuses Statuses `json:"statuses,omitempty"`
	// ContentEncodings counts the responses with an encoded body, such as a compressed one, by coding; nil if there was none, or it is unknown: other
	// load generators don't say.
	ContentEncodings Encodings `json:"contentEncodings,omitempty"`
	// ByRequest are the metrics of each request of a load with several, over all clients, in the order in which the load declares
	// them: up to 128, and the others together. Documents of pages come before elements. It is nil for lists and scripts.
	ByRequest []RequestMetrics `json:"byRequest,omitempty"`
	// Arrivals shows how well an open load kept its rate over all clients; nil for other loads.
	Arrivals *Arrivals `json:"arrivals,omitempty"`
	// Levels are the levels of a load that goes through stages, Steps its changes between them that
	// take time. BreakingPoints are the conditions under which the target counts as overloaded, and
	// Stop is the one that ended the load before its planned end, or nil if none did.
	Levels         []Level         `json:"levels,omitempty"`
	Steps          []Step          `json:"steps,omitempty"`
	BreakingPoints []BreakingPoint `json:"breakingPoints,omitempty"`
	Stop           *Stop           `json:"stop,omitempty"`
	// Script holds the metrics of a k6 script; nil for other loads.
	Script *Script `json:"script,omitempty"`
	// DurationMicroseconds is the time from the first client's start to the last client's end.
	DurationMicroseconds int64 `json:"durationMicroseconds"`
	// Clients are the metrics of each client by index.
	Clients []Client `json:"clients"`
	// Warmup holds the counts of the warm-up; nil without a warm-up.
	Warmup *Warmup `json:"warmup,omitempty"`
	// Server is the usage of the server that clients talk to during the measurement, or nil
	// if that is unknown.
	Server *Server `json:"server,omitempty"`
	// Backends are the containers of the target's pod behind that server, by name,
	// without those of unknown usage.
	Backends []Backend `json:"backends,omitempty"`
	// NodeUsage shows what happened around the target's containers during the measurement; nil if
	// that is unknown.
	NodeUsage *NodeUsage `json:"nodeUsage,omitempty"`
	// Waiting holds the target's usage while other variants were loaded; nil for a load that doesn't alternate, and if it is unknown.
	Waiting *WaitingUsage `json:"waiting,omitempty"`
	// ServerErrors are the errors in the logs of the target's servers while they were under load, of
	// those that have any.
	ServerErrors []ServerErrors `json:"serverErrors,omitempty"`
	// Series are the seconds of the measurement, thinned if there are many.
	Series []Second `json:"series"`
	// Findings are the reasons to distrust the result.
	Findings []Finding `json:"findings"`
	// Thresholds are the outcomes of the declared bounds.
	Thresholds []ThresholdOutcome `json:"thresholds,omitempty"`
}

// Run describes what was run, as far as reports need it.
type Run struct {
	// Standalone reports whether one client ran the load without a cluster, against a target
	// of which nothing is known.
	Standalone bool   `json:"standalone,omitempty"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
	UID        string `json:"uid"`
	// Note is the text of the run's annotation for notes, which reports read with the result.
	Note string `json:"-"`
	// Image is the target's image as declared, Server the kind of server, as "Tomcat NIO".
	Image  string `json:"image"`
	Server string `json:"server"`
	// Load is the shape of the load: LoadClosed, LoadOpen or LoadScript.
	Load string `json:"load"`
	// Tool is the name of another load generator that the clients ran; empty for Assay's own.
	Tool string `json:"tool,omitempty"`
	// Connections is the largest number of concurrent connections of a client. Open load
	// need not use all of them.
	Connections int64 `json:"connections"`
	// AllConnections is the same over all clients; 0 if each has Connections.
	AllConnections int64 `json:"allConnections,omitempty"`
	// Streams is the number of concurrent requests on each HTTP/2 connection; 0 for
	// HTTP/1.1, which has one.
	Streams int64 `json:"streams,omitempty"`
	// UserConnections is the number of connections of each user of a load of pages, whose
	// Connections and AllConnections are users; 0 for other loads.
	UserConnections int64 `json:"userConnections,omitempty"`
	// TargetRatePerSecond is the largest arrival rate of an open load over all clients; 0 for
	// other loads.
	TargetRatePerSecond float64 `json:"targetRatePerSecond,omitempty"`
	// Requests are the kinds of requests. RequestList is their source instead; nil if
	// Requests has them.
	Requests    []Request    `json:"requests"`
	RequestList *RequestList `json:"requestList,omitempty"`
	// Sequential reports whether each connection made them in their order, instead of
	// drawing them by their weights.
	Sequential bool `json:"sequential,omitempty"`
	// Cookies reports whether each connection sent back the cookies that it received.
	Cookies bool `json:"cookies,omitempty"`
	// Authentication is the scheme by which requests were authenticated; empty for none.
	Authentication string `json:"authentication,omitempty"`
	// Variants is the number of runs between which the load alternated in slices of a second, this one included; 0 for a load that
	// ran all of the time. Times are virtual then: those in which this run was loaded.
	Variants int64 `json:"variants,omitempty"`
	// KeepAlive reports whether connections were reused.
	KeepAlive bool `json:"keepAlive"`
	// MeasurementTime is the common start time of the measurement.
	MeasurementTime time.Time `json:"measurementTime"`
}

// The shapes of load.
const (
	// LoadClosed keeps connections busy (closed model): latencies are service times.
	LoadClosed = "closed"
	// LoadOpen makes requests at an arrival rate (open model): latencies are measured
	// from the intended start times.
	LoadOpen = "open"
)

// HTTP2 is the value of Environment.HTTP for HTTP/2.
const HTTP2 = "HTTP/2"

// Connections returns the largest number of concurrent connections of all clients or, of a load of pages, of users.
func (r *Result) Connections() int64 {
	return cmp.Or(r.Run.AllConnections, r.Run.Connections*int64(len(r.Clients)))
}

// Concurrency returns the number of concurrent requests on the given number of connections.
func (r *Run) Concurrency(connections int64) int64 { return connections * max(1, r.Streams) }

// Request is one kind of request.
type Request struct {
	// Name is the declared name; empty for none.
	Name string `json:"name,omitempty"`
	// Method is empty for GET.
	Method string `json:"method,omitempty"`
	Path   string `json:"path"`
	Weight int64  `json:"weight"`
	// Length is the length that the body must have in bytes; -1 for any.
	Length int64 `json:"length"`
	// Elements is the number of further requests of the page whose document this is.
	Elements int64 `json:"elements,omitempty"`
}

// DisplayName returns the name under which the request's metrics are kept: the declared one, else method and path.
func (q *Request) DisplayName() string {
	return cmp.Or(q.Name, cmp.Or(q.Method, "GET")+" "+q.Path)
}

// RequestList is a list of requests outside of the run.
type RequestList struct {
	ConfigMap string `json:"configMap,omitempty"`
	Key       string `json:"key,omitempty"`
	// File is the path that it was read from instead, without a cluster.
	File string `json:"file,omitempty"`
	// Requests is their number; 0 if it is unknown.
	Requests int64 `json:"requests"`
}

// Environment holds the conditions of a run.
type Environment struct {
	TargetNode    string `json:"targetNode"`
	TargetAddress string `json:"targetAddress"`
	// ConnectedAddress is the IP address and port that a client without a cluster connected to; empty if it is unknown.
	ConnectedAddress string `json:"connectedAddress,omitempty"`
	TargetImageID    string `json:"targetImageID"`
	ServerSoftware   string `json:"serverSoftware"`
	// ServerVersion, Connector and Libraries are what the server that clients talk to
	// logs about itself; empty if it logs nothing, or its log cannot be read.
	ServerVersion string   `json:"serverVersion"`
	Connector     string   `json:"connector"`
	Libraries     []string `json:"libraries,omitempty"`
	// Configuration is the user's own of that server; nil if there is none, or it is unknown.
	Configuration *Configuration `json:"configuration,omitempty"`
	// Unverified reports whether the server should have logged them, but did not.
	Unverified bool `json:"unverified"`
	// DocumentLength is the length in bytes of the body of the response to the first
	// request, as the agent received it; -1 if it is unknown.
	DocumentLength int64 `json:"documentLength"`
	// HTTP is the version of HTTP in the target's response: HTTP2; empty for HTTP/1.1 and before.
	HTTP string `json:"http,omitempty"`
	// TLS holds the parameters negotiated with the target; nil without TLS.
	TLS *Handshake `json:"tls,omitempty"`
	// TargetCPULimit and ClientCPULimit are in thousandths of a CPU.
	TargetCPULimit int64 `json:"targetCPULimitMillis"`
	ClientCPULimit int64 `json:"clientCPULimitMillis"`
	// SharedCPULimit limits the server and the backends together, in thousandths of a CPU; 0 if only
	// their own limits do.
	SharedCPULimit int64 `json:"sharedCPULimitMillis,omitempty"`
	// TargetCPUs lists the CPUs that the server may run on. CPUExclusivity is Exclusive,
	// Shared or Unknown.
	TargetCPUs     string `json:"targetCPUs"`
	CPUExclusivity string `json:"cpuExclusivity"`
	// TargetCores lists all CPUs of the cores to which TargetCPUs belong, empty if they are unknown.
	TargetCores string `json:"targetCores,omitempty"`
	// Backends are the containers of the target's pod behind the server, in the
	// order of the pod's containers.
	Backends []BackendEnvironment `json:"backends,omitempty"`
	// Governor is the frequency governor of the target's CPUs, empty if it is unknown.
	Governor string `json:"governor,omitempty"`
	// Machine is that of the target's node or, without a cluster, that of the client; nil if it is unknown.
	Machine *Machine `json:"machine,omitempty"`
	// Kernel is the release of the target node's kernel.
	Kernel string `json:"kernel"`
	// ContainerRuntime and Kubelet are the versions on the target's node.
	ContainerRuntime string `json:"containerRuntime"`
	Kubelet          string `json:"kubelet"`
	// Assay is the version of the operator.
	Assay string `json:"assay"`
	// PodChanges lists what the cluster changed in the pods of the run after the manager wrote them.
	PodChanges []PodChange `json:"podChanges,omitempty"`
	// ClockStepMicroseconds is by how much the wall clock of the manager's host was set during the
	// run, or that host slept; 0 if neither happened.
	ClockStepMicroseconds int64 `json:"clockStepMicroseconds,omitempty"`
}

// Configuration is a user's own configuration of a server.
type Configuration struct {
	// Replaced reports whether one of its files replaced the one that Assay renders.
	Replaced bool `json:"replaced,omitempty"`
	// Files are the names of its files.
	Files []string `json:"files"`
	// Fields are those of the spec whose settings the files have, if they don't replace the rendered one.
	Fields []string `json:"fields,omitempty"`
}

// PodChange is something that pods of a run had otherwise than the manager wrote it: an admission webhook or policy changed it.
type PodChange struct {
	// Role is Target or Client, Pods the number of pods with the change.
	Role string `json:"role"`
	Pods int64  `json:"pods"`
	// Field is the path in the spec of the pod. Was is its value as written, empty for something added, and Is that of the pod, empty
	// for something removed. Values that may be secret are replaced by the word present.
	Field string `json:"field"`
	Was   string `json:"was,omitempty"`
	Is    string `json:"is,omitempty"`
	// Effect is what the change has to do with the measurement: one of the constants below, or empty for nothing.
	Effect string `json:"effect,omitempty"`
}

// The values of PodChange.Role and PodChange.Effect.
const (
	RoleTarget = "Target"
	RoleClient = "Client"

	// EffectContainer: a container that ran during the measurement, or through which requests passed.
	EffectContainer = "Container"
	// EffectResources: other resources, or another QoS class, than the run declares.
	EffectResources = "Resources"
	// EffectProcess: a process of the run's that ran in another way than the run declares.
	EffectProcess = "Process"
)

// Client holds the metrics of one client.
type Client struct {
	Index int    `json:"index"`
	Node  string `json:"node"`
	// CPUs lists the CPUs that the client may run on, empty if they are unknown.
	CPUs string `json:"cpus,omitempty"`
	Totals
	// Summaries replace Latencies if those were dropped to keep the stored result
	// small; all nil otherwise.
	Summaries Summaries `json:"summaries,omitzero"`
	// StartSkewMicroseconds is the time from the common start time to the start of its
	// first request, by the manager's clock.
	StartSkewMicroseconds int64 `json:"startSkewMicroseconds"`
	// ClockErrorMicroseconds bounds the error of that, from the measurement of the clock offset.
	ClockErrorMicroseconds int64 `json:"clockErrorMicroseconds"`
}

// Totals are a client's final metrics of its measurement.
type Totals struct {
	Measure
	// Causes say why requests failed, by kind of error. A result has them merged instead.
	Causes Causes `json:"causes,omitzero"`
	// Statuses counts responses by status, ContentEncodings those with an encoded body. ByRequest are the metrics of each request of
	// a load with several. A result has all of them merged instead.
	Statuses         Statuses         `json:"statuses,omitempty"`
	ContentEncodings Encodings        `json:"contentEncodings,omitempty"`
	ByRequest        []RequestMetrics `json:"byRequest,omitempty"`
	// Arrivals shows how well an open load kept its rate; nil for other loads.
	Arrivals *Arrivals `json:"arrivals,omitempty"`
	// StartedAt and EndedAt are the start of the first request and the end of the last:
	// microseconds since the Unix epoch by the manager's clock. Under open load
	// StartedAt is the start time plus the delay of the first request.
	StartedAt int64 `json:"startedAtMicroseconds"`
	EndedAt   int64 `json:"endedAtMicroseconds"`
	// Usage is the client's usage from StartedAt to EndedAt.
	Usage ClientUsage `json:"usage"`
	// NodeUsage shows what happened around the client meanwhile; nil if that is unknown.
	NodeUsage *NodeUsage `json:"nodeUsage,omitempty"`
	// Warmup has the counts of the warm-up; nil without one.
	Warmup *Counts `json:"warmup,omitempty"`
	// WarmupMicroseconds is the time from the start of the first request of the warm-up
	// to the end of the last.
	WarmupMicroseconds int64 `json:"warmupMicroseconds,omitempty"`
	// Tool has what a load generator other than Assay's own printed; nil for others.
	Tool *Tool `json:"tool,omitempty"`
	// Levels are the client's metrics of each level, Steps those of each step between levels. A
	// result has them merged instead.
	Levels []LevelTotals `json:"levels,omitempty"`
	Steps  []LevelTotals `json:"steps,omitempty"`
	// Script has the client's metrics of a k6 script; nil for other loads. A result has
	// them merged instead.
	Script *ScriptTotals `json:"script,omitempty"`
}

// DurationMicroseconds returns the time from the first request's start to the last one's end.
func (t *Totals) DurationMicroseconds() int64 { return t.EndedAt - t.StartedAt }

// Severity says what a finding means for the result.
type Severity string

const (
	// Invalidates means that the result cannot be trusted.
	Invalidates Severity = "Invalidates"
	// Warns means that the result is valid with a reservation.
	Warns Severity = "Warns"
	// Accepted means that the run declared the finding as expected. It says nothing against the result.
	Accepted Severity = "Accepted"
)

// Finding is a reason to distrust a result.
type Finding struct {
	// Reason is a CamelCase word, such as ClientSaturated.
	Reason   string   `json:"reason"`
	Severity Severity `json:"severity"`
	// Message says what happened, the evidence, and what to do.
	Message string `json:"message"`
	// Seconds is the part of the measurement in which it happened; nil if it is about all of it.
	Seconds *Span `json:"seconds,omitempty"`
}

// Span is a part of a measurement, in seconds from its start to its end. That from 0 to 0 is the start of the measurement.
type Span struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

// ThresholdOutcome is a declared bound and whether it was met.
type ThresholdOutcome struct {
	// Metric is the metric's name, Bound the bound as in "below 50ms", Actual the
	// value in the same unit, or why there is none.
	Metric string `json:"metric"`
	// Request is the name of the request that the metric is of; empty for all.
	Request string `json:"request,omitempty"`
	Bound   string `json:"bound"`
	Actual  string `json:"actual"`
	Met     bool   `json:"met"`
	// Limit and Measured are bound and value as numbers of a unit: "us", "ms", "s", "%", or none for a rate. Measured is
	// nil if there is no value. With Above, the value must exceed the limit, else stay below.
	Limit    float64  `json:"limit"`
	Measured *float64 `json:"measured,omitempty"`
	Unit     string   `json:"unit,omitempty"`
	Above    bool     `json:"above,omitempty"`
}

// Name returns the metric and, unless it is of all requests, that of which request it is: "LatencyP99 of login".
func (t *ThresholdOutcome) Name() string {
	if t.Request == "" {
		return t.Metric
	}
	return t.Metric + " of " + t.Request
}

// RequestsPerSecond returns the successful requests of all clients divided by the
// time from the first client's start to the last client's end.
func (r *Result) RequestsPerSecond() float64 {
	return perSecond(r.Merged.Succeeded(), r.DurationMicroseconds)
}

// RequestsPerSecond returns the successful requests divided by the time that this client measured.
func (t *Totals) RequestsPerSecond() float64 {
	return perSecond(t.Succeeded(), t.DurationMicroseconds())
}

// StartSkewMicroseconds returns the time between the first client's start and the last one's,
// computed from their distances to the common start time. It is 0 with fewer than two clients.
func (r *Result) StartSkewMicroseconds() int64 {
	if len(r.Clients) == 0 {
		return 0
	}
	least, most := r.Clients[0].StartSkewMicroseconds, r.Clients[0].StartSkewMicroseconds
	for i := range r.Clients {
		skew := r.Clients[i].StartSkewMicroseconds
		least, most = min(least, skew), max(most, skew)
	}
	return most - least
}

// CPUPercent returns the client's mean CPU time in percent of one CPU.
func (t *Totals) CPUPercent() float64 { return ratio(t.Usage.CPU(), t.DurationMicroseconds(), 100) }

// CPUPercentOf returns the client's mean CPU time in percent of a limit in
// thousandths of a CPU; 0 if there is no limit.
func (t *Totals) CPUPercentOf(limitMillis int64) float64 {
	return percentOfLimit(t.CPUPercent(), limitMillis)
}

// Containers returns the containers of the target's pod: the server that clients
// talk to, then those behind it in the order of Environment.Backends, then those
// with a usage that are not in the environment.
func (r *Result) Containers() []Container {
	e := &r.Environment
	all := []Container{{
		Name: ServerContainer, CPULimit: e.TargetCPULimit, CPUs: e.TargetCPUs, CPUExclusivity: e.CPUExclusivity, Cores: e.TargetCores, Usage: r.Server,
	}}
	seen := make(map[string]*Server, len(r.Backends))
	for i := range r.Backends {
		seen[r.Backends[i].Name] = &r.Backends[i].Server
	}
	for _, b := range e.Backends {
		all = append(all, Container{
			Name: b.Name, CPULimit: b.CPULimit, CPUs: b.CPUs, CPUExclusivity: b.CPUExclusivity, Cores: b.Cores, Usage: seen[b.Name],
		})
		delete(seen, b.Name)
	}
	for i := range r.Backends {
		if b := &r.Backends[i]; seen[b.Name] != nil {
			all = append(all, Container{Name: b.Name, Usage: &b.Server})
		}
	}
	return all
}
