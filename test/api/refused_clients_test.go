package api

import "testing"

// withClientPod gives minimal's clients settings of their pods.
func withClientPod(fields string) string { return `spec: {clients: {` + fields + `}}` }

// placedExternally makes minimal's target external, and places its clients.
func placedExternally(placement string) string {
	return `spec: {target: {image: null, server: {tomcat: null, external: {url: "http://a"}}}, clients: {placement: ` + placement + `}}`
}

var clientRefusals = []refusal{
	{name: "unknown placement of clients", patch: `spec: {clients: {placement: Anywhere}}`,
		want: []string{"spec.clients.placement", `"Apart", "Prefer", "Together"`}},
	{name: "clients apart from an external server", patch: placedExternally("Apart"),
		want: []string{"spec.clients.placement", "must not be Apart or Together with an external server"}},
	{name: "clients together with an external server", patch: placedExternally("Together"),
		want: []string{"spec.clients.placement", "must not be Apart or Together with an external server"}},
	{name: "too many labels of clients' nodes", patch: withClientPod(`nodeSelector: {` + list(33, `a%d: b`) + `}`),
		want: []string{"spec.clients.nodeSelector", "at most 32 items"}},
	{name: "clients' toleration of an unknown effect", patch: withClientPod(`tolerations: [{effect: NoRun}]`),
		want: []string{"spec.clients.tolerations[0].effect", `"NoSchedule", "PreferNoSchedule", "NoExecute"`}},
	{name: "clients spread over nothing", patch: withClientPod(`topologySpreadConstraints: [{maxSkew: 1}]`),
		want: []string{"spec.clients.topologySpreadConstraints[0].topologyKey", "Required value"}},
	{name: "clients spread over what is no label", patch: withClientPod(`topologySpreadConstraints: [{topologyKey: a b}]`),
		want: []string{"spec.clients.topologySpreadConstraints[0].topologyKey", "name of a label"}},
	{name: "clients spread twice over the same", patch: withClientPod(`topologySpreadConstraints: [{topologyKey: a}, {topologyKey: a}]`),
		want: []string{"spec.clients.topologySpreadConstraints[1]", "Duplicate value"}},
	{name: "clients spread by no skew", patch: withClientPod(`topologySpreadConstraints: [{topologyKey: a, maxSkew: 0}]`),
		want: []string{"spec.clients.topologySpreadConstraints[0].maxSkew", "greater than or equal to 1"}},
	{name: "clients spread somehow", patch: withClientPod(`topologySpreadConstraints: [{topologyKey: a, whenUnsatisfiable: Never}]`),
		want: []string{"spec.clients.topologySpreadConstraints[0].whenUnsatisfiable", `"ScheduleAnyway", "DoNotSchedule"`}},
	{name: "clients with a label of Assay's", patch: withClientPod(`labels: {assay.dev/role: target}`),
		want: []string{"spec.clients.labels", "Assay's own: omit them"}},
	{name: "clients with a mount of nothing", patch: withClientPod(`volumeMounts: [{name: a, mountPath: /a}]`),
		want: []string{"spec.clients.volumeMounts", "must name members of volumes"}},
	{name: "clients with a variable of Assay's", patch: withClientPod(`env: [{name: ASSAY_MANAGER, value: a}]`),
		want: []string{"spec.clients.env", "must not have ASSAY_"}},
	{name: "clients with an option of k6", patch: withClientPod(`env: [{name: K6_VUS, value: "1"}]`),
		want: []string{"spec.clients.env", "use script.env"}},
	{name: "clients with CPUs of their own", patch: withClientPod(`env: [{name: GOMAXPROCS, value: "1"}]`),
		want: []string{"spec.clients.env", "GOMAXPROCS", "resources"}},
	{name: "clients as root", patch: withClientPod(`securityContext: {runAsUser: 0}`),
		want: []string{"spec.clients.securityContext", "clients must not run as root"}},
	{name: "clients as whoever", patch: withClientPod(`securityContext: {runAsNonRoot: false}`),
		want: []string{"spec.clients.securityContext", "clients must not run as root"}},
	{name: "clients that escalate", patch: withClientPod(`securityContext: {allowPrivilegeEscalation: true}`),
		want: []string{"spec.clients.securityContext", "privileges of clients must not grow"}},
	{name: "target spread", patch: withPod(`topologySpreadConstraints: [{topologyKey: a}]`), rawOnly: true,
		want: []string{"unknown field", "spec.target.topologySpreadConstraints"}},
}

