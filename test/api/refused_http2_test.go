package api

// http2Refusals are merged into base.
var http2Refusals = []refusal{
	{name: "unknown protocol", patch: `spec: {load: {client: {protocol: HTTP3}}}`,
		want: []string{"spec.load.client.protocol", `"HTTP1", "HTTP2"`}},
	{name: "streams of HTTP/1.1", patch: `spec: {load: {client: {streams: 2}}}`,
		want: []string{"spec.load.client.streams", "for the protocol HTTP2"}},
	{name: "streams of HTTP/1.1, said", patch: `spec: {load: {client: {protocol: HTTP1, streams: 1}}}`,
		want: []string{"spec.load.client.streams", "for the protocol HTTP2"}},
	{name: "no streams", patch: overHTTP2(`streams: 0`, ``),
		want: []string{"spec.load.client.streams", "greater than or equal to 1"}, rawOnly: true},
	{name: "too many streams", patch: overHTTP2(`streams: 1001`, ``),
		want: []string{"spec.load.client.streams", "less than or equal to 1000"}},
	{name: "HTTP/2 without keep-alive", patch: overHTTP2(`keepAlive: Disabled`, ``),
		want: []string{"spec.load.client.keepAlive", "must be Enabled with the protocol HTTP2"}},
	{name: "too many streams of all connections", patch: overHTTP2(`streams: 801`, ``),
		want: []string{"spec.load.client.streams", "at most 20000"}},
	{name: "too many streams at a rate", patch: overHTTP2(`streams: 21`, `closed: null, open: {requestsPerSecond: 1, durationSeconds: 1}`),
		want: []string{"spec.load.client.streams", "at most 20000"}},
	{name: "too many streams at a rate in levels", patch: overHTTP2(`streams: 21`, `closed: null, stages: {maxConnections: 1000, levels: [{requestsPerSecond: 1, holdSeconds: 1}]}`),
		want: []string{"spec.load.client.streams", "at most 20000"}},
	{name: "too many streams of a level", patch: overHTTP2(`streams: 21`, `closed: null, stages: {levels: [{connections: 1, holdSeconds: 1}, {connections: 1000, holdSeconds: 1}]}`),
		want: []string{"spec.load.client.streams", "at most 20000"}},
	{name: "fewer requests than streams", patch: overHTTP2(`streams: 10`, `closed: {requestCount: 249}`),
		want: []string{"spec.load.closed.requestCount", "connections times client.streams"}},
	{name: "a form over HTTP/2", patch: overHTTP2(`cookies: Enabled`, `authentication: {scheme: Form, secretName: a, form: {path: /l}}`),
		want: []string{"spec.load.client.protocol", "HTTP1 with the scheme Form"}},
	{name: "HTTP/2 over TLS 1.1", patch: `spec: {target: {tls: {certificate: {selfSigned: {}}, protocols: [TLSv1, TLSv1.1]}, server: {tomcat: {connector: {http2: Enabled}}}}, load: {client: {protocol: HTTP2}}}`,
		want: []string{"spec.target.tls.protocols", "HTTP2 needs TLSv1.2 or TLSv1.3"}},
	{name: "header of a connection over HTTP/2", patch: overHTTP2(`streams: 1`, `requests: [{path: /, headers: [{name: proxy-Connection, value: keep-alive}]}]`),
		want: []string{"spec.load.requests", "Proxy-Connection"}},
	{name: "upgrade to HTTP/2 over HTTP/2", patch: overHTTP2(`streams: 1`, `requests: [{path: /, headers: [{name: HTTP2-Settings, value: a}]}]`),
		want: []string{"spec.load.requests", "HTTP2-Settings"}},
	{name: "HTTP/2 with a Tomcat that speaks none", patch: `spec: {load: {client: {protocol: HTTP2}}}`,
		want: []string{"spec.load.client.protocol", "set tomcat.connector.http2 Enabled"}},
	{name: "HTTP/2 with an nginx that speaks none", patch: `spec: {target: {server: {tomcat: null, nginx: {}}}, load: {client: {protocol: HTTP2}}}`,
		want: []string{"spec.load.client.protocol", "set nginx.http2 Enabled"}},
	{name: "HTTP/2 with an httpd that speaks none", patch: `spec: {target: {server: {tomcat: null, httpd: {http2: Disabled}}}, load: {client: {protocol: HTTP2}}}`,
		want: []string{"spec.load.client.protocol", "set httpd.http2 Enabled"}},
	{name: "HTTP/2 by processes", patch: `spec: {target: {server: {tomcat: null, httpd: {http2: Enabled, mpm: Prefork}}}}`,
		want: []string{"spec.target.server.httpd.http2", "use Event or Worker"}},
}

// overHTTP2 is a patch of a load over HTTP/2, with a server that speaks it: what
// its connection has beside, and the rest of the load.
func overHTTP2(connection, rest string) string {
	return `spec: {target: {server: {tomcat: {connector: {http2: Enabled}}}}, load: {client: {protocol: HTTP2, ` + connection + `}, ` + rest + `}}`
}

// http2Accepted are merged into base.
var http2Accepted = []goodRun{
	{"one stream", base, overHTTP2(`streams: null`, ``)},
	{"as many streams as there may be", base, overHTTP2(`streams: 1000`, `closed: {connections: 20, requestCount: 20000}`)},
	{"as many streams at a rate", base, overHTTP2(`streams: 100`, `closed: null, open: {requestsPerSecond: 1, durationSeconds: 1, maxConnections: 200}`)},
	{"HTTP/2 by a configuration of the user's", base, `spec: {target: {server: {tomcat: null, nginx: {configuration: {configMapName: a}}}}, load: {client: {protocol: HTTP2}}}`},
	{"HTTP/2 of a server that nothing is known of", base, `spec: {target: {server: {tomcat: null, generic: {}}}, load: {client: {protocol: HTTP2, streams: 2}}}`},
}
