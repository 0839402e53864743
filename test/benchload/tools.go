package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// load is the load that a tool makes.
type load struct {
	url         string
	connections int
	keepAlive   bool
	streams     int // of each HTTP/2 connection; 0 with HTTP/1.1
	rate        int // requests per second of open load; 0 for closed load
	duration    time.Duration
	// expected is the number of requests that the reference made in the same time, or 0 if
	// it didn't run.
	expected  int64
	directory string // for the tool's files
	groups    string // for the key exchange of TLS, or empty for the tool's own
}

// write writes a file for the tool and returns its path.
func (l *load) write(name, format string, args ...any) (string, error) {
	path := filepath.Join(l.directory, name)
	return path, os.WriteFile(path, fmt.Appendf(nil, format, args...), 0o600)
}

// tool is a load generator.
type tool struct {
	name string
	// program is the name or path of its executable.
	program string
	// http1, http2 and openLoad report which loads it can make.
	http1, http2, openLoad bool
	// arguments returns its command line for a load.
	arguments func(l *load) ([]string, error)
	// environment is added to this program's environment.
	environment []string
	// parse parses its output.
	parse func(output string) (metrics, error)
}

// metrics are the metrics that a tool reports.
type metrics struct {
	requests int64 // successful requests
	failed   int64
	seconds  float64 // duration of the requests
	// loadCPU is the CPU time of the requests without the tool's startup, or 0 if the tool
	// doesn't report it.
	loadCPU time.Duration
	// targetRate and achievedRate are requests per second of open load. delay is the 99th
	// percentile of the start delay. They are 0 if the tool doesn't report them.
	targetRate, achievedRate float64
	delay                    time.Duration
}

// reference is the tool that the others are compared with.
const reference = "wrk"

// http2Reference is the reference for HTTP/2.
const http2Reference = "h2load"

const assayLoadName = "assay-load"

func seconds(d time.Duration) string { return strconv.Itoa(int(d.Seconds())) }

// tools returns all tools, the references first. cache is the directory with built tools.
func tools(cache string) []tool {
	built := func(name string) string { return filepath.Join(cache, "bin", name) }
	return []tool{
		{name: reference, program: "wrk", http1: true, arguments: wrk, parse: parseWrk},
		{name: http2Reference, program: "h2load", http2: true, arguments: h2load, parse: parseH2load},
		{name: assayLoadName, program: built("assay-load"), http1: true, http2: true, openLoad: true, arguments: assayLoad, parse: parseAssayLoad},
		{name: "ab", program: "ab", http1: true, arguments: ab, parse: parseAB},
		{name: "h2load --h1", program: "h2load", http1: true, arguments: h2load, parse: parseH2load},
		{name: "hey", program: "hey", http1: true, openLoad: true, arguments: hey, parse: parseHey},
		{
			name: "k6, bodies discarded", program: built("k6"), http1: true, openLoad: true, arguments: k6, parse: parseK6,
			environment: []string{"K6_NO_USAGE_REPORT=true", "K6_AUTO_EXTENSION_RESOLUTION=false"},
		},
		{name: "siege -b", program: "siege", http1: true, arguments: siege, parse: parseSiege},
	}
}

// assayLoadTool returns the tool assay-load.
func assayLoadTool(cache string) tool {
	all := tools(cache)
	return all[slices.IndexFunc(all, func(t tool) bool { return t.name == assayLoadName })]
}

func wrk(l *load) ([]string, error) {
	args := []string{"-t1", "-c" + strconv.Itoa(l.connections), "-d" + seconds(l.duration) + "s"}
	if !l.keepAlive {
		args = append(args, "-H", "Connection: close")
	}
	return append(args, l.url), nil
}

// manyRequests is more than any tool makes in the time of a run.
const manyRequests = "100000000"

func ab(l *load) ([]string, error) {
	args := []string{"-q", "-t", seconds(l.duration), "-n", manyRequests, "-c", strconv.Itoa(l.connections)}
	if l.keepAlive {
		args = append(args, "-k")
	}
	return append(args, l.url), nil
}

