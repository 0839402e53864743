package v1alpha1

// Clients are the load-generating pods.
//
// +kubebuilder:validation:MinProperties=1
type Clients struct {
	// replicas is the number of clients. Each of them does the whole load or, with
	// load.loadIsPer Run, its part of it. Defaults to 1.
	// +default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// resources are the requests and limits of each client. Defaults to
	// one CPU and 512Mi of memory.
	// +default={"cpu": "1", "memory": "512Mi"}
	// +optional
	Resources Resources `json:"resources,omitempty,omitzero"`

	// placement says on which nodes clients run, relative to the target's: Apart on others only, so
	// that a run without another node waits and then fails; Prefer on others if there is room;
	// Together on the target's only. Clients of an external server must have Prefer. Defaults to Prefer.
	// +default="Prefer"
	// +optional
	Placement ClientPlacement `json:"placement,omitempty"`

	// tool is another load generator that the clients run instead of Assay's own, for comparison with
	// what others measured by it. Its figures are those that it prints, which can't be merged exactly.
	// It needs load.closed with one GET request, without TLS. If not set, clients are Assay's own.
	// +optional
	Tool *ClientTool `json:"tool,omitempty"`

	// pod adds to the clients' pods: node selector, tolerations and topology spread constraints.
	// +optional
	Pod *ClientPodAdditions `json:"pod,omitempty"`
}

