package api

import "testing"

// withClientPod gives minimal's clients a pod.
func withClientPod(fields string) string { return `spec: {clients: {pod: {` + fields + `}}}` }

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
		want: []string{"spec.clients.pod.nodeSelector", "at most 32 items"}},
	{name: "clients' toleration of an unknown effect", patch: withClientPod(`tolerations: [{effect: NoRun}]`),
		want: []string{"spec.clients.pod.tolerations[0].effect", `"NoSchedule", "PreferNoSchedule", "NoExecute"`}},
	{name: "clients spread over nothing", patch: withClientPod(`topologySpreadConstraints: [{maxSkew: 1}]`),
		want: []string{"spec.clients.pod.topologySpreadConstraints[0].topologyKey", "Required value"}},
	{name: "clients spread over what is no label", patch: withClientPod(`topologySpreadConstraints: [{topologyKey: a b}]`),
		want: []string{"spec.clients.pod.topologySpreadConstraints[0].topologyKey", "name of a label"}},
	{name: "clients spread twice over the same", patch: withClientPod(`topologySpreadConstraints: [{topologyKey: a}, {topologyKey: a}]`),
		want: []string{"spec.clients.pod.topologySpreadConstraints[1]", "Duplicate value"}},
	{name: "clients spread by no skew", patch: withClientPod(`topologySpreadConstraints: [{topologyKey: a, maxSkew: 0}]`),
		want: []string{"spec.clients.pod.topologySpreadConstraints[0].maxSkew", "greater than or equal to 1"}},
	{name: "clients spread somehow", patch: withClientPod(`topologySpreadConstraints: [{topologyKey: a, whenUnsatisfiable: Never}]`),
		want: []string{"spec.clients.pod.topologySpreadConstraints[0].whenUnsatisfiable", `"ScheduleAnyway", "DoNotSchedule"`}},
	{name: "an affinity of clients", patch: withClientPod(`affinity: {}`), rawOnly: true,
		want: []string{"unknown field", "spec.clients.pod.affinity"}},
}

// withTool makes minimal's clients run another load generator.
func withTool(name, fields string) string {
	return `spec: {clients: {tool: {name: ` + name + `, image: "localhost/ab"}}` + fields + `}`
}

var toolRefusals = []refusal{
	{name: "unknown tool", patch: withTool("hey", ``), want: []string{"spec.clients.tool.name", `"AB", "Siege"`}},
	{name: "tool without an image", patch: `spec: {clients: {tool: {name: AB}}}`, want: []string{"spec.clients.tool.image", "Required value"}},
	{name: "tool with an open load", patch: withTool("AB", `, load: {closed: null, open: {requestsPerSecond: 5, durationSeconds: 5}}`),
		want: []string{"spec.load.closed", "load.closed must be set with clients.tool: the tools keep a fixed numb"}},
	{name: "tool with a think time", patch: withTool("AB", `, load: {closed: {thinkTime: {minMilliseconds: 1, maxMilliseconds: 2}}}`),
		want: []string{"spec.load.closed", "load.closed must be set without thinkTime with clients.tool"}},
	{name: "tool with a script", patch: withTool("AB", `, load: null, script: {configMapName: a}`),
		want: []string{"spec.load.closed", "load.closed must be set with clients.tool: the tools keep a fixed numb"}},
	{name: "tool with two requests", patch: withTool("AB", `, load: {requests: [{path: /a}, {path: /b}]}`),
		want: []string{"spec.load.requests", "must be one GET request with only a path"}},
	{name: "tool with a POST", patch: withTool("AB", `, target: {readiness: {path: /a}}, load: {requests: [{path: /a, method: POST}]}`),
		want: []string{"spec.load.requests", "must be one GET request with only a path"}},
	{name: "tool with an expectation", patch: withTool("AB", `, load: {requests: [{path: /a, expect: {bodyBytes: 5}}]}`),
		want: []string{"spec.load.requests", "must be one GET request with only a path"}},
	{name: "tool with a variable in the path", patch: withTool("Siege", `, load: {requests: [{path: "/a$(B)"}]}`),
		want: []string{"spec.load.requests", "the path must have letters, digits and /._~%?&=+,:;@- only with client"}},
	{name: "tool with HTTP/2", patch: withTool("AB", `, load: {client: {protocol: HTTP2}}`),
		want: []string{"spec.load", "load.client.protocol must be HTTP1 with clients.tool"}},
	{name: "tool with a steady warm-up", patch: withTool("AB", `, load: {warmup: {steady: {}}}`),
		want: []string{"spec.load", "load.warmup.steady must not be set with clients.tool"}},
	{name: "tool per run", patch: withTool("AB", `, load: {loadIsPer: Run}`),
		want: []string{"spec.load", "load.loadIsPer must be Client with clients.tool"}},
	{name: "tool with TLS", patch: withTool("AB", `, target: {tls: {certificate: {selfSigned: {}}}}`),
		want: []string{"spec.clients.tool", "must not be set with TLS"}},
	{name: "tool with a threshold of a latency", patch: withTool("AB", `, thresholds: [{metric: LatencyP99, below: 5ms}]`),
		want: []string{"spec.thresholds", "must not bound latencies with clients.tool"}},
	{name: "siege with a number of requests that its users can't share", patch: withTool("Siege", `, load: {closed: {connections: 10, requestCount: 101, durationSeconds: null}}`),
		want: []string{"spec.load.closed.requestCount", "must be a multiple of connections with Siege"}},
}

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