func h2load(l *load) ([]string, error) {
	args := []string{"-t1", "-c" + strconv.Itoa(l.connections)}
	if l.streams > 0 {
		args = append(args, "-m"+strconv.Itoa(l.streams))
	} else {
		args = append(args, "--h1")
	}
	if l.groups != "" {
		args = append(args, "--groups="+strings.ReplaceAll(l.groups, ",", ":"))
	}
	if l.keepAlive {
		args = append(args, "-D"+seconds(l.duration))
	} else {
		// Without keep-alive, -D doesn't end the run (h2load 1.52).
		args = append(args, "-H", "connection: close", "-n"+strconv.FormatInt(max(l.expected, int64(l.connections)), 10))
	}
	return append(args, l.url), nil
}

func hey(l *load) ([]string, error) {
	args := []string{"-z", seconds(l.duration) + "s", "-c", strconv.Itoa(l.connections)}
	if !l.keepAlive {
		args = append(args, "-disable-keepalive")
	}
	if l.rate > 0 {
		// hey's rate is per connection.
		args = append(args, "-q", strconv.Itoa(l.rate/l.connections))
	}
	return append(args, l.url), nil
}

func siege(l *load) ([]string, error) {
	connection := "close"
	if l.keepAlive {
		connection = "keep-alive"
	}
	path, err := l.write("siegerc", "verbose = false\nquiet = true\njson_output = true\nlogging = false\nlimit = %d\nbenchmark = true\nconnection = %s\nparser = false\n",
		l.connections, connection)
	return []string{"-R", path, "-b", "-c" + strconv.Itoa(l.connections), "-t" + seconds(l.duration) + "S", l.url}, err
}

// k6Script is a load for stock k6 that does as little as k6 permits.
const k6Script = `import http from 'k6/http';
export const options = {
  discardResponseBodies: true, insecureSkipTLSVerify: true, noConnectionReuse: %t,
  scenarios: { load: %s },
};
export default function () { http.get('%s'); }
export function handleSummary(data) {
  const m = data.metrics;
  return { stdout: JSON.stringify({ requests: m.http_reqs.values.count, failed: m.http_req_failed.values.passes, milliseconds: data.state.testRunDurationMs }) };
}
`

func k6(l *load) ([]string, error) {
	scenario := fmt.Sprintf("{ executor: 'constant-vus', vus: %d, duration: '%s', gracefulStop: '1s' }", l.connections, l.duration)
	if l.rate > 0 {
		scenario = fmt.Sprintf("{ executor: 'constant-arrival-rate', rate: %d, timeUnit: '1s', duration: '%s', preAllocatedVUs: %d, gracefulStop: '1s' }",
			l.rate, l.duration, l.connections)
	}
	path, err := l.write("k6.js", k6Script, !l.keepAlive, scenario, l.url)
	return []string{"run", "--quiet", "--no-color", "--address", "", path}, err
}

// assayLoadPlan is a load for assay-load run.
const assayLoadPlan = `url: %s
load:
  client: {%s}
  %s
%s`

// planGroups returns the groups for the key exchange as a further field of a plan's tls.
func (l *load) planGroups() string {
	if l.groups == "" {
		return ""
	}
	return ", groups: [" + l.groups + "]"
}

func assayLoad(l *load) ([]string, error) {
	shape := fmt.Sprintf("closed: {connections: %d, durationSeconds: %s}", l.connections, seconds(l.duration))
	if l.rate > 0 {
		shape = fmt.Sprintf("open: {requestsPerSecond: %d, maxConnections: %d, durationSeconds: %s}", l.rate, l.connections, seconds(l.duration))
	}
	connection, security := "keepAlive: Enabled", ""
	switch {
	case l.streams > 0:
		connection = fmt.Sprintf("protocol: HTTP2, streams: %d", l.streams)
	case !l.keepAlive:
		connection = "keepAlive: Disabled"
	}
	if strings.HasPrefix(l.url, "https:") {
		security = fmt.Sprintf("tls: {verification: None%s}\n", l.planGroups())
	}
	path, err := l.write("plan.yaml", assayLoadPlan, l.url, connection, shape, security)
	return []string{"run", "-o", "json", path}, err
}