// Load specifies the requests of the clients, in one of the shapes closed, open and stages.
//
// +kubebuilder:validation:ExactlyOneOf=closed;open;stages
// +kubebuilder:validation:ExactlyOneOf=requests;requestsFrom
// +kubebuilder:validation:XValidation:rule="!has(self.authentication) || self.authentication.scheme != 'Form' || self.client.cookies == 'Enabled'",reason="FieldValueInvalid",fieldPath=".client.cookies",message="client.cookies must be Enabled with the scheme Form: the server recognizes a user by a cookie"
// +kubebuilder:validation:XValidation:rule="self.client.cookies != 'Enabled' || !has(self.requests) || self.requests.all(r, !has(r.headers) || r.headers.all(h, h.name.lowerAscii() != 'cookie'))",reason="FieldValueInvalid",fieldPath=".requests",message="requests must not have the header Cookie where client.cookies is Enabled: the client sets it"
// +kubebuilder:validation:XValidation:rule="!has(self.client.streams) || [self.?closed.connections, self.?open.maxConnections, self.?stages.maxConnections].all(n, n.orValue(0) * self.client.streams <= 20000) && (!has(self.stages) || self.stages.levels.all(l, l.?connections.orValue(0) * self.client.streams <= 20000))",reason="FieldValueInvalid",fieldPath=".client.streams",message="client.streams times the connections (at a rate, maxConnections) must be at most 20000"
// +kubebuilder:validation:XValidation:rule="!has(self.client.streams) || !has(self.closed) || !has(self.closed.requestCount) || self.closed.requestCount >= self.closed.?connections.orValue(1) * self.client.streams",reason="FieldValueInvalid",fieldPath=".closed.requestCount",message="closed.requestCount must be at least connections times client.streams: each stream makes a request"
// +kubebuilder:validation:XValidation:rule="!has(self.authentication) || self.authentication.scheme != 'Form' || !has(self.client.protocol) || self.client.protocol != 'HTTP2'",reason="FieldValueInvalid",fieldPath=".client.protocol",message="client.protocol must be HTTP1 with the scheme Form: connections log in by HTTP/1.1"
// +kubebuilder:validation:XValidation:rule="self.client.protocol != 'HTTP2' || !has(self.requests) || self.requests.all(r, !has(r.headers) || r.headers.all(h, !(h.name.lowerAscii() in ['proxy-connection', 'http2-settings'])))",reason="FieldValueInvalid",fieldPath=".requests",message="requests must not have the headers Proxy-Connection and HTTP2-Settings with the protocol HTTP2: they are of one HTTP/1.1 connection"
// +kubebuilder:validation:XValidation:rule="!has(self.warmup) || !has(self.warmup.requestCount) || !has(self.closed) || self.warmup.requestCount >= self.closed.?connections.orValue(self.closed.?users.orValue(1))",reason="FieldValueInvalid",fieldPath=".warmup.requestCount",message="warmup.requestCount must be at least closed.connections, or users: each makes a request"
// +kubebuilder:validation:XValidation:rule="!has(self.pages) || has(self.requests)",reason="FieldValueInvalid",fieldPath=".pages",message="pages needs requests, the documents of the pages: lines of requestsFrom have no elements"
// +kubebuilder:validation:XValidation:rule="has(self.pages) || !has(self.requests) || !self.requests.exists(r, has(r.elements))",reason="FieldValueInvalid",fieldPath=".requests",message="requests must not have elements unless pages is set: set pages to {}"
// +kubebuilder:validation:XValidation:rule="has(self.pages) ? !has(self.open) && (!has(self.closed) || has(self.closed.users)) && (!has(self.stages) || self.stages.levels.all(l, has(l.users))) : (!has(self.closed) || !has(self.closed.users)) && (!has(self.stages) || !self.stages.levels.exists(l, has(l.users)))",reason="FieldValueInvalid",fieldPath=".pages",message="pages and users belong together: closed or the levels of stages must have users if and only if pages is set"
// +kubebuilder:validation:XValidation:rule="!has(self.pages) || self.pages.?connectionsPerUser.orValue(6) * self.?closed.users.orValue(0) <= 20000 && (!has(self.stages) || self.stages.levels.all(l, l.?users.orValue(0) * self.pages.?connectionsPerUser.orValue(6) <= 20000))",reason="FieldValueInvalid",fieldPath=".pages.connectionsPerUser",message="pages.connectionsPerUser times the users must be at most 20000"
// +kubebuilder:validation:XValidation:rule="!has(self.pages) || self.client.cookies != 'Enabled' && (!has(self.client.protocol) || self.client.protocol != 'HTTP2')",reason="FieldValueInvalid",fieldPath=".client",message="client must not have cookies Enabled or the protocol HTTP2 with pages"
// +kubebuilder:validation:MinProperties=1
type Load struct {
	// requests are the requests that clients send, in the order given by order.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=128
	// +optional
	Requests []Request `json:"requests,omitempty"`

	// requestsFrom is the source of a list of requests, instead of requests: for more of them than
	// fit here.
	// +optional
	RequestsFrom *RequestsSource `json:"requestsFrom,omitempty"`

	// order says which of the requests comes next: Random draws each in proportion to the weights,
	// from a fixed seed; with Sequential every connection repeats the list. Defaults to Random.
	// +default="Random"
	// +optional
	Order RequestOrder `json:"order,omitempty"`

	// pages makes users load pages as browsers do: first the document, one of requests, then its
	// elements over the user's connections. closed and the levels of stages then have users, and count
	// pages. If not set, connections make single requests.
	// +optional
	Pages *Pages `json:"pages,omitempty"`

	// authentication specifies the credentials of each request: a name and a password, or a token.
	// If not set, requests have none.
	// +optional
	Authentication *Authentication `json:"authentication,omitempty"`

	// client configures how each client sends requests: over which connections, by which protocol, with which timeout.
	// +default={"keepAlive": "Enabled"}
	// +optional
	Client LoadClient `json:"client,omitempty,omitzero"`

	// loadIsPer says whether the numbers of connections and requests and the rates are those of each
	// client (Client) or of the run, split exactly over the clients (Run). Defaults to Client.
	// +default="Client"
	// +optional
	LoadIsPer LoadIsPer `json:"loadIsPer,omitempty"`

	// closed keeps a fixed number of connections busy (a closed model): each sends its next request
	// when the response to the last has been read. Latencies are service times. It must have
	// exactly one of requestCount and durationSeconds.
	// +optional
	Closed *ClosedLoad `json:"closed,omitempty"`

	// open makes requests at an arrival rate, independent of responses (an open model). Latencies
	// are from a request's intended start time. It must have exactly one of requestCount and
	// durationSeconds.
	// +optional
	Open *OpenLoad `json:"open,omitempty"`

	// stages raises or lowers the load level by level, and keeps the figures of each level apart.
	// +optional
	Stages *StagesLoad `json:"stages,omitempty"`

	// warmup is load of the same kind sent before the measurement, with exactly
	// one of requestCount, durationSeconds and steady: all connections at once or, at a
	// rate, the one that open comes to; of stages the first level. Its requests never
	// enter the result. If not set, there is no warm-up.
	// +optional
	Warmup *Warmup `json:"warmup,omitempty"`
}

