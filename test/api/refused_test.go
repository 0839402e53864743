package api

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A refusal is a run that must not get in. Its patch is merged into base; want
// are parts of the message: the path of the field, and what to do instead.
type refusal struct {
	name  string
	patch string
	want  []string
	// rawOnly: Go types leave the bad value out, or can't hold it.
	rawOnly bool
}

// longName has 53 characters.
const longName = "a-name-that-is-longer-than-a-run-may-have-as-its-name"

var refusals = []refusal{
	// metadata
	{name: "name too long", patch: `metadata: {name: ` + longName + `}`,
		want: []string{"metadata.name", "at most 52 characters"}},
	{name: "name with a dot", patch: `metadata: {name: tomcat-9.0}`,
		want: []string{"metadata.name", "lowercase letters, digits and '-' only"}},

	// load: its shape
	{name: "no load", patch: `spec: {load: null}`,
		want: []string{"spec", "exactly one of the fields in [load script]"}},
	{name: "no load shape", patch: `spec: {load: {closed: null}}`,
		want: []string{"spec.load", "exactly one of the fields in [closed open stages]"}},
	{name: "unknown load shape beside a known one", patch: `spec: {load: {burst: {connections: 2}}}`,
		want: []string{"unknown field", "spec.load.burst"}, rawOnly: true},
	{name: "unknown load shape alone", patch: `spec: {load: {closed: null, burst: {connections: 2}}}`,
		want: []string{"unknown field", "spec.load.burst"}, rawOnly: true},
	{name: "closed with both amounts", patch: `spec: {load: {closed: {durationSeconds: 10}}}`,
		want: []string{"spec.load.closed", "exactly one of the fields in [requestCount durationSeconds]"}},
	{name: "closed with neither amount", patch: `spec: {load: {closed: {requestCount: null}}}`,
		want: []string{"spec.load.closed", "exactly one of the fields in [requestCount durationSeconds]"}},
	{name: "fewer requests than connections", patch: `spec: {load: {closed: {requestCount: 24}}}`,
		want: []string{"spec.load.closed.requestCount", "at least connections"}},
	{name: "no connections", patch: `spec: {load: {closed: {connections: null}}}`,
		want: []string{"spec.load.closed", "exactly one of the fields in [connections users]"}},
	{name: "zero connections", patch: `spec: {load: {closed: {connections: 0}}}`,
		want: []string{"spec.load.closed.connections", "greater than or equal to 1"}, rawOnly: true},
	{name: "negative connections", patch: `spec: {load: {closed: {connections: -25}}}`,
		want: []string{"spec.load.closed.connections", "greater than or equal to 1"}},
	{name: "too many connections", patch: `spec: {load: {closed: {connections: 20001}}}`,
		want: []string{"spec.load.closed.connections", "less than or equal to 20000"}},
	{name: "connections as text", patch: `spec: {load: {closed: {connections: "25"}}}`,
		want: []string{"spec.load.closed.connections", "must be of type integer"}, rawOnly: true},
	{name: "zero requests", patch: `spec: {load: {closed: {requestCount: 0}}}`,
		want: []string{"spec.load.closed.requestCount", "greater than or equal to 1"}},
	{name: "negative requests", patch: `spec: {load: {closed: {requestCount: -1}}}`,
		want: []string{"spec.load.closed.requestCount", "greater than or equal to 1"}},
	{name: "zero duration", patch: `spec: {load: {closed: {requestCount: null, durationSeconds: 0}}}`,
		want: []string{"spec.load.closed.durationSeconds", "greater than or equal to 1"}},
	{name: "negative duration", patch: `spec: {load: {closed: {requestCount: null, durationSeconds: -10}}}`,
		want: []string{"spec.load.closed.durationSeconds", "greater than or equal to 1"}},
	{name: "fractional duration", patch: `spec: {load: {closed: {requestCount: null, durationSeconds: 1.5}}}`,
		want: []string{"spec.load.closed.durationSeconds", "must be of type integer"}, rawOnly: true},

	// load: requests and connection
	{name: "no requests to make", patch: `spec: {load: {requests: null}}`,
		want: []string{"spec.load", "exactly one of the fields in [requests requestsFrom]"}},
	{name: "empty list of requests", patch: `spec: {load: {requests: []}}`,
		want: []string{"spec.load.requests", "at least 1 item"}, rawOnly: true},
	{name: "request without a path", patch: `spec: {load: {requests: [{weight: 1}]}}`,
		want: []string{"spec.load.requests[0].path", "Required value"}},
	{name: "request path without a slash", patch: `spec: {load: {requests: [{path: index.html}]}}`,
		want: []string{"spec.load.requests[0].path", "must begin with a slash"}},
	{name: "request path that is a URL", patch: `spec: {load: {requests: [{path: "http://target:8080/"}]}}`,
		want: []string{"spec.load.requests[0].path", "must begin with a slash"}},
	{name: "request path with a space", patch: `spec: {load: {requests: [{path: "/a b"}]}}`,
		want: []string{"spec.load.requests[0].path", "percent-encode", "%20"}},
	{name: "request path with a line break", patch: `spec: {load: {requests: [{path: "/a\r\nHost: b"}]}}`,
		want: []string{"spec.load.requests[0].path", "percent-encode"}},
	{name: "request path with a fragment", patch: `spec: {load: {requests: [{path: "/a#b"}]}}`,
		want: []string{"spec.load.requests[0].path", "without a fragment"}},
	{name: "request path with half an escape", patch: `spec: {load: {requests: [{path: "/a%2"}]}}`,
		want: []string{"spec.load.requests[0].path", "percent-encode"}},
	{name: "request path not in ASCII", patch: `spec: {load: {requests: [{path: "/straße"}]}}`,
		want: []string{"spec.load.requests[0].path", "percent-encode"}},
	{name: "request path too long", patch: `spec: {load: {requests: [{path: /` + strings.Repeat("a", 2048) + `}]}}`,
		want: []string{"spec.load.requests[0].path", "2048"}},
	{name: "zero weight", patch: `spec: {load: {requests: [{path: /, weight: 0}]}}`,
		want: []string{"spec.load.requests[0].weight", "greater than or equal to 1"}},
	{name: "negative weight", patch: `spec: {load: {requests: [{path: /, weight: -1}]}}`,
		want: []string{"spec.load.requests[0].weight", "greater than or equal to 1"}},
	{name: "unknown keepAlive", patch: `spec: {load: {client: {keepAlive: "On"}}}`,
		want: []string{"spec.load.client.keepAlive", `"Enabled", "Disabled"`}},
	{name: "keepAlive as a boolean", patch: `spec: {load: {client: {keepAlive: true}}}`,
		want: []string{"spec.load.client.keepAlive", "must be of type string"}, rawOnly: true},
	{name: "zero timeout", patch: `spec: {load: {client: {timeoutSeconds: 0}}}`,
		want: []string{"spec.load.client.timeoutSeconds", "greater than or equal to 1"}},
	{name: "negative timeout", patch: `spec: {load: {client: {timeoutSeconds: -2}}}`,
		want: []string{"spec.load.client.timeoutSeconds", "greater than or equal to 1"}},

	// warmup
	{name: "warmup with both amounts", patch: `spec: {load: {warmup: {durationSeconds: 10}}}`,
		want: []string{"spec.load.warmup", "exactly one of the fields in [requestCount durationSeconds steady]"}},
	{name: "warmup with neither amount", patch: `spec: {load: {warmup: {requestCount: null}}}`,
		want: []string{"spec.load.warmup", "exactly one of the fields in [requestCount durationSeconds steady]"}},
	{name: "zero warmup", patch: `spec: {load: {warmup: {requestCount: 0}}}`,
		want: []string{"spec.load.warmup.requestCount", "greater than or equal to 1"}},
	{name: "negative warmup", patch: `spec: {load: {warmup: {requestCount: -20000}}}`,
		want: []string{"spec.load.warmup.requestCount", "greater than or equal to 1"}},
	{name: "zero duration of the warmup", patch: `spec: {load: {warmup: {requestCount: null, durationSeconds: 0}}}`,
		want: []string{"spec.load.warmup.durationSeconds", "greater than or equal to 1"}},
	{name: "warmup with fewer requests than connections", patch: `spec: {load: {warmup: {requestCount: 24}}}`,
		want: []string{"spec.load.warmup.requestCount", "at least closed.connections"}},

	// target
	{name: "no target", patch: `spec: {target: null}`,
		want: []string{"spec.target", "Required value"}},
	{name: "no image", patch: `spec: {target: {image: null}}`,
		want: []string{"spec.target.image", "must be set, unless the server is external"}},
	{name: "empty image", patch: `spec: {target: {image: ""}}`,
		want: []string{"spec.target.image", "must be the name of a container image"}, rawOnly: true},
	{name: "image with a space", patch: `spec: {target: {image: "tomcat: 9.0"}}`,
		want: []string{"spec.target.image", "name of a container image", "without spaces"}},
	{name: "unknown pull policy", patch: `spec: {target: {imagePullPolicy: Sometimes}}`,
		want: []string{"spec.target.imagePullPolicy", `"Always", "IfNotPresent", "Never"`}},
	{name: "pull secret without a name", patch: `spec: {target: {imagePullSecrets: [{}]}}`,
		want: []string{"spec.target.imagePullSecrets[0].name", "Required value"}},
	{name: "pull secret that can't be", patch: `spec: {target: {imagePullSecrets: [{name: A_b}]}}`,
		want: []string{"spec.target.imagePullSecrets[0].name", "must be a name of lowercase letters"}},
	{name: "the same pull secret twice", patch: `spec: {target: {imagePullSecrets: [{name: a}, {name: a}]}}`,
		want: []string{"spec.target.imagePullSecrets[1]", "Duplicate value"}},
	{name: "zero time to become ready", patch: `spec: {target: {readiness: {timeoutSeconds: 0}}}`,
		want: []string{"spec.target.readiness.timeoutSeconds", "greater than or equal to 1"}},
	{name: "readiness port without a path", patch: `spec: {target: {readiness: {path: null, port: 8081}}}`,
		want: []string{"spec.target.readiness.path", "must be set with port"}},
	{name: "readiness port that can't be", patch: `spec: {target: {readiness: {port: 65536}}}`,
		want: []string{"spec.target.readiness.port", "less than or equal to 65535"}},
	{name: "readiness host that can't be", patch: `spec: {target: {readiness: {host: "a b"}}}`,
		want: []string{"spec.target.readiness.host"}},
	{name: "readiness header twice", patch: `spec: {target: {readiness: {headers: [{name: a, value: b}, {name: A, value: c}]}}}`,
		want: []string{"spec.target.readiness.headers", "same name twice"}},
	{name: "readiness header that the client sets", patch: `spec: {target: {readiness: {headers: [{name: Host, value: b}]}}}`,
		want: []string{"spec.target.readiness.headers[0].name", "a header that the client sets"}},
	{name: "readiness path without a slash", patch: `spec: {target: {readiness: {path: healthz}}}`,
		want: []string{"spec.target.readiness.path", "must begin with a slash"}},
	{name: "privileged pod", patch: `spec: {target: {podSecurity: Privileged}}`,
		want: []string{"spec.target.podSecurity", `"Restricted", "Baseline"`}},

	// content
	{name: "empty list of content", patch: `spec: {target: {content: []}}`,
		want: []string{"spec.target.content", "at least 1 item"}, rawOnly: true},
	{name: "content path without a slash", patch: `spec: {target: {content: [{path: index.html, sizeBytes: 1}]}}`,
		want: []string{"spec.target.content[0].path", "must begin with a slash"}},
	{name: "content path that climbs out", patch: `spec: {target: {content: [{path: /../../etc/passwd, sizeBytes: 1}]}}`,
		want: []string{"spec.target.content[0].path", "segments of letters, digits"}},
	{name: "content path with .. inside", patch: `spec: {target: {content: [{path: /js/../a, sizeBytes: 1}]}}`,
		want: []string{"spec.target.content[0].path", "segments of letters, digits"}},
	{name: "content path with an empty segment", patch: `spec: {target: {content: [{path: /js//a, sizeBytes: 1}]}}`,
		want: []string{"spec.target.content[0].path", "segments of letters, digits"}},
	{name: "content path of a folder", patch: `spec: {target: {content: [{path: /js/, sizeBytes: 1}]}}`,
		want: []string{"spec.target.content[0].path", "such as /js/bootstrap.min.js"}},
	{name: "content path too long", patch: `spec: {target: {content: [{path: /` + strings.Repeat("a", 255) + `, sizeBytes: 1}]}}`,
		want: []string{"spec.target.content[0].path", "255"}},
	{name: "content path twice", patch: `spec: {target: {content: [{path: /a, sizeBytes: 1}, {path: /a, sizeBytes: 2}]}}`,
		want: []string{"spec.target.content[1]", "Duplicate value", `"path":"/a"`}},
	{name: "content path both file and folder", patch: `spec: {target: {content: [{path: /a/b, sizeBytes: 1}, {path: /a, sizeBytes: 2}]}}`,
		want: []string{"spec.target.content", "both a file and a directory", "rename one"}},
	{name: "content without a size", patch: `spec: {target: {content: [{path: /a}]}}`,
		want: []string{"spec.target.content[0]", "exactly one of the fields in [sizeBytes configMapKeyRef]"}},
	{name: "content of size zero", patch: `spec: {target: {content: [{path: /a, sizeBytes: 0}]}}`,
		want: []string{"spec.target.content[0].sizeBytes", "greater than or equal to 1"}, rawOnly: true},
	{name: "content of negative size", patch: `spec: {target: {content: [{path: /a, sizeBytes: -1}]}}`,
		want: []string{"spec.target.content[0].sizeBytes", "greater than or equal to 1"}},

	// resources
	{name: "half a CPU of the target pinned", patch: `spec: {target: {resources: {cpu: 1500m, cpuPinning: Required}}}`,
		want: []string{"spec.target.resources.cpu", "must be whole when cpuPinning is Required"}},
	{name: "half a CPU of the target pinned, as a fraction", patch: `spec: {target: {resources: {cpu: "0.5", cpuPinning: Required}}}`,
		want: []string{"spec.target.resources.cpu", "must be whole when cpuPinning is Required"}},
	{name: "part of a CPU of the clients pinned", patch: `spec: {clients: {resources: {cpuPinning: Required}}}`,
		want: []string{"spec.clients.resources.cpu", "must be whole when cpuPinning is Required"}},
	{name: "half a CPU pinned, in micros", patch: `spec: {target: {resources: {cpu: 500.000m, cpuPinning: Required}}}`,
		want: []string{"spec.target.resources.cpu", "must be whole when cpuPinning is Required"}},
	{name: "a billionth more than a CPU pinned", patch: `spec: {target: {resources: {cpu: "1.000000001", cpuPinning: Required}}}`,
		want: []string{"spec.target.resources.cpu", "must be whole when cpuPinning is Required"}},
	{name: "unknown pinning", patch: `spec: {target: {resources: {cpuPinning: Always}}}`,
		want: []string{"spec.target.resources.cpuPinning", `"Required", "Preferred"`}},
	{name: "no CPU", patch: `spec: {target: {resources: {cpu: 0}}}`,
		want: []string{"spec.target.resources.cpu", "at least 10m"}},
	{name: "negative CPU", patch: `spec: {target: {resources: {cpu: "-1"}}}`,
		want: []string{"spec.target.resources.cpu", "at least 10m"}},
	{name: "CPU that isn't an amount", patch: `spec: {target: {resources: {cpu: two}}}`,
		want: []string{"spec.target.resources.cpu", "should match"}, rawOnly: true},
	{name: "CPU as a float", patch: `spec: {target: {resources: {cpu: 0.5}}}`,
		want: []string{"spec.target.resources.cpu", "must be of type", "string"}, rawOnly: true},
	{name: "memory without a unit", patch: `spec: {target: {resources: {memory: 512}}}`,
		want: []string{"spec.target.resources.memory", "at least 16Mi"}},
	{name: "negative memory", patch: `spec: {clients: {resources: {memory: -1Gi}}}`,
		want: []string{"spec.clients.resources.memory", "at least 16Mi"}},

	// servers
	{name: "no server", patch: `spec: {target: {server: null}}`,
		want: []string{"spec.target.server", "Required value"}},
	{name: "none of the servers", patch: `spec: {target: {server: {tomcat: null}}}`,
		want: []string{"spec.target.server", "exactly one of the fields in [tomcat httpd nginx "}},
	{name: "two servers", patch: `spec: {target: {server: {generic: {}}}}`,
		want: []string{"spec.target.server", "exactly one of the fields in [tomcat httpd nginx "}},
	{name: "unknown server", patch: `spec: {target: {server: {tomcat: null, lighttpd: {}}}}`,
		want: []string{"unknown field", "spec.target.server.lighttpd"}, rawOnly: true},
	{name: "unknown protocol", patch: `spec: {target: {server: {tomcat: {connector: {protocol: BIO}}}}}`,
		want: []string{"spec.target.server.tomcat.connector.protocol", `"NIO", "NIO2"`}},
	{name: "privileged port of Tomcat", patch: `spec: {target: {server: {tomcat: {connector: {port: 80}}}}}`,
		want: []string{"spec.target.server.tomcat.connector.port", "greater than or equal to 1024"}},
	{name: "port out of range", patch: `spec: {target: {server: {tomcat: {connector: {port: 65536}}}}}`,
		want: []string{"spec.target.server.tomcat.connector.port", "less than or equal to 65535"}},
	{name: "zero threads", patch: `spec: {target: {server: {tomcat: {connector: {maxThreads: 0}}}}}`,
		want: []string{"spec.target.server.tomcat.connector.maxThreads", "greater than or equal to 1"}},
	{name: "negative accept count", patch: `spec: {target: {server: {tomcat: {connector: {acceptCount: -1}}}}}`,
		want: []string{"spec.target.server.tomcat.connector.acceptCount", "greater than or equal to 1"}},
	{name: "no requests on a connection", patch: `spec: {target: {server: {tomcat: {connector: {keepAlive: {maxRequests: 0}}}}}}`,
		want: []string{"spec.target.server.tomcat.connector.keepAlive.maxRequests", "-1 for no limit"}},
	{name: "fewer than no requests on a connection", patch: `spec: {target: {server: {tomcat: {connector: {keepAlive: {maxRequests: -2}}}}}}`,
		want: []string{"spec.target.server.tomcat.connector.keepAlive.maxRequests", "greater than or equal to -1"}},
	{name: "zero keep-alive timeout", patch: `spec: {target: {server: {tomcat: {connector: {keepAlive: {timeoutMilliseconds: 0}}}}}}`,
		want: []string{"spec.target.server.tomcat.connector.keepAlive.timeoutMilliseconds", "greater than or equal to 1"}},

	// clients
	{name: "zero clients", patch: `spec: {clients: {replicas: 0}}`,
		want: []string{"spec.clients.replicas", "greater than or equal to 1"}},
	{name: "negative clients", patch: `spec: {clients: {replicas: -2}}`,
		want: []string{"spec.clients.replicas", "greater than or equal to 1"}},
	{name: "too many clients", patch: `spec: {clients: {replicas: 1001}}`,
		want: []string{"spec.clients.replicas", "less than or equal to 1000"}},

	// accept
	{name: "an unknown finding", patch: `spec: {acceptedFindings: [NoWarmup, TooSlow]}`,
		want: []string{"spec.acceptedFindings[1]", "supported values", `"NoWarmup"`, `"NotKeepingUp"`}},
	{name: "a finding accepted twice", patch: `spec: {acceptedFindings: [NoWarmup, NoWarmup]}`,
		want: []string{"spec.acceptedFindings[1]", "Duplicate value"}},

	// thresholds
	{name: "unknown metric", patch: `spec: {thresholds: [{metric: LatencyP42, below: 50ms}]}`,
		want: []string{"spec.thresholds[0].metric", "supported values", `"LatencyP99"`}},
	{name: "threshold without a metric", patch: `spec: {thresholds: [{below: 50ms}]}`,
		want: []string{"spec.thresholds[0].metric", "Required value"}},
	{name: "the same metric twice", patch: `spec: {thresholds: [{metric: LatencyP99, below: 50ms}, {metric: LatencyP99, below: 60ms}]}`,
		want: []string{"spec.thresholds", "must not have the same metric of the same request twice"}},
	{name: "the same metric of a request twice", patch: named(`[{metric: LatencyP99, request: cart, below: 50ms}, {metric: LatencyP99, request: cart, below: 60ms}]`),
		want: []string{"spec.thresholds", "must not have the same metric of the same request twice"}},
	{name: "threshold of an unknown request", patch: named(`[{metric: LatencyP99, request: basket, below: 50ms}]`),
		want: []string{"spec.thresholds", "request must be the name of one of load.requests"}},
	{name: "threshold of a request by a path although it has a name", patch: named(`[{metric: LatencyP99, request: POST /cart, below: 50ms}]`),
		want: []string{"spec.thresholds", "request must be the name of one of load.requests"}},
	{name: "threshold of a request by its path alone", patch: named(`[{metric: LatencyP99, request: /a, below: 50ms}]`),
		want: []string{"spec.thresholds", "request must be the name of one of load.requests"}},
	{name: "no bound", patch: `spec: {thresholds: [{metric: LatencyP99}]}`,
		want: []string{"spec.thresholds[0]", "at least one of the fields in [below above]"}},
	{name: "latencies between two bounds that leave none", patch: `spec: {thresholds: [{metric: LatencyP99, below: 50ms, above: 0.05s}]}`,
		want: []string{"spec.thresholds[0].below", "greater than above"}},
	{name: "rates between two bounds that leave none", patch: `spec: {thresholds: [{metric: RequestsPerSecond, below: "900", above: "1000"}]}`,
		want: []string{"spec.thresholds[0].below", "greater than above"}},
	{name: "error rates between two bounds that leave none", patch: `spec: {thresholds: [{metric: ErrorRate, below: 1%, above: 1.0%}]}`,
		want: []string{"spec.thresholds[0].below", "greater than above"}},
	{name: "one bound of two in another form", patch: `spec: {thresholds: [{metric: LatencyP99, below: 50ms, above: "1"}]}`,
		want: []string{"spec.thresholds[0]", "units us, ms and s, such as 50ms"}},
	{name: "latency as a percentage", patch: `spec: {thresholds: [{metric: LatencyP99, below: 50%}]}`,
		want: []string{"spec.thresholds[0]", "units us, ms and s, such as 50ms"}},
	{name: "latency without a unit", patch: `spec: {thresholds: [{metric: LatencyMax, below: "50"}]}`,
		want: []string{"spec.thresholds[0]", "units us, ms and s, such as 50ms"}},
	{name: "latency in minutes, above", patch: `spec: {thresholds: [{metric: LatencyMean, above: 1m}]}`,
		want: []string{"spec.thresholds[0]", "units us, ms and s, such as 50ms"}},
	{name: "negative latency", patch: `spec: {thresholds: [{metric: LatencyP99, below: "-50ms"}]}`,
		want: []string{"spec.thresholds[0]", "units us, ms and s, such as 50ms"}},
	{name: "error rate without a percent sign", patch: `spec: {thresholds: [{metric: ErrorRate, below: "0.01"}]}`,
		want: []string{"spec.thresholds[0]", "percentage", "the bound must be a percentage from 0% to 100%, such as 0.1%"}},
	{name: "error rate above 100 %", patch: `spec: {thresholds: [{metric: ErrorRate, below: 101%}]}`,
		want: []string{"spec.thresholds[0]", "from 0% to 100%"}},
	{name: "more than every request", patch: `spec: {thresholds: [{metric: ErrorRate, above: 100.1%}]}`,
		want: []string{"spec.thresholds[0]", "from 0% to 100%"}},
	{name: "errors above every request", patch: `spec: {thresholds: [{metric: ErrorRate, above: 100%}]}`,
		want: []string{"spec.thresholds[0].above", "less than 100%"}},
	{name: "request rate with a unit", patch: `spec: {thresholds: [{metric: RequestsPerSecond, above: 1500/s}]}`,
		want: []string{"spec.thresholds[0]", "plain number, such as 1500"}},
	{name: "below zero errors", patch: `spec: {thresholds: [{metric: ErrorRate, below: 0.0%}]}`,
		want: []string{"spec.thresholds[0].below", "greater than zero"}},
	{name: "empty list of thresholds", patch: `spec: {thresholds: []}`,
		want: []string{"spec.thresholds", "at least 1 item"}, rawOnly: true},

	// the run itself
	{name: "empty lane", patch: `spec: {lane: ""}`,
		want: []string{"spec.lane", "must "}, rawOnly: true},
	{name: "lane in capitals", patch: `spec: {lane: Rack-A}`,
		want: []string{"spec.lane", "lowercase letters, digits and '-'"}},
	{name: "lane too long", patch: `spec: {lane: ` + strings.Repeat("a", 64) + `}`,
		want: []string{"spec.lane", "63"}},
	{name: "zero deadline", patch: `spec: {activeDeadlineSeconds: 0}`,
		want: []string{"spec.activeDeadlineSeconds", "greater than or equal to 1"}},
	{name: "negative deadline", patch: `spec: {activeDeadlineSeconds: -1}`,
		want: []string{"spec.activeDeadlineSeconds", "greater than or equal to 1"}},
	{name: "negative time to live", patch: `spec: {ttlSecondsAfterFinished: -1}`,
		want: []string{"spec.ttlSecondsAfterFinished", "greater than or equal to 0"}},
	{name: "unknown retention", patch: `spec: {podRetention: Sometimes}`,
		want: []string{"spec.podRetention", `"Never", "OnFailure", "Always"`}},
	{name: "misspelt field", patch: `spec: {treshold: []}`,
		want: []string{"unknown field", "spec.treshold"}, rawOnly: true},
}

