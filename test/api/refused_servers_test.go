package api

import (
	"fmt"
	"strings"
	"testing"
)

// asServer makes base's target another server, so that a case can name the
// server's fields alone.
func asServer(name, fields string) string {
	return `spec: {target: {server: {tomcat: null, ` + name + `: ` + fields + `}}}`
}

// list is so many items of YAML, each with its number.
func list(items int, format string) string {
	var all []string
	for i := range items {
		all = append(all, fmt.Sprintf(format, i))
	}
	return strings.Join(all, ", ")
}

// numbers are fields of servers with their bounds; a maximum of 0 is none.
var numbers = []struct {
	server, field    string
	minimum, maximum int
}{
	{"tomcat", "connector.port", 1024, 65535},
	{"tomcat", "connector.maxThreads", 1, 100000},
	{"tomcat", "connector.minSpareThreads", 1, 100000},
	{"tomcat", "connector.acceptCount", 1, 100000},
	{"tomcat", "connector.maxConnections", 1, 1000000},
	{"tomcat", "connector.connectionTimeoutMilliseconds", 1, 0},
	{"tomcat", "connector.keepAlive.maxRequests", -1, 0},
	{"tomcat", "connector.keepAlive.timeoutMilliseconds", 1, 0},
	{"httpd", "port", 1024, 65535},
	{"httpd", "startServers", 1, 20000},
	{"httpd", "serverLimit", 1, 20000},
	{"httpd", "threadsPerChild", 1, 15000},
	{"httpd", "maxRequestWorkers", 1, 1000000},
	{"httpd", "listenBacklog", 1, 100000},
	{"httpd", "keepAlive.maxRequests", 0, 0},
	{"httpd", "keepAlive.timeoutMilliseconds", 1, 0},
	{"nginx", "port", 1024, 65535},
	{"nginx", "workerProcesses", 1, 1024},
	{"nginx", "workerConnections", 16, 1000000},
	{"nginx", "backlog", 1, 100000},
	{"nginx", "keepAlive.maxRequests", 1, 0},
	{"nginx", "keepAlive.timeoutMilliseconds", 1, 0},
	{"nginx", "upstreamKeepAlive.connections", 0, 1000000},
	{"nginx", "upstreamKeepAlive.maxRequests", 1, 0},
	{"nginx", "upstreamKeepAlive.timeoutMilliseconds", 1, 0},
	{"generic", "port", 1, 65535},
}

// choices are fields of servers with the values that they may have.
var choices = []struct{ server, field, values string }{
	{"tomcat", "connector.protocol", `"NIO", "NIO2", "APR"`},
	{"tomcat", "connector.executor", `"Internal", "Shared", "VirtualThreads"`},
	{"tomcat", "connector.sendfile", `"Enabled", "Disabled"`},
	{"tomcat", "connector.compression", `"Enabled", "Disabled"`},
	{"tomcat", "connector.http2", `"Enabled", "Disabled"`},
	{"tomcat", "connector.honorCipherOrder", `"Enabled", "Disabled"`},
	{"tomcat", "applications", `"Image", "Content"`},
	{"generic", "gcLog", `"Enabled", "Disabled"`},
	{"tomcat", "accessLog", `"Enabled", "Disabled"`},
	{"tomcat", "gcLog", `"Enabled", "Disabled"`},
	{"httpd", "mpm", `"Event", "Worker", "Prefork"`},
	{"httpd", "sendfile", `"Enabled", "Disabled"`},
	{"httpd", "accessLog", `"Enabled", "Disabled"`},
	{"httpd", "http2", `"Enabled", "Disabled"`},
	{"httpd", "keepAlive.mode", `"Enabled", "Disabled"`},
	{"nginx", "reusePort", `"Enabled", "Disabled"`},
	{"nginx", "sendfile", `"Enabled", "Disabled"`},
	{"nginx", "accessLog", `"Enabled", "Disabled"`},
	{"nginx", "http2", `"Enabled", "Disabled"`},
	{"nginx", "keepAlive.mode", `"Enabled", "Disabled"`},
}

// at is YAML with a value at a path.
func at(path, value string) string {
	steps := strings.Split(path, ".")
	return `{` + strings.Join(steps, `: {`) + `: ` + value + strings.Repeat(`}`, len(steps))
}

