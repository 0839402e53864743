package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
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
}

// tool is a load generator.
type tool struct {
	name string
	// program is the name or path of its executable.
	program string
	// arguments returns its command line for a load, or an error that says why it can't make
	// the load.
	arguments func(l *load) ([]string, error)
	// environment is added to this program's environment.
	environment []string
	// parse parses its output.
	parse func(output string) (figures, error)
	// extraTime is the time by which it may exceed the duration of its load beyond the others.
	extraTime time.Duration
}

// figures are the figures that a tool reports.
type figures struct {
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

func seconds(d time.Duration) string { return strconv.Itoa(int(d.Seconds())) }

// tools returns all tools, starting with the reference. cache is the directory with built tools.
func tools(cache string) []tool {
	built := func(name string) string { return filepath.Join(cache, "bin", name) }
	return []tool{
		{name: reference, program: "wrk", arguments: wrk, parse: parseWrk},
		assayLoadTool(cache),
		{name: "ab", program: "ab", arguments: ab, parse: parseAB},
		{name: "h2load --h1", program: "h2load", arguments: h2load, parse: parseH2load},
		{name: "hey", program: "hey", arguments: hey, parse: parseHey},
		{
			name: "k6, bodies discarded", program: built("k6"), arguments: k6, parse: parseK6,
			environment: []string{"K6_NO_USAGE_REPORT=true", "K6_AUTO_EXTENSION_RESOLUTION=false"},
		},
		{name: "siege -b", program: "siege", arguments: siege, parse: parseSiege},
	}
}

// assayLoadTool returns the tool assay-load.
func assayLoadTool(cache string) tool {
	return tool{name: "assay-load", program: filepath.Join(cache, "bin", "assay-load"), arguments: assayLoad, parse: parseAssayLoad}
}

func noOpenLoad(l *load) error {
	if l.rate > 0 {
		return fmt.Errorf("has no open load")
	}
	return nil
}

func wrk(l *load) ([]string, error) {
	args := []string{"-t1", "-c" + strconv.Itoa(l.connections), "-d" + seconds(l.duration) + "s"}
	if !l.keepAlive {
		args = append(args, "-H", "Connection: close")
	}
	return append(args, l.url), noOpenLoad(l)
}

// manyRequests is more than any tool makes in the time of a run.
const manyRequests = "100000000"

func ab(l *load) ([]string, error) {
	args := []string{"-q", "-t", seconds(l.duration), "-n", manyRequests, "-c", strconv.Itoa(l.connections)}
	if l.keepAlive {
		args = append(args, "-k")
	}
	return append(args, l.url), noOpenLoad(l)
}

func h2load(l *load) ([]string, error) {
	args := []string{"--h1", "-t1", "-c" + strconv.Itoa(l.connections)}
	if l.keepAlive {
		args = append(args, "-D"+seconds(l.duration))
	} else {
		// Without keep-alive, -D doesn't end the run (h2load 1.52).
		args = append(args, "-H", "connection: close", "-n"+strconv.FormatInt(max(l.expected, int64(l.connections)), 10))
	}
	return append(args, l.url), noOpenLoad(l)
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
	if err := noOpenLoad(l); err != nil {
		return nil, err
	}
	connection := "close"
	if l.keepAlive {
		connection = "keep-alive"
	}
	path := filepath.Join(l.directory, "siegerc")
	text := fmt.Sprintf("verbose = false\nquiet = true\njson_output = true\nlogging = false\nlimit = %d\nbenchmark = true\nconnection = %s\nparser = false\n", l.connections, connection)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return nil, err
	}
	return []string{"-R", path, "-b", "-c" + strconv.Itoa(l.connections), "-t" + seconds(l.duration) + "S", l.url}, nil
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
	path := filepath.Join(l.directory, "k6.js")
	if err := os.WriteFile(path, fmt.Appendf(nil, k6Script, !l.keepAlive, scenario, l.url), 0o600); err != nil {
		return nil, err
	}
	return []string{"run", "--quiet", "--no-color", "--address", "", path}, nil
}

// assayLoadPlan is a load for assay-load run.
const assayLoadPlan = `url: %s
load:
  connection: {keepAlive: %s}
  %s
%s`

func assayLoad(l *load) ([]string, error) {
	shape := fmt.Sprintf("closed: {connections: %d, durationSeconds: %s}", l.connections, seconds(l.duration))
	if l.rate > 0 {
		shape = fmt.Sprintf("open: {requestsPerSecond: %d, maxConnections: %d, durationSeconds: %s}", l.rate, l.connections, seconds(l.duration))
	}
	keepAlive, security := "Enabled", ""
	if !l.keepAlive {
		keepAlive = "Disabled"
	}
	if l.url[:len("https")] == "https" {
		security = "tls: {verification: None}\n"
	}
	path := filepath.Join(l.directory, "plan.yaml")
	text := fmt.Sprintf(assayLoadPlan, l.url, keepAlive, shape, security)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return nil, err
	}
	return []string{"run", "-o", "json", path}, nil
}
