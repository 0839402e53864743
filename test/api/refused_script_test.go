package api

import "strings"

// scripted is a patch of base that has a script in place of its load, with more
// in the script, in the load and in the spec.
func scripted(inScript, inLoad, inSpec string) string {
	if inSpec == "" {
		inSpec = `, warmup: null`
	}
	return `spec: {target: {readiness: {path: /ready}}, load: {requests: null, closed: null, connection: null, script: {configMapName: shop` +
		inScript + `}` + inLoad + `}` + inSpec + `}`
}

// scriptRefusals are merged into base.
var scriptRefusals = []refusal{
	{name: "script beside another shape", patch: `spec: {load: {script: {configMapName: shop}}}`,
		want: []string{"spec.load", "exactly one shape"}},
	{name: "no requests", patch: `spec: {load: {requests: null}}`,
		want: []string{"spec.load.requests", "unless it is a script"}},
	{name: "script with requests", patch: `spec: {target: {readiness: {path: /}}, warmup: null, load: {closed: null, script: {configMapName: shop}}}`,
		want: []string{"spec.load.requests", "left out with a script"}},
	{name: "script with authentication", patch: scripted(``, `, authentication: {scheme: Basic, secretName: a}`, ``),
		want: []string{"spec.load.authentication", "script.env"}},
	{name: "script with a connection", patch: `spec: {target: {readiness: {path: /}}, warmup: null, load: {requests: null, closed: null, connection: {keepAlive: Disabled}, script: {configMapName: shop}}}`,
		want: []string{"spec.load.connection", "noConnectionReuse"}},
	{name: "script with an order", patch: scripted(``, `, order: Sequential`, ``),
		want: []string{"spec.load.order", "left out with a script"}},
	{name: "script with a scope", patch: scripted(``, `, scope: Run`, ``),
		want: []string{"spec.load.scope", "always those of the run"}},
	{name: "script without a path to ask for", patch: strings.Replace(scripted(``, ``, ``), `path: /ready`, `path: null`, 1),
		want: []string{"spec.target.readiness.path", "load.script"}},
	{name: "script with a warm-up", patch: scripted(``, ``, `, warmup: {requests: 10}`),
		want: []string{"spec.warmup", "setup()"}},
	{name: "script without a ConfigMap", patch: `spec: {target: {readiness: {path: /}}, warmup: null, load: {requests: null, closed: null, connection: null, script: {file: a.js}}}`,
		want: []string{"spec.load.script.configMapName", "Required value"}},
	{name: "script in a strange ConfigMap", patch: scripted(`, folders: [{path: lib, configMapName: Lib_A}]`, ``, ``),
		want: []string{"spec.load.script.folders[0].configMapName", "must be the name of a ConfigMap"}},
	{name: "script above its folder", patch: scripted(`, file: ../other.js`, ``, ``),
		want: []string{"spec.load.script.file", "key of a ConfigMap"}},
	{name: "folder with an absolute path", patch: scripted(`, folders: [{path: /etc, configMapName: a}]`, ``, ``),
		want: []string{"spec.load.script.folders[0].path", "must be relative"}},
	{name: "folder twice", patch: scripted(`, folders: [{path: lib, configMapName: a}, {path: lib, configMapName: b}]`, ``, ``),
		want: []string{"spec.load.script.folders[1]", "Duplicate value"}},
	{name: "variable of Assay's own", patch: scripted(`, env: [{name: ASSAY_TARGET_URL, value: a}]`, ``, ``),
		want: []string{"spec.load.script.env[0].name", "ASSAY_"}},
	{name: "variable without a value", patch: scripted(`, env: [{name: A}]`, ``, ``),
		want: []string{"spec.load.script.env[0]", "exactly one of value and secretKeyRef"}},
	{name: "variable with two values", patch: scripted(`, env: [{name: A, value: a, secretKeyRef: {name: a, key: b}}]`, ``, ``),
		want: []string{"spec.load.script.env[0]", "exactly one of value and secretKeyRef"}},
	{name: "variable of a strange key", patch: scripted(`, env: [{name: A, secretKeyRef: {name: a, key: ..}}]`, ``, ``),
		want: []string{"spec.load.script.env[0].secretKeyRef.key", "key of a ConfigMap or Secret"}},
	{name: "variable of a strange Secret", patch: scripted(`, env: [{name: A, secretKeyRef: {name: A_B, key: a}}]`, ``, ``),
		want: []string{"spec.load.script.env[0].secretKeyRef.name", "name of a Secret"}},
	{name: "tag of Assay's own", patch: scripted(`, tags: [{name: assay_run, value: a}]`, ``, ``),
		want: []string{"spec.load.script.tags[0].name", "assay_"}},
	{name: "URL for a name", patch: scripted(`, hostNames: ["https://a"]`, ``, ``),
		want: []string{"spec.load.script.hostNames[0]", "must be a DNS name"}},
	{name: "tag with a space", patch: scripted(`, tags: [{name: a, value: a b}]`, ``, ``),
		want: []string{"spec.load.script.tags[0].value", "letters, digits"}},
	{name: "outputs that are none", patch: scripted(`, outputs: {}`, ``, ``),
		want: []string{"spec.load.script.outputs", "at least 1 properties"}, rawOnly: true},
	{name: "remote write to no URL", patch: scripted(`, outputs: {prometheusRemoteWrite: {url: "prometheus:9090"}}`, ``, ``),
		want: []string{"spec.load.script.outputs.prometheusRemoteWrite.url", "http:// or https://"}},
	{name: "remote write with a password in the URL", patch: scripted(`, outputs: {prometheusRemoteWrite: {url: "http://a:b@prometheus/"}}`, ``, ``),
		want: []string{"spec.load.script.outputs.prometheusRemoteWrite.url", "without a user"}},
	{name: "remote write by Digest", patch: scripted(`, outputs: {prometheusRemoteWrite: {url: "http://a/", authentication: {scheme: Digest, secretName: a}}}`, ``, ``),
		want: []string{"spec.load.script.outputs.prometheusRemoteWrite.authentication.scheme", "Basic or Bearer"}},
	{name: "unknown statistic", patch: scripted(`, outputs: {prometheusRemoteWrite: {url: "http://a/", trendStatistics: [p99]}}`, ``, ``),
		want: []string{"spec.load.script.outputs.prometheusRemoteWrite.trendStatistics[0]", "should match"}},
	{name: "telemetry to a URL", patch: scripted(`, outputs: {openTelemetry: {endpoint: "http://a:4318"}}`, ``, ``),
		want: []string{"spec.load.script.outputs.openTelemetry.endpoint", "a host and a port"}},
	{name: "telemetry to a port that can't be", patch: scripted(`, outputs: {openTelemetry: {endpoint: "a:65536"}}`, ``, ``),
		want: []string{"spec.load.script.outputs.openTelemetry.endpoint", "a host and a port"}},
	{name: "telemetry to an empty label", patch: scripted(`, outputs: {openTelemetry: {endpoint: "a..b:4318"}}`, ``, ``),
		want: []string{"spec.load.script.outputs.openTelemetry.endpoint", "a host and a port"}},
	{name: "remote write to a port that can't be", patch: scripted(`, outputs: {prometheusRemoteWrite: {url: "http://a:99999/"}}`, ``, ``),
		want: []string{"spec.load.script.outputs.prometheusRemoteWrite.url", "http:// or https://"}},
	{name: "remote write to an empty label", patch: scripted(`, outputs: {prometheusRemoteWrite: {url: "http://a..b/"}}`, ``, ``),
		want: []string{"spec.load.script.outputs.prometheusRemoteWrite.url", "http:// or https://"}},
	{name: "unknown protocol of telemetry", patch: scripted(`, outputs: {openTelemetry: {endpoint: "a:4318", protocol: UDP}}`, ``, ``),
		want: []string{"spec.load.script.outputs.openTelemetry.protocol", `"HTTP", "GRPC"`}},
	{name: "script with resumed sessions", patch: strings.Replace(scripted(``, ``, ``), `readiness:`, `tls: {certificate: {selfSigned: {}}, sessionResumption: Enabled}, readiness:`, 1),
		want: []string{"spec.target.tls.sessionResumption", "k6 never resumes"}},
}
