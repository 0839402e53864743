package validity_test

import (
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/validity"
)

func TestConcurrencyLimited(t *testing.T) {
	pool := simulation{seed: 5, seconds: 10, connections: 149, threads: 150, work: 0.05, cpu: 0.0001, constant: true}
	of := func(s simulation, limit int64) result.Finding {
		return find(s.run(), "ConcurrencyLimited", validity.Declared{Concurrency: validity.Limit{Setting: "maxThreads", Value: limit}})
	}
	more, thinking, rated := pool, pool, pool
	more.connections, thinking.connections, thinking.think = 300, 300, 0.1
	rated.connections, rated.rate, rated.threads = 0, 4500, 1000
	for name, tc := range map[string]struct {
		got  result.Finding
		want string // empty when nothing is to be found
	}{
		"149 connections for 150 threads":       {of(pool, 150), ""},
		"300 connections for 150 threads":       {of(more, 150), "requests were in flight on average, but the server processes at most 150 at a time (maxThreads)"},
		"300 connections that think in between": {of(thinking, 150), ""},
		"open load of 225 in flight":            {of(rated, 150), "Increase maxThreads"},
		"no limit":                              {of(more, 0), ""},
	} {
		if (tc.got.Severity == result.Warns) != (tc.want != "") || !strings.Contains(tc.got.Message, tc.want) {
			t.Errorf("%s: found %s %q, want %q", name, tc.got.Severity, tc.got.Message, tc.want)
		}
	}
}

// TestConnectionsAndStreamsLimited checks the limits of connections and of their streams.
func TestConnectionsAndStreamsLimited(t *testing.T) {
	pool := simulation{seed: 5, seconds: 10, connections: 149, threads: 150, work: 0.05, cpu: 0.0001, constant: true}
	kept := pool.run()
	kept.Run.Load, kept.Run.AllConnections = result.LoadClosed, 149
	streams := pool.run() // as 7 connections of 21 streams
	streams.Run.Load, streams.Run.AllConnections, streams.Run.Streams = result.LoadClosed, 7, 21
	open := pool.run()
	open.Run.Load, open.Run.AllConnections = result.LoadOpen, 1000
	limit := func(setting string, value int64) validity.Limit {
		return validity.Limit{Setting: setting, Value: value}
	}
	for name, tc := range map[string]struct {
		of       *result.Result
		declared validity.Declared
		want     string // empty when nothing is to be found
	}{
		"as many connections as it serves": {kept, validity.Declared{Connections: limit("connector.maxConnections", 149)}, ""},
		"one connection more": {kept, validity.Declared{Connections: limit("connector.maxConnections", 148)},
			"had 149 connections, but the server serves at most 148 at a time (connector.maxConnections)"},
		"an open load that may use more":  {open, validity.Declared{Connections: limit("connector.maxConnections", 149)}, ""},
		"an open load that uses more":     {open, validity.Declared{Connections: limit("connector.maxConnections", 100)}, "Increase connector.maxConnections"},
		"streams of HTTP/2":               {streams, validity.Declared{Concurrency: limit("maxThreads", 150), Streams: limit("execution", 22)}, ""},
		"more streams than are worked on": {streams, validity.Declared{Concurrency: limit("maxThreads", 150), Streams: limit("execution", 20)}, "at most 140 at a time (execution, 20 on each of 7 connections)"},
		"more streams than threads":       {streams, validity.Declared{Concurrency: limit("maxThreads", 50), Streams: limit("execution", 20)}, "at most 50 at a time (maxThreads)"},
		"streams without threads":         {streams, validity.Declared{Streams: limit("execution", 20)}, "Increase execution"},
		"a limit of streams of HTTP/1.1":  {kept, validity.Declared{Streams: limit("execution", 1)}, ""},
	} {
		got := find(tc.of, "ConcurrencyLimited", tc.declared)
		if (got.Severity == result.Warns) != (tc.want != "") || !strings.Contains(got.Message, tc.want) {
			t.Errorf("%s: found %s %q, want %q", name, got.Severity, got.Message, tc.want)
		}
	}
}

