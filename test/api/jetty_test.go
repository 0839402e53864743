package api

const jettyFull = `
apiVersion: assay.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: base}
spec:
  target:
    image: localhost/assay-test/jetty:12.1
    server:
      jetty:
        home: /opt/jetty
        base: /opt/base
        connector:
          port: 8444
          acceptors: 2
          selectors: 4
          acceptQueueSize: 4096
          maxConnections: 20000
          keepAlive: {mode: Enabled, timeoutMilliseconds: 20000}
          http2: Enabled
        threads: {type: Platform, max: 300, min: 20}
        modules: [ee10-deploy, logging/slf4j]
        applications: Image
        jvmOptions: [-Xmx1g, "-Xlog:gc*:stdout:time,uptime"]
        accessLog: Enabled
        gcLog: Disabled
        configuration: {configMapName: jetty-conf}
    tls:
      protocols: [TLSv1.3]
      certificate: {selfSigned: {}}
    content: [{path: /a.html, sizeBytes: 1}]
  load:
    client: {protocol: HTTP2}
    requests: [{path: /a.html}]
    closed: {connections: 1, requestCount: 1}
`

func init() {
	examples["jetty, full"] = jettyFull
	leasts["jetty"] = `spec: {target: {server: {tomcat: null, jetty: {}}}}`
	jetty := func(fields string) string { return asServer("jetty", fields) }
	goodTargets = append(goodTargets,
		goodRun{"virtual threads of Jetty", minimal, jetty(`{threads: {type: Virtual, max: 1}}`)},
		goodRun{"as many idle threads as threads of Jetty", minimal, jetty(`{threads: {max: 8, min: 8}}`)},
		goodRun{"empty keepAlive of Jetty", minimal, jetty(`{connector: {keepAlive: {}}}`)},
		goodRun{"Jetty's selectors accept", minimal, jetty(`{connector: {acceptors: 0}}`)},
		goodRun{"HTTP/2 by a configuration of the user's own", jettyFull, `spec: {target: {server: {jetty: {connector: {http2: Disabled}}}}}`},
	)
	for _, n := range []struct {
		field            string
		minimum, maximum int
	}{
		{"connector.port", 1024, 65535},
		{"connector.acceptors", 0, 1024},
		{"connector.selectors", 1, 1024},
		{"connector.acceptQueueSize", 1, 65535},
		{"connector.maxConnections", 1, 1000000},
		{"connector.keepAlive.timeoutMilliseconds", 1, 3600000},
		{"threads.max", 1, 100000},
		{"threads.min", 1, 100000},
	} {
		numbers = append(numbers, struct {
			server, field    string
			minimum, maximum int
		}{"jetty", n.field, n.minimum, n.maximum})
	}
	for _, c := range []struct{ field, values string }{
		{"connector.http2", `"Enabled", "Disabled"`},
		{"connector.keepAlive.mode", `"Enabled", "Disabled"`},
		{"applications", `"Image", "Content"`},
		{"threads.type", `"Platform", "Virtual"`},
		{"accessLog", `"Enabled", "Disabled"`},
		{"gcLog", `"Enabled", "Disabled"`},
	} {
		choices = append(choices, struct{ server, field, values string }{"jetty", c.field, c.values})
	}
	const field = "spec.target.server.jetty"
	serverRefusals = append(serverRefusals,
		refusal{name: "home of Jetty with a space", patch: jetty(`{home: "/a b"}`), want: []string{field + ".home"}},
		refusal{name: "base of Jetty that climbs", patch: jetty(`{base: /a/../b}`), want: []string{field + ".base"}},
		refusal{name: "min of virtual threads", patch: jetty(`{threads: {type: Virtual, min: 1}}`), want: []string{field + ".threads.min", "must not be set"}},
		refusal{name: "more idle threads than threads", patch: jetty(`{threads: {max: 7, min: 8}}`), want: []string{field + ".threads.min", "must be at most max"}},
		refusal{name: "timeout of no connection", patch: jetty(`{connector: {keepAlive: {mode: Disabled, timeoutMilliseconds: 1}}}`),
			want: []string{field + ".connector.keepAlive.mode", "timeoutMilliseconds must not be set"}},
		refusal{name: "two modules in one", patch: jetty(`{modules: ["http2,statistics"]}`), want: []string{field + ".modules[0]", "a module must be a name"}},
		refusal{name: "module twice", patch: jetty(`{modules: [http2, http2]}`), want: []string{field + ".modules[1]", "Duplicate"}},
		refusal{name: "module with a line break", patch: jetty(`{modules: ["a\n--exec"]}`), want: []string{field + ".modules[0]"}},
		refusal{name: "too many modules", patch: jetty(`{modules: [` + list(33, "m%d") + `]}`), want: []string{field + ".modules", "at most 32 items"}},
		refusal{name: "two JVM options in one of Jetty", patch: jetty(`{jvmOptions: ["-Da=b -Dc=d"]}`), want: []string{field + ".jvmOptions[0]", "one option per item"}},
		refusal{name: "JVM option without dash", patch: jetty(`{jvmOptions: [Xmx1g]}`), want: []string{field + ".jvmOptions[0]"}},
		refusal{name: "applications of Jetty that nothing deploys", patch: jetty(`{applications: Image, modules: [ee10-jsp]}`),
			want: []string{field + ".applications", "must not be set without a module"}},
		refusal{name: "no content as an application of Jetty", patch: `spec: {target: {content: null, server: {tomcat: null, jetty: {applications: Content, modules: [ee10-deploy]}}}}`,
			want: []string{field + ".applications", "must not be Content without target.content"}},
		refusal{name: "HTTP/2 that Jetty isn't configured for", patch: `spec: {target: {server: {tomcat: null, jetty: {}}}, load: {client: {protocol: HTTP2}}}`,
			want: []string{"spec.load.client.protocol", "set jetty.connector.http2 Enabled"}},
	)
}