// Pages makes users load pages.
type Pages struct {
	// connectionsPerUser is the number of connections of each user. Defaults to 6, that of today's browsers
	// with HTTP/1.1.
	// +default=6
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=32
	// +optional
	ConnectionsPerUser *int32 `json:"connectionsPerUser,omitempty"`
}

// LoadIsPer says whether the numbers of a load are those of each client or of the run.
//
// +kubebuilder:validation:Enum=Client;Run
type LoadIsPer string

// The values of LoadIsPer.
const (
	LoadPerClient LoadIsPer = "Client"
	LoadPerRun    LoadIsPer = "Run"
)

// LoadClient configures how a client sends the requests of a load.
//
// +kubebuilder:validation:MinProperties=1
// +kubebuilder:validation:XValidation:rule="!has(self.streams) || (has(self.protocol) && self.protocol == 'HTTP2')",reason="FieldValueInvalid",fieldPath=".streams",message="streams is for the protocol HTTP2: in HTTP/1.1 a connection has one request at a time"
// +kubebuilder:validation:XValidation:rule="!has(self.protocol) || self.protocol != 'HTTP2' || !has(self.keepAlive) || self.keepAlive != 'Disabled'",reason="FieldValueInvalid",fieldPath=".keepAlive",message="keepAlive must be Enabled with the protocol HTTP2, whose connections are there to be shared"
type LoadClient struct {
	// keepAlive says whether connections are reused (Enabled) or closed after one request
	// (Disabled). Defaults to Enabled.
	// +default="Enabled"
	// +optional
	KeepAlive Switch `json:"keepAlive,omitempty"`

	// protocol is the clients' protocol: HTTP1, that is HTTP/1.1, or HTTP2; with TLS
	// negotiated by ALPN, without TLS at once (prior knowledge, h2c). A server that
	// doesn't speak HTTP2 then gets no load. Defaults to HTTP1.
	// +default="HTTP1"
	// +optional
	Protocol HTTPProtocol `json:"protocol,omitempty"`

	// streams is the number of concurrent requests on each connection, with the
	// protocol HTTP2. A server that allows fewer gets no load. Defaults to 1.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	// +optional
	Streams *int32 `json:"streams,omitempty"`

	// timeoutSeconds is the timeout of a request, from the start of its connection or, on an open
	// connection, of its sending, to the last byte of its response, in seconds. Past it, it counts
	// as an error of the kind timeout. Defaults to 30.
	// +default=30
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	// +optional
	TimeoutSeconds *int32 `json:"timeoutSeconds,omitempty"`

	// cookies says whether the cookies that a connection receives are sent back on it and on those
	// that replace it, as by one user each (Enabled), or ignored (Disabled). Defaults to Disabled.
	// +default="Disabled"
	// +optional
	Cookies Switch `json:"cookies,omitempty"`
}

// Warmup is load sent before the measurement.
//
// +kubebuilder:validation:ExactlyOneOf=requestCount;durationSeconds;steady
type Warmup struct {
	// requestCount is the total number of requests that each client makes, at least as many as
	// closed.connections. With loadIsPer Run, all clients make as many together.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000000
	// +optional
	RequestCount *int64 `json:"requestCount,omitempty"`

	// durationSeconds is the time in which requests are started, in seconds.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	// +optional
	DurationSeconds *int32 `json:"durationSeconds,omitempty"`

	// steady lets the warm-up last until the throughput and the latency of successive windows of
	// time, over all clients, differ by little.
	// +optional
	Steady *SteadyState `json:"steady,omitempty"`
}