var serverRefusals = []refusal{
	// which server
	{name: "no server in it", patch: `spec: {target: {server: {tomcat: null}}}`,
		want: []string{"spec.target.server", "exactly one of the fields in [tomcat httpd nginx "}},
	{name: "httpd and nginx", patch: asServer("httpd", `{}, nginx: {}`),
		want: []string{"spec.target.server", "exactly one of the fields in [tomcat httpd nginx "}},
	{name: "shared CPU without backends", patch: `spec: {target: {sharedCPU: 1}}`,
		want: []string{"spec.target.sharedCPU", "for targets with backends"}},
	{name: "shared CPU that must be exclusive", patch: `spec: {target: {sharedCPU: 1, resources: {cpuPinning: Required}, backends: [{name: a, image: a, server: {generic: {port: 9000}}}]}}`,
		want: []string{"spec.target.sharedCPU", "must not be set when cpuPinning"}},
	{name: "shared CPU that must be a backend's own", patch: `spec: {target: {sharedCPU: 1, backends: [{name: a, image: a, resources: {cpuPinning: Required}, server: {generic: {port: 9000}}}]}}`,
		want: []string{"spec.target.sharedCPU", "must not be set when cpuPinning"}},
	{name: "too little shared CPU", patch: `spec: {target: {sharedCPU: 99m, backends: [{name: a, image: a, server: {generic: {port: 9000}}}]}}`,
		want: []string{"spec.target.sharedCPU", "at least 100m"}},
	{name: "external and Tomcat", patch: `spec: {target: {server: {external: {url: "http://a"}}}}`,
		want: []string{"spec.target.server", "exactly one of the fields in [tomcat httpd nginx "}},

	// Tomcat
	{name: "threads beside virtual threads", patch: `spec: {target: {server: {tomcat: {connector: {executor: VirtualThreads}}}}}`,
		want: []string{"spec.target.server.tomcat.connector.executor", "must not be set with the executor VirtualThreads", "omit them"}},
	{name: "spare threads beside virtual threads", patch: asServer("tomcat", `{connector: {executor: VirtualThreads, minSpareThreads: 1, maxThreads: null}}`),
		want: []string{"spec.target.server.tomcat.connector.executor", "must not be set with the executor VirtualThreads", "omit them"}},
	{name: "more spare threads than threads", patch: `spec: {target: {server: {tomcat: {connector: {minSpareThreads: 201}}}}}`,
		want: []string{"spec.target.server.tomcat.connector.minSpareThreads", "at most maxThreads"}},
	{name: "relative home", patch: asServer("tomcat", `{home: tomcat}`),
		want: []string{"spec.target.server.tomcat.home", "an absolute path of letters"}},
	{name: "relative base", patch: asServer("tomcat", `{base: tomcat}`),
		want: []string{"spec.target.server.tomcat.base", "an absolute path of letters"}},
	{name: "content as Tomcat's only application without content", patch: `spec: {target: {server: {tomcat: {applications: Content}}, content: null}}`,
		want: []string{"spec.target.server.tomcat.applications", "must not be Content without target.content"}},
	{name: "size of what isn't compressed", patch: `spec: {target: {server: {tomcat: {connector: {compressionMinSizeBytes: 1}}}}}`,
		want: []string{"spec.target.server.tomcat.connector.compressionMinSizeBytes", "unless compression is Enabled"}},
	{name: "limits of no HTTP/2", patch: `spec: {target: {server: {tomcat: {connector: {http2Limits: {maxConcurrentStreams: 1}}}}}}`,
		want: []string{"spec.target.server.tomcat.connector.http2Limits", "unless http2 is Enabled"}},
	{name: "no streams", patch: `spec: {target: {server: {tomcat: {connector: {http2: Enabled, http2Limits: {maxConcurrentStreams: 0, maxConcurrentStreamExecution: 0}}}}}}`,
		want: []string{"http2Limits.maxConcurrentStreams", "http2Limits.maxConcurrentStreamExecution"}},
	{name: "order of no ciphers", patch: `spec: {target: {server: {tomcat: {connector: {honorCipherOrder: Enabled}}}}}`,
		want: []string{"spec.target.server.tomcat", "tlsImplementation and honorCipherOrder need target.tls"}},
	{name: "attribute with a quote in its name", patch: `spec: {target: {server: {tomcat: {connector: {attributes: [{name: 'a"', value: b}]}}}}}`,
		want: []string{"spec.target.server.tomcat.connector.attributes[0].name", "must be the name of an attribute"}},
	{name: "attribute with a line break", patch: `spec: {target: {server: {tomcat: {connector: {attributes: [{name: a, value: "b\nc"}]}}}}}`,
		want: []string{"spec.target.server.tomcat.connector.attributes[0].value", "printable ASCII"}},
	{name: "attribute with a system property", patch: `spec: {target: {server: {tomcat: {connector: {attributes: [{name: a, value: "${user.home}"}]}}}}}`,
		want: []string{"spec.target.server.tomcat.connector.attributes[0].value", "no ${, which Tomcat would replace"}},
	{name: "no options", patch: asServer("tomcat", `{jvmOptions: []}`), rawOnly: true,
		want: []string{"spec.target.server.tomcat.jvmOptions", "at least 1 item"}},
	{name: "too many options", patch: asServer("tomcat", `{jvmOptions: [`+list(65, `-Da=%d`)+`]}`),
		want: []string{"spec.target.server.tomcat.jvmOptions", "at most 64 items"}},

	// httpd
	{name: "threads with processes", patch: asServer("httpd", `{mpm: Prefork, threadsPerChild: 1}`),
		want: []string{"spec.target.server.httpd.threadsPerChild", "must not be set with the mpm Prefork", "omit it"}},
	{name: "more processes at first than ever", patch: asServer("httpd", `{startServers: 3, serverLimit: 2}`),
		want: []string{"spec.target.server.httpd.startServers", "at most serverLimit"}},
	{name: "part of a process", patch: asServer("httpd", `{maxRequestWorkers: 150, threadsPerChild: 64}`),
		want: []string{"spec.target.server.httpd.maxRequestWorkers", "multiple of threadsPerChild"}},
	{name: "more requests than threads", patch: asServer("httpd", `{maxRequestWorkers: 192, threadsPerChild: 64, serverLimit: 2}`),
		want: []string{"spec.target.server.httpd.maxRequestWorkers", "at most serverLimit times threadsPerChild"}},
	{name: "more requests than threads by default", patch: asServer("httpd", `{maxRequestWorkers: 130, serverLimit: 2}`),
		want: []string{"spec.target.server.httpd.maxRequestWorkers", "must be at most serverLimit times threadsPerChild, o"}},
	{name: "more requests than processes", patch: asServer("httpd", `{mpm: Prefork, maxRequestWorkers: 3, serverLimit: 2}`),
		want: []string{"spec.target.server.httpd.maxRequestWorkers", "at most serverLimit with the mpm Prefork"}},
	{name: "limits of no keep-alive", patch: asServer("httpd", `{keepAlive: {mode: Disabled, maxRequests: 1}}`),
		want: []string{"spec.target.server.httpd.keepAlive.mode", "must not be set with the mode Disabled", "omit them"}},
	{name: "relative home of httpd", patch: asServer("httpd", `{home: apache2}`),
		want: []string{"spec.target.server.httpd.home", "an absolute path of letters"}},
	{name: "relative httpd", patch: asServer("httpd", `{executable: httpd}`),
		want: []string{"spec.target.server.httpd.executable", "an absolute path of letters"}},

	// nginx
	{name: "time of no keep-alive", patch: asServer("nginx", `{keepAlive: {mode: Disabled, timeoutMilliseconds: 1}}`),
		want: []string{"spec.target.server.nginx.keepAlive.mode", "must not be set with the mode Disabled", "omit them"}},
	{name: "connections to backends without a backend", patch: asServer("nginx", `{upstreamKeepAlive: {connections: 1}}`),
		want: []string{"spec.target.server.nginx.upstreamKeepAlive", "must not be set without forward"}},
	{name: "limits of no connections to backends", patch: `spec: {target: {server: {tomcat: null, nginx: {forward: [{pathPrefix: /, backend: a}], upstreamKeepAlive: {connections: 0, maxRequests: 1}}}, backends: [{name: a, ` + generic + `}]}}`,
		want: []string{"spec.target.server.nginx.upstreamKeepAlive.connections", "must not be 0 with maxRequests", "omit it"}},
	{name: "relative nginx", patch: asServer("nginx", `{executable: nginx}`),
		want: []string{"spec.target.server.nginx.executable", "an absolute path of letters"}},

	// the user's own configuration
	{name: "configuration without a name", patch: asServer("nginx", `{configuration: {}}`),
		want: []string{"spec.target.server.nginx.configuration.configMapName", "Required value"}, rawOnly: true},
	{name: "configuration that is a path", patch: asServer("nginx", `{configuration: {configMapName: a/b}}`),
		want: []string{"spec.target.server.nginx.configuration.configMapName", "must be a name of lowercase letters"}},
	{name: "configuration in capitals", patch: asServer("httpd", `{configuration: {configMapName: A}}`),
		want: []string{"spec.target.server.httpd.configuration.configMapName", "must be a name of lowercase letters"}},
}