// genericRefusals are merged into genericBase.
var genericRefusals = []refusal{
	{name: "zero port", patch: `spec: {target: {server: {generic: {port: 0}}}}`,
		want: []string{"spec.target.server.generic.port", "greater than or equal to 1"}},
	{name: "negative port", patch: `spec: {target: {server: {generic: {port: -80}}}}`,
		want: []string{"spec.target.server.generic.port", "greater than or equal to 1"}},
	{name: "empty command", patch: `spec: {target: {server: {generic: {command: []}}}}`,
		want: []string{"spec.target.server.generic.command", "at least 1 item"}, rawOnly: true},
	{name: "empty word of a command", patch: `spec: {target: {server: {generic: {command: [""]}}}}`,
		want: []string{"spec.target.server.generic.command[0]", "at least 1 char"}},
	{name: "relative folder of content", patch: `spec: {target: {server: {generic: {contentPath: htdocs}}}}`,
		want: []string{"spec.target.server.generic.contentPath", "an absolute path of letters"}},
	{name: "folder of content that climbs out", patch: `spec: {target: {server: {generic: {contentPath: /usr/../etc}}}}`,
		want: []string{"spec.target.server.generic.contentPath", "an absolute path of letters"}},
	{name: "root as folder of content", patch: `spec: {target: {server: {generic: {contentPath: /}}}}`,
		want: []string{"spec.target.server.generic.contentPath", "at least 2 chars"}},
}

