package v1alpha1

// Clients are the load-generating pods.
//
// +kubebuilder:validation:XValidation:rule="!has(self.env) || self.env.all(e, !e.name.startsWith('ASSAY_') && !e.name.startsWith('K6_'))",fieldPath=".env",message="env must not have ASSAY_…, which are Assay's own, and K6_…: use script.env"
// +kubebuilder:validation:XValidation:rule="!has(self.env) || self.env.all(e, !(e.name in ['GOMAXPROCS', 'GOMEMLIMIT', 'GOGC', 'GODEBUG']))",fieldPath=".env",message="env must not have GOMAXPROCS, GOMEMLIMIT, GOGC and GODEBUG, which follow from resources: omit them"
// +kubebuilder:validation:XValidation:rule="self.?securityContext.runAsUser.orValue(1) != 0 && self.?securityContext.runAsNonRoot.orValue(true)",fieldPath=".securityContext",message="clients must not run as root: omit runAsUser and runAsNonRoot"
// +kubebuilder:validation:XValidation:rule="!self.?securityContext.allowPrivilegeEscalation.orValue(false)",fieldPath=".securityContext",message="privileges of clients must not grow: omit allowPrivilegeEscalation"
// +kubebuilder:validation:XValidation:rule="[dyn(self.?topologySpreadConstraints), dyn(self.?placement)] == [dyn(oldSelf.?topologySpreadConstraints), dyn(oldSelf.?placement)]",message="topologySpreadConstraints and placement must not change: create a new run"
// +kubebuilder:validation:XValidation:rule="[dyn(self.?replicas), dyn(self.?image)] == [dyn(oldSelf.?replicas), dyn(oldSelf.?image)]",message="replicas and image must not change: create a new run"
// +kubebuilder:validation:XValidation:rule="[self.?tool] == [oldSelf.?tool]",message="tool must not change: create a new run"
type Clients struct {
	PodSettings `json:",inline"`

	// replicas is the number of clients. Each of them does the whole load or, with
	// load.loadIsPer Run, its part of it. Defaults to 1.
	// +default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// resources are the requests and limits of each client. Defaults to
	// one CPU and 512Mi of memory.
	// +kubebuilder:validation:XValidation:rule="[dyn(self.?cpuPinning), dyn(has(self.cpu)), dyn(has(self.memory))] == [dyn(oldSelf.?cpuPinning), dyn(has(oldSelf.cpu)), dyn(has(oldSelf.memory))]",message="must not change: create a new run"
	// +kubebuilder:validation:XValidation:rule="!has(self.cpu) || quantity(string(self.cpu)).compareTo(quantity(string(oldSelf.cpu))) == 0",message="must not change: create a new run"
	// +kubebuilder:validation:XValidation:rule="!has(self.memory) || quantity(string(self.memory)).compareTo(quantity(string(oldSelf.memory))) == 0",message="must not change: create a new run"
	// +default={}
	// +optional
	Resources Resources `json:"resources,omitempty,omitzero"`

	// placement says on which nodes clients run, relative to the target's: Apart on others only, so
	// that a run without another node waits and then fails; Prefer on others if there is room;
	// Together on the target's only. Clients of an external server must have Prefer. Defaults to Prefer.
	// +default="Prefer"
	// +optional
	Placement ClientPlacement `json:"placement,omitempty"`

	// tool is another load generator that the clients run, for comparison with
	// what others measured by it. K6 makes nearly every load. AB and Siege need load.closed with one GET
	// request, without TLS, and have the metrics that they print. If not set, clients are Assay's own.
	// +optional
	Tool *ClientTool `json:"tool,omitempty"`

	// image is a container image with a build of k6 that has Assay's extension and others, as the program
	// /assay-k6. It is for script and for the tool K6. If not set, it is the operator's.
	// +optional
	Image ImageName `json:"image,omitempty"`

	// topologySpreadConstraints say how the run's clients are spread. One with a small maxSkew can
	// outweigh the placement Prefer. Defaults to nodes (kubernetes.io/hostname), if possible, with a
	// maxSkew of 10, which doesn't.
	// +listType=map
	// +listMapKey=topologyKey
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +optional
	TopologySpreadConstraints []TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`
}

// Load specifies the requests of the clients, in one of the shapes closed, open and stages.
//
// +kubebuilder:validation:ExactlyOneOf=closed;open;stages
// +kubebuilder:validation:ExactlyOneOf=requests;requestsFrom
// +kubebuilder:validation:XValidation:rule="!has(self.authentication) || self.authentication.scheme != 'Form' || self.client.cookies == 'Enabled'",fieldPath=".client.cookies",message="client.cookies must be Enabled with the scheme Form: the server recognizes a user by a cookie"
// +kubebuilder:validation:XValidation:rule="!has(self.authentication) || self.authentication.scheme != 'Form' || self.client.protocol != 'HTTP2'",fieldPath=".client.protocol",message="client.protocol must be HTTP1 with the scheme Form: connections log in by HTTP/1.1"
// +kubebuilder:validation:XValidation:rule="self.client.cookies != 'Enabled' || !has(self.requests) || self.requests.all(r, !has(r.headers) || r.headers.all(h, h.name.lowerAscii() != 'cookie'))",fieldPath=".requests",message="requests must not have the header Cookie where client.cookies is Enabled"
// +kubebuilder:validation:XValidation:rule="self.client.protocol != 'HTTP2' || !has(self.requests) || self.requests.all(r, !has(r.headers) || r.headers.all(h, !(h.name.lowerAscii() in ['proxy-connection', 'http2-settings'])))",fieldPath=".requests",message="no Proxy-Connection and HTTP2-Settings"
// +kubebuilder:validation:XValidation:rule="!has(self.client.streams) || [self.?closed.connections, self.?open.maxConnections, self.?stages.maxConnections].all(n, self.client.streams * n.orValue(1) <= 20000)",fieldPath=".client.streams",message="times connections must be at most 20000"
// +kubebuilder:validation:XValidation:rule="!has(self.client.streams) || !has(self.stages) || self.stages.levels.all(l, self.client.streams * l.?connections.orValue(1) <= 20000)",fieldPath=".client.streams",message="client.streams times the connections of a level must be at most 20000"
// +kubebuilder:validation:XValidation:rule="self.?closed.requestCount.orValue(20000) >= self.?closed.connections.orValue(1) * self.client.?streams.orValue(1)",fieldPath=".closed.requestCount",message="requestCount must be at least connections times client.streams: each stream makes a request"
// +kubebuilder:validation:XValidation:rule="[self.?closed.connections, self.?closed.users].all(n, self.?warmup.requestCount.orValue(20000) >= n.orValue(1))",fieldPath=".warmup.requestCount",message="warmup.requestCount must be at least closed.connections or closed.users"
// +kubebuilder:validation:XValidation:rule="!has(self.requests) || self.requests.all(r, !has(r.name) || self.requests.exists_one(s, has(s.name) && s.name == r.name))",fieldPath=".requests",message="requests must not have the same name twice: their metrics are kept by it"
// +kubebuilder:validation:XValidation:rule="!has(self.pages) || has(self.requests)",fieldPath=".pages",message="pages needs requests, the documents of the pages: lines of requestsFrom have no elements"
// +kubebuilder:validation:XValidation:rule="has(self.pages) || !has(self.requests) || !self.requests.exists(r, has(r.elements))",fieldPath=".requests",message="requests must not have elements unless pages is set: set pages to {}"
// +kubebuilder:validation:XValidation:rule="!has(self.pages) || !has(self.open)",fieldPath=".pages",message="pages and users belong together: an arrival rate has no users, so open must not be set with pages"
// +kubebuilder:validation:XValidation:rule="!has(self.closed) || has(self.pages) == has(self.closed.users)",fieldPath=".pages",message="pages and users belong together: closed must have users if and only if pages is set"
// +kubebuilder:validation:XValidation:rule="!has(self.stages) || self.stages.levels.all(l, has(self.pages) == has(l.users))",fieldPath=".pages",message="pages and users belong together: the levels of stages must have users if and only if pages is set"
// +kubebuilder:validation:XValidation:rule="!has(self.pages) || self.pages.connectionsPerUser * self.?closed.users.orValue(1) <= 20000",fieldPath=".pages.connectionsPerUser",message="pages.connectionsPerUser times the users must be at most 20000"
// +kubebuilder:validation:XValidation:rule="!has(self.pages) || !has(self.stages) || self.stages.levels.all(l, self.pages.connectionsPerUser * l.?users.orValue(1) <= 20000)",fieldPath=".pages.connectionsPerUser",message="pages.connectionsPerUser times the users of a level must be at most 20000"
// +kubebuilder:validation:XValidation:rule="!has(self.pages) || self.client.cookies != 'Enabled'",fieldPath=".client.cookies",message="client.cookies must not be Enabled with pages"
// +kubebuilder:validation:XValidation:rule="!has(self.pages) || self.client.protocol != 'HTTP2'",fieldPath=".client.protocol",message="client.protocol must not be HTTP2 with pages"
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

	// stages raises or lowers the load level by level, and keeps the metrics of each level apart.
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
// +kubebuilder:validation:XValidation:rule="!has(self.streams) || (has(self.protocol) && self.protocol == 'HTTP2')",fieldPath=".streams",message="streams is for the protocol HTTP2: in HTTP/1.1 a connection has one request at a time"
// +kubebuilder:validation:XValidation:rule="!has(self.protocol) || self.protocol != 'HTTP2' || !has(self.keepAlive) || self.keepAlive != 'Disabled'",fieldPath=".keepAlive",message="keepAlive must be Enabled with the protocol HTTP2, whose connections are there to be shared"
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

// Threshold bounds a metric: by an upper bound, a lower bound, or both.
//
// +kubebuilder:validation:AtLeastOneOf=below;above
// +kubebuilder:validation:XValidation:rule="!self.metric.startsWith('Latency') || [self.?below.orValue('1s'), self.?above.orValue('1s')].all(b, b.matches('^[0-9]{1,9}([.][0-9]{1,6})?(us|ms|s)$'))",message="the bound of a latency must be a number with one of the units us, ms and s, such as 50ms"
// +kubebuilder:validation:XValidation:rule="!(self.metric in ['ErrorRate', 'TargetCPU', 'ThroughputGain']) || [self.?below.orValue('1%'), self.?above.orValue('1%')].all(b, b.matches('^(100([.]0+)?|[0-9]{1,2}([.][0-9]+)?)%$'))",message="the bound must be a percentage from 0% to 100%, such as 0.1%"
// +kubebuilder:validation:XValidation:rule="self.metric != 'RequestsPerSecond' || [self.?below.orValue('1'), self.?above.orValue('1')].all(b, b.matches('^[0-9]{1,12}([.][0-9]{1,6})?$'))",message="the bound of RequestsPerSecond must be a plain number, such as 1500"
// +kubebuilder:validation:XValidation:rule="self.metric != 'FailedRequests' || [self.?below.orValue('1'), self.?above.orValue('1')].all(b, b.matches('^[0-9]{1,12}$'))",message="the bound of FailedRequests must be a whole number, such as 0"
// +kubebuilder:validation:XValidation:rule="!has(self.below) || self.below.matches('[1-9]')",fieldPath=".below",message="below must be greater than zero: nothing is below it"
// +kubebuilder:validation:XValidation:rule="!(self.metric in ['ErrorRate', 'TargetCPU']) || !has(self.above) || !self.above.matches('^100([.]0+)?%$')",fieldPath=".above",message="above must be less than 100%: nothing is above it"
// +kubebuilder:validation:XValidation:rule="!has(self.below) || !has(self.above) || ![self.below, self.above].all(b, b.matches('^[0-9.]+(us|ms|s)$')) || duration(self.below) > duration(self.above)",fieldPath=".below",message="below must be greater than above: nothing is between them"
// +kubebuilder:validation:XValidation:rule="!has(self.below) || !has(self.above) || ![self.below, self.above].all(b, b.matches('^[0-9.]+%?$')) || double(self.below.replace('%', \"\")) > double(self.above.replace('%', \"\"))",fieldPath=".below",message="below must be greater than above"
type Threshold struct {
	// metric is one of the latencies (of requests' total times), ErrorRate or RequestsPerSecond, over all clients;
	// in stopAt also TargetCPU (of the limit), FailedRequests (since the start) and ThroughputGain (by 20% more load).
	// +required
	Metric ThresholdMetric `json:"metric,omitempty"`

	// request is the name of one of load.requests, whose metric it is. If not set, the metric is of all requests.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Request string `json:"request,omitempty"`

	// below is the bound that the metric must stay under: a duration such as 50ms, a percentage
	// such as 1% or a number. If not set, there is no upper bound.
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

// ThresholdMetric is a metric of a result.
//
// +kubebuilder:validation:MaxLength=32
// +kubebuilder:validation:Enum=LatencyMean;LatencyP50;LatencyP90;LatencyP95;LatencyP99;LatencyP999;LatencyP9999;LatencyMax;ErrorRate;RequestsPerSecond;TargetCPU;FailedRequests;ThroughputGain
type ThresholdMetric string

// The metrics that a threshold can bound. The last three are for stopAt.
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
	MetricTargetCPU         ThresholdMetric = "TargetCPU"
	MetricFailedRequests    ThresholdMetric = "FailedRequests"
	MetricThroughputGain    ThresholdMetric = "ThroughputGain"
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
