package main

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestParse parses the unchanged output of the tools in Debian 12, which is in
// testdata.
func TestParse(t *testing.T) {
	for file, test := range map[string]struct {
		parse func(string) (metrics, error)
		want  metrics
	}{
		"wrk":       {parseWrk, metrics{requests: 14586, seconds: 1.02}},
		"wrk-close": {parseWrk, metrics{requests: 6114, seconds: 1}},
		"ab":        {parseAB, metrics{requests: 17541, seconds: 1.000}},
		"h2load":    {parseH2load, metrics{requests: 19852, seconds: 1}},
		"hey":       {parseHey, metrics{requests: 6228, seconds: 1.0028}},
		"siege":     {parseSiege, metrics{requests: 639, seconds: 0.23}},
	} {
		t.Run(file, func(t *testing.T) {
			output, err := os.ReadFile("testdata/" + file + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			if got, err := test.parse(string(output)); err != nil || got != test.want {
				t.Errorf("%+v, %v, want %+v", got, err, test.want)
			}
			for _, malformed := range []string{"", "{}\n", "connection refused"} {
				if got, err := test.parse(malformed); err == nil {
					t.Errorf("%q is parsed as %+v", malformed, got)
				}
			}
		})
	}
}

func TestParseFailures(t *testing.T) {
	for name, test := range map[string]struct {
		parse  func(string) (metrics, error)
		output string
		want   metrics
	}{
		"wrk": {parseWrk, "  20 requests in 1.50s, 7MB read\n  Socket errors: connect 1, read 50, write 2, timeout 3\n  Non-2xx or 3xx responses: 4\n",
			metrics{requests: 20, failed: 10, seconds: 1.5}},
		"ab": {parseAB, "Time taken for tests:   2.000 seconds\nComplete requests:      20\nFailed requests:        3\nNon-2xx responses:      2\n",
			metrics{requests: 15, failed: 5, seconds: 2}},
		"h2load": {parseH2load, "finished in 500.00ms, 1 req/s\nrequests: 9 total, 9 started, 9 done, 7 succeeded, 2 failed, 0 errored, 0 timeout\n",
			metrics{requests: 7, failed: 2, seconds: 0.5}},
		"hey": {parseHey, "  Total:\t2.0 secs\nStatus code distribution:\n  [200]\t10 responses\n  [500]\t3 responses\n\nError distribution:\n  [12]\tGet \"http://a\": EOF\n",
			metrics{requests: 10, failed: 15, seconds: 2}},
		"k6": {parseK6, `{"requests":10,"failed":1,"milliseconds":1500}`, metrics{requests: 9, failed: 1, seconds: 1.5}},
		"assay-load": {parseAssayLoad, `{"merged":{"requests":10,"errors":{"total":2,"length":2}},"durationMicroseconds":500000,` +
			`"clients":[{"usage":{"userCPUMicroseconds":30,"systemCPUMicroseconds":12}}]}`,
			metrics{requests: 8, failed: 2, seconds: 0.5, loadCPU: 42 * time.Microsecond}},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := test.parse(test.output); err != nil || got != test.want {
				t.Errorf("%+v, %v, want %+v", got, err, test.want)
			}
		})
	}
}

// TestMemory watches the memory of this process.
func TestMemory(t *testing.T) {
	p := &process{pid: os.Getpid(), ended: make(chan struct{})}
	var once sync.Once
	p.watch(time.Millisecond, func(resident, peak int64) {
		if resident < 1<<20 || peak < resident {
			t.Errorf("%d bytes, at most %d", resident, peak)
		}
		once.Do(func() { close(p.ended) })
	})
}

func TestArguments(t *testing.T) {
	l := &load{url: "https://127.0.0.1:1/1k", connections: 25, duration: 3 * time.Second, expected: 500, directory: t.TempDir(), groups: "P-256,P-384"}
	want := map[string]string{
		"wrk": "-t1 -c25 -d3s -H Connection: close", "ab": "-q -t 3 -n 100000000 -c 25 https", "h2load --h1": "--groups=P-256:P-384 -H connection: close -n500",
		"hey": "-disable-keepalive", "floor": "floor -c 25 -d 3s -k=false -tls=true -groups P-256,P-384 -rate 0 127.0.0.1:1/1k", "assay-load": "run -o json", "k6, bodies discarded": "run --quiet", "siege -b": "-b -c25 -t3S",
	}
	for _, tool := range tools("") {
		args, err := tool.arguments(l)
		if err != nil || !strings.Contains(strings.Join(args, " "), want[tool.name]) {
			t.Errorf("%s: %q, %v", tool.name, args, err)
		}
	}
	for file, want := range map[string]string{"plan.yaml": "keepAlive: Disabled}\n  closed: {connections: 25, durationSeconds: 3}\ntls: {verification: None, groups: [P-256,P-384]}", "siegerc": "connection = close", "k6.js": "noConnectionReuse: true"} {
		text, err := os.ReadFile(l.directory + "/" + file)
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v\n%s", file, err, text)
		}
	}
}

func TestOpenLoad(t *testing.T) {
	f, err := parseAssayLoad(`{"merged": {"requests": 990, "dropped": 10, "errors": {"total": 0}}, "durationMicroseconds": 2100000,
		"arrivals": {"due": 1000, "plannedMicroseconds": 2000000, "startedMicroseconds": 1999000},
		"summary": {"merged": {"latencies": {"delay": {"percentilesMicroseconds": {"50": 20, "99": 123}}}}}}`)
	if err != nil || f.targetRate != 500 || f.achievedRate != 495 || f.delay != 123*time.Microsecond {
		t.Errorf("%+v, %v", f, err)
	}
	l := &load{url: "http://127.0.0.1:1/", connections: 7, rate: 10, duration: time.Second, directory: t.TempDir()}
	if _, err := assayLoad(l); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(l.directory + "/plan.yaml")
	if err != nil || !strings.Contains(string(text), "open: {requestsPerSecond: 10, maxConnections: 7, durationSeconds: 1}") {
		t.Errorf("%v\n%s", err, text)
	}
}

func TestSkipped(t *testing.T) {
	open := &load{url: "http://127.0.0.1:1/", connections: 1, rate: 10, duration: time.Second, directory: t.TempDir()}
	all := tools("")
	if _, err := measure(t.Context(), &all[0], open, 0, nil); !errors.Is(err, errSkipped) {
		t.Errorf("error %v", err)
	}
}

func TestTable(t *testing.T) {
	one := func(cpu time.Duration) *sample {
		return &sample{metrics: metrics{requests: 1000, failed: 1, seconds: 2}, cpu: cpu, peak: 10 << 20, switches: 250, faults: 20}
	}
	rows := []row{
		{tool: "wrk", samples: []*sample{one(10 * time.Millisecond), one(20 * time.Millisecond), one(40 * time.Millisecond)}},
		{tool: "other", samples: []*sample{one(20 * time.Millisecond), nil, one(40 * time.Millisecond)}},
		{tool: "none", samples: []*sample{nil}, skipped: "has no open load"},
	}
	var text bytes.Buffer
	writeCase(&text, &cases[0], rows)
	for _, want := range []string{
		"\n1 KiB, keep-alive, 25 connections\n",
		"| wrk                    |      20.0 | 10.0–40.0       |       1.00 |        500 |       10 |    250.0 |     20.0 |      3 |",
		"| other                  |      30.0 | 20.0–40.0       |       1.50 |        500 |       10 |    250.0 |     20.0 |      2 |",
		"other had 2 failed requests.",
		"| none                   |         - | has no open load |",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, &text)
		}
	}
}