// badJVMOptions are texts that aren't one option.
var badJVMOptions = map[string]string{
	"two in one":           `-Xms1g -Xmx1g`,
	"tab":                  "-Xms1g\t-Xmx1g",
	"line break":           "-Xms1g\n-Xmx1g",
	"class, not an option": `org.example.Main`,
}

func TestBadRunsAreRefused(t *testing.T) {
	namespace := newNamespace(t)
	for _, r := range slices.Concat(refusals, loadRefusals, blockRefusals, deadlineRefusals, scriptRefusals, http2Refusals) {
		t.Run(r.name, func(t *testing.T) { r.check(t, base, namespace) })
	}
	for _, r := range genericRefusals {
		t.Run("generic: "+r.name, func(t *testing.T) { r.check(t, genericBase, namespace) })
	}
	for name, option := range badJVMOptions {
		r := refusal{
			patch: `spec: {target: {server: {tomcat: {jvmOptions: [-server, ` + quoted(option) + `]}}}}`,
			want:  []string{"spec.target.server.tomcat.jvmOptions[1]", "a JVM option must begin with '-'", "one option per item"},
		}
		t.Run("JVM option: "+name, func(t *testing.T) { r.check(t, base, namespace) })
	}
}

// Clients that don't ask for strict checking have unknown fields dropped; what
// is left is refused all the same.
func TestUnknownMembersAreRefusedWithoutStrictness(t *testing.T) {
	namespace := newNamespace(t)
	for _, r := range []refusal{
		{name: "load shape", patch: `spec: {load: {closed: null, burst: {connections: 2}}}`,
			want: []string{"spec.load", "exactly one of the fields in [closed open stages]"}},
		{name: "server", patch: `spec: {target: {server: {tomcat: null, lighttpd: {}}}}`,
			want: []string{"spec.target.server", "exactly one of the fields in [tomcat httpd nginx "}},
	} {
		t.Run(r.name, func(t *testing.T) {
			object := parse(t, base, r.patch)
			object.SetNamespace(namespace)
			err := apiClient.Create(t.Context(), object, client.DryRunAll, client.FieldValidation(metav1.FieldValidationIgnore))
			r.checkMessage(t, err)
		})
	}
}

func (r *refusal) check(t *testing.T, document, namespace string) {
	t.Helper()
	object := parse(t, document, r.patch)
	run, sayable := typed(t, object)

	// kubectl assay check finds the same without the API server.
	r.checkMessage(t, checkFile(t, object))
	r.checkMessage(t, dryCreate(t.Context(), object, namespace))
	if r.rawOnly {
		return
	}
	if !sayable {
		t.Fatal("the Go types can't say it: mark the case rawOnly")
	}
	if err := dryCreate(t.Context(), run, namespace); err == nil {
		t.Error("the API server took it from the Go types")
	}
}

func (r *refusal) checkMessage(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		t.Fatalf("the API server took it: %s", r.patch)
	}
	for _, part := range r.want {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the message lacks %q:\n%s", part, err)
		}
	}
}