// TestBadServersAreRefused merges into base, which is for Tomcat.
func TestBadServersAreRefused(t *testing.T) {
	namespace := newNamespace(t)
	for _, r := range serverRefusals {
		t.Run(r.name, func(t *testing.T) { r.check(t, base, namespace) })
	}
	for _, n := range numbers {
		field := "spec.target.server." + n.server + "." + n.field
		below := refusal{patch: asServer(n.server, at(n.field, fmt.Sprint(n.minimum-1))), want: []string{field, fmt.Sprint("greater than or equal to ", n.minimum)}}
		t.Run(field+" too low", func(t *testing.T) { below.check(t, minimal, namespace) })
		if n.maximum == 0 {
			continue
		}
		above := refusal{patch: asServer(n.server, at(n.field, fmt.Sprint(n.maximum+1))), want: []string{field, fmt.Sprint("less than or equal to ", n.maximum)}}
		t.Run(field+" too high", func(t *testing.T) { above.check(t, minimal, namespace) })
	}
	for _, c := range choices {
		field := "spec.target.server." + c.server + "." + c.field
		unknown := refusal{patch: asServer(c.server, at(c.field, "Other")), want: []string{field, "supported values: " + c.values}}
		t.Run(field, func(t *testing.T) { unknown.check(t, minimal, namespace) })
	}
}