// Threshold bounds a metric of the result: by an upper bound, a lower bound, or both.
//
// +kubebuilder:validation:AtLeastOneOf=below;above
// +kubebuilder:validation:XValidation:rule="!self.metric.startsWith('Latency') || (!has(self.below) || self.below.matches('^[0-9]{1,9}([.][0-9]{1,6})?(us|ms|s)$')) && (!has(self.above) || self.above.matches('^[0-9]{1,9}([.][0-9]{1,6})?(us|ms|s)$'))",message="the bound of a latency must be a number with one of the units us, ms and s, such as 50ms"
// +kubebuilder:validation:XValidation:rule="self.metric != 'ErrorRate' || (!has(self.below) || self.below.matches('^(100([.]0{1,6})?|[0-9]{1,2}([.][0-9]{1,6})?)%$')) && (!has(self.above) || self.above.matches('^(100([.]0{1,6})?|[0-9]{1,2}([.][0-9]{1,6})?)%$'))",message="the bound of ErrorRate must be a percentage from 0% to 100%, such as 1% or 0.1%"
// +kubebuilder:validation:XValidation:rule="self.metric != 'RequestsPerSecond' || (!has(self.below) || self.below.matches('^[0-9]{1,12}([.][0-9]{1,6})?$')) && (!has(self.above) || self.above.matches('^[0-9]{1,12}([.][0-9]{1,6})?$'))",message="the bound of RequestsPerSecond must be a plain number, such as 1500"
// +kubebuilder:validation:XValidation:rule="!has(self.below) || self.below.matches('[1-9]')",reason="FieldValueInvalid",fieldPath=".below",message="below must be greater than zero: no figure is below it"
// +kubebuilder:validation:XValidation:rule="self.metric != 'ErrorRate' || !has(self.above) || !self.above.matches('^100([.]0+)?%$')",reason="FieldValueInvalid",fieldPath=".above",message="above must be less than 100% for ErrorRate: no figure is above it"
// +kubebuilder:validation:XValidation:rule="!has(self.below) || !has(self.above) || ![self.below, self.above].all(b, b.matches('^[0-9]{1,12}([.][0-9]{1,6})?(us|ms|s|%)?$')) || double(self.below.replace('us', \"\").replace('ms', \"\").replace('s', \"\").replace('%', \"\")) * (self.below.endsWith('us') ? 1.0 : self.below.endsWith('ms') ? 1000.0 : self.below.endsWith('s') ? 1000000.0 : 1.0) > double(self.above.replace('us', \"\").replace('ms', \"\").replace('s', \"\").replace('%', \"\")) * (self.above.endsWith('us') ? 1.0 : self.above.endsWith('ms') ? 1000.0 : self.above.endsWith('s') ? 1000000.0 : 1.0)",reason="FieldValueInvalid",fieldPath=".below",message="below must be greater than above: no figure is between them"
type Threshold struct {
	// metric is the bounded metric: LatencyMean, LatencyP50, LatencyP90, LatencyP95, LatencyP99,
	// LatencyP999, LatencyP9999, LatencyMax (of the total time of a request, over all clients),
	// ErrorRate or RequestsPerSecond (of all clients together).
	// +required
	Metric ThresholdMetric `json:"metric,omitempty"`

	// below is the bound that the metric must stay under: a duration such as 50ms, a percentage
	// such as 1%, or a number, as the metric has it. If not set, there is no upper bound.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=24
	// +optional
	Below string `json:"below,omitempty"`

	// above is the bound that the metric must exceed, in the same forms. If not set, there is no
	// lower bound.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=24
	// +optional
	Above string `json:"above,omitempty"`
}

// ThresholdMetric is a figure of a result.
//
// +kubebuilder:validation:Enum=LatencyMean;LatencyP50;LatencyP90;LatencyP95;LatencyP99;LatencyP999;LatencyP9999;LatencyMax;ErrorRate;RequestsPerSecond
type ThresholdMetric string

// The figures that a threshold can bound.
const (
	MetricLatencyMean       ThresholdMetric = "LatencyMean"
	MetricLatencyP50        ThresholdMetric = "LatencyP50"
	MetricLatencyP90        ThresholdMetric = "LatencyP90"
	MetricLatencyP95        ThresholdMetric = "LatencyP95"
	MetricLatencyP99        ThresholdMetric = "LatencyP99"
	MetricLatencyP999       ThresholdMetric = "LatencyP999"
	MetricLatencyP9999      ThresholdMetric = "LatencyP9999"
	MetricLatencyMax        ThresholdMetric = "LatencyMax"
	MetricErrorRate         ThresholdMetric = "ErrorRate"
	MetricRequestsPerSecond ThresholdMetric = "RequestsPerSecond"
)

// HTTPProtocol is a version of HTTP.
//
// +kubebuilder:validation:Enum=HTTP1;HTTP2
type HTTPProtocol string

// The values of HTTPProtocol.
const (
	HTTP1 HTTPProtocol = "HTTP1"
	HTTP2 HTTPProtocol = "HTTP2"
)