func TestTargetNotBusy(t *testing.T) {
	// pool is a server with threads that mostly wait for something else than a CPU.
	pool := simulation{seed: 5, seconds: 10, connections: 100, threads: 4, work: 0.01, cpu: 0.0005, noise: 0.1}
	with := func(change func(*simulation)) simulation {
		s := pool
		change(&s)
		return s
	}
	unchanged := func(*result.Result) {}
	for name, tc := range map[string]struct {
		of      simulation
		change  func(*result.Result)
		metrics []string // nil when nothing is to be found
	}{
		"four threads for 100 connections": {pool, unchanged, []string{
			"The target had CPU time left (2", "98 of 100 connections were waiting", "times as long as the quickest", "which carried 0.4 MB/s",
		}},
		"four threads, equal work": {with(func(s *simulation) { s.constant = true }), unchanged, []string{"times as long as the quickest"}},
		"an accept queue of 50": {with(func(s *simulation) { s.connections, s.backlog, s.work, s.threads, s.think = 200, 50, 0.0014, 1, 0.001 }), unchanged, []string{
			"a few waited for the others. Opening a connection took up to", "as when the accept queue is full",
		}},
		"a backend at its limit, too": {pool, func(r *result.Result) {
			r.Environment.Backends = []result.BackendEnvironment{{Name: "tomcat", CPULimit: 500}}
			for i := range r.Series {
				r.Series[i].BackendCPU = map[string]int64{"tomcat": 100_000}
			}
		}, []string{"(server 2", "%, tomcat 20.0% of the limit)"}},

		"its CPU": {with(func(s *simulation) { s.cpu = 0.0025 }), unchanged, nil},
		"the CPU of a backend": {pool, func(r *result.Result) {
			r.Environment.Backends = []result.BackendEnvironment{{Name: "tomcat", CPULimit: 500}}
			for i := range r.Series {
				r.Series[i].BackendCPU = map[string]int64{"tomcat": 480_000}
			}
		}, nil},
		"the CPU that server and backend share": {pool, func(r *result.Result) {
			r.Environment.Backends = []result.BackendEnvironment{{Name: "tomcat", CPULimit: 1000}}
			r.Environment.SharedCPULimit = 450
			for i := range r.Series {
				r.Series[i].BackendCPU = map[string]int64{"tomcat": 200_000}
			}
		}, nil},
		"a backend that nobody can see": {pool, func(r *result.Result) {
			r.Environment.Backends = []result.BackendEnvironment{{Name: "tomcat", CPULimit: 500}}
		}, nil},
		"the number of connections":           {with(func(s *simulation) { s.connections, s.threads, s.constant = 25, 100, true }), unchanged, nil},
		"as many, with random times":          {with(func(s *simulation) { s.connections, s.threads = 25, 100 }), unchanged, nil},
		"one connection":                      {with(func(s *simulation) { s.connections = 1 }), unchanged, nil},
		"think times":                         {with(func(s *simulation) { s.think, s.threads = 0.5, 10 }), unchanged, nil},
		"the rate":                            {with(func(s *simulation) { s.rate, s.connections = 500, 0 }), unchanged, nil},
		"a client without CPU":                {with(func(s *simulation) { s.clientCPU = func(int64) float64 { return 0.95 } }), unchanged, nil},
		"the target's CPU limit, in bursts":   {pool, func(r *result.Result) { r.Server.End.Throttled = second }, nil},
		"several kinds of requests":           {pool, func(r *result.Result) { r.Run.Requests = append(r.Run.Requests, result.Request{Path: "/b"}) }, nil},
		"a load that goes through stages":     {pool, func(r *result.Result) { r.Levels = make([]result.Level, 1) }, nil},
		"four seconds":                        {with(func(s *simulation) { s.seconds = 4 }), unchanged, nil},
		"a target whose usage nobody can see": {pool, func(r *result.Result) { r.Environment.TargetCPULimit = 0 }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := tc.of.run()
			tc.change(r)
			got := find(r, "TargetNotBusy", validity.Declared{ThinkTime: tc.of.think > 0.1})
			if (got.Severity == result.Warns) != (tc.metrics != nil) {
				t.Errorf("found %s %q", got.Severity, got.Message)
			}
			for _, text := range tc.metrics {
				if !strings.Contains(got.Message, text) {
					t.Errorf("%q lacks %q", got.Message, text)
				}
			}
		})
	}
}