// withTool makes minimal's clients run another load generator.
func withTool(name, fields string) string {
	return `spec: {clients: {tool: {name: ` + name + `, image: "localhost/ab"}}` + fields + `}`
}

var toolRefusals = []refusal{
	{name: "unknown tool", patch: withTool("hey", ``), want: []string{"spec.clients.tool.name", `"AB", "Siege"`}},
	{name: "tool without an image", patch: `spec: {clients: {tool: {name: AB}}}`, want: []string{"spec.clients.tool.image", "must be set with AB and Siege"}},
	{name: "tool with an open load", patch: withTool("AB", `, load: {closed: null, open: {requestsPerSecond: 5, durationSeconds: 5}}`),
		want: []string{"spec.load.closed", "must be set with AB and Siege: the tools keep a fixed num"}},
	{name: "tool with a think time", patch: withTool("AB", `, load: {closed: {thinkTime: {minMilliseconds: 1, maxMilliseconds: 2}}}`),
		want: []string{"spec.load.closed", "must be set without thinkTime and rampSeconds with AB and Siege"}},
	{name: "tool with a script", patch: withTool("AB", `, load: null, script: {configMapName: a}`),
		want: []string{"spec.load.closed", "must be set with AB and Siege: the tools keep a fixed num"}},
	{name: "tool with two requests", patch: withTool("AB", `, load: {requests: [{path: /a}, {path: /b}]}`),
		want: []string{"spec.load.requests", "must be one GET request with only a path"}},
	{name: "tool with a POST", patch: withTool("AB", `, target: {readiness: {path: /a}}, load: {requests: [{path: /a, method: POST}]}`),
		want: []string{"spec.load.requests", "must be one GET request with only a path"}},
	{name: "tool with an expectation", patch: withTool("AB", `, load: {requests: [{path: /a, expect: {bodyBytes: 5}}]}`),
		want: []string{"spec.load.requests", "must be one GET request with only a path"}},
	{name: "tool with a variable in the path", patch: withTool("Siege", `, load: {requests: [{path: "/a$(B)"}]}`),
		want: []string{"spec.load.requests", "paths must be of letters, digits, /._~%?&=+,:;@- with AB"}},
	{name: "tool with HTTP/2", patch: withTool("AB", `, load: {client: {protocol: HTTP2}}`),
		want: []string{"spec.load", "protocol and cookies must be omitted with AB and Siege"}},
	{name: "tool with a steady warm-up", patch: withTool("AB", `, load: {warmup: {steady: {}}}`),
		want: []string{"spec.load", "authentication and warmup.steady must not be set with AB and Siege"}},
	{name: "tool per run", patch: withTool("AB", `, load: {loadIsPer: Run}`),
		want: []string{"spec.load", "must be Client with AB and Siege"}},
	{name: "tool with TLS", patch: withTool("AB", `, target: {tls: {certificate: {selfSigned: {}}}}`),
		want: []string{"spec.clients.tool", "must not be AB or Siege with TLS"}},
	{name: "tool with a threshold of a latency", patch: withTool("AB", `, thresholds: [{metric: LatencyP99, below: 5ms}]`),
		want: []string{"spec.thresholds", "must be ErrorRate or RequestsPerSecond"}},
	{name: "siege with a number of requests that its users can't share", patch: withTool("Siege", `, load: {closed: {connections: 10, requestCount: 101, durationSeconds: null}}`),
		want: []string{"spec:", "requestCount must be a multiple of connections"}},
	{name: "K6 with an image of its own", patch: withTool("K6", ``), want: []string{"spec.clients.tool.image", "must not be set with K6: set clients.image"}},
	{name: "an image of k6 without k6", patch: `spec: {clients: {image: a}}`, want: []string{"spec.clients.image", "must not be set without script or the tool K6"}},
	{name: "an image of k6 with ab", patch: `spec: {clients: {image: a, tool: {name: AB, image: b}}}`, want: []string{"spec.clients.image", "must not be set without script or the tool K6"}},
	{name: "K6 with a script", patch: withK6(`, load: null, target: {readiness: {path: /a}}, script: {configMapName: a}`), want: []string{"spec.clients.tool", "must not be set with script: k6 runs every script"}},
	{name: "K6 with pages", patch: withK6(`, load: {pages: {}, closed: {connections: null, users: 5}}`), want: []string{"spec.load.pages", "must not be set with K6"}},
	{name: "K6 with streams", patch: withK6(`, target: {tls: {certificate: {selfSigned: {}}}}, load: {client: {protocol: HTTP2, streams: 2}}`), want: []string{"spec.load.client.streams", "must be 1 with K6"}},
	{name: "K6 with HTTP/2 without TLS", patch: withK6(`, load: {client: {protocol: HTTP2}}`), want: []string{"spec.load.client.protocol", "must be HTTP1 with K6 without TLS"}},
	{name: "K6 with HTTP/2 to an external server without TLS", patch: withK6(`, target: {image: null, server: {tomcat: null, external: {url: "http://a"}}}, load: {client: {protocol: HTTP2}}`), want: []string{"spec.load.client.protocol", "must be HTTP1 with K6 without TLS"}},
	{name: "K6 with Digest", patch: withK6(`, target: {readiness: {path: /a}}, load: {authentication: {scheme: Digest, secretName: a}}`), want: []string{"spec.load.authentication.scheme", "must be Basic or Bearer with K6"}},
	{name: "K6 with Poisson arrivals", patch: withK6(`, load: {closed: null, open: {requestsPerSecond: 5, durationSeconds: 5, interArrivalTimes: Poisson}}`), want: []string{"spec.load:", "must be Constant with K6"}},
	{name: "K6 with Poisson arrivals in stages", patch: withK6(`, load: {closed: null, stages: {levels: [{requestsPerSecond: 5, holdSeconds: 5}], interArrivalTimes: Poisson}}`), want: []string{"spec.load:", "must be Constant with K6"}},
	{name: "K6 with a ramp of a number of requests", patch: withK6(`, load: {closed: {connections: 5, rampSeconds: 5, requestCount: 500, durationSeconds: null}}`), want: []string{"spec.load.closed.rampSeconds", "must be set with durationSeconds with K6"}},
	{name: "K6 with redirects", patch: withK6(`, load: {requests: [{path: /a}, {path: /b, redirects: Follow}]}`), want: []string{"spec.load.requests", "redirects must be Ignore with K6"}},
	{name: "K6 with a large body", patch: withK6(`, target: {readiness: {path: /a}}, load: {requests: [{path: /b, method: PUT, body: {sizeBytes: 1048577}}]}`), want: []string{"spec.load.requests", "body.sizeBytes must be at most 1048576 with K6"}},
	{name: "K6 with groups", patch: withK6(`, target: {tls: {certificate: {selfSigned: {}}, groups: [X25519]}}`), want: []string{"spec.target.tls.groups", "must not be set with k6"}},
	{name: "K6 with resumption", patch: withK6(`, target: {tls: {certificate: {selfSigned: {}}, sessionResumption: Enabled}}`), want: []string{"spec.target.tls.sessionResumption", "must be Disabled with k6, which never resumes"}},
	{name: "K6 with suites of TLS 1.3", patch: withK6(`, target: {tls: {certificate: {selfSigned: {}}, ciphers: [TLS_AES_128_GCM_SHA256]}}`), want: []string{"spec.target.tls.ciphers", "must not have suites of TLS 1.3 with K6"}},
}

// withK6 makes k6 the engine of minimal's load.
func withK6(fields string) string { return `spec: {clients: {tool: {name: K6}}` + fields + `}` }

func TestBadToolsAreRefused(t *testing.T) {
	namespace := newNamespace(t)
	for _, r := range toolRefusals {
		t.Run(r.name, func(t *testing.T) { r.check(t, minimal, namespace) })
	}
}

func TestBadClientsAreRefused(t *testing.T) {
	namespace := newNamespace(t)
	for _, r := range clientRefusals {
		t.Run(r.name, func(t *testing.T) { r.check(t, minimal, namespace) })
	}
}
