package driver

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/assay-dev/assay/internal/load/recorder"
	"github.com/assay-dev/assay/internal/load/testserver"
	"github.com/assay-dev/assay/internal/load/usage"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/targettls"
)

// tapRecorder is a recorder that also keeps every outcome.
type tapRecorder struct {
	*recorder.Recorder
	mu       sync.Mutex
	outcomes []recorder.Outcome
	made     map[int]int // requests by connection or stream
}

func (r *tapRecorder) Record(connection int, o *recorder.Outcome) {
	r.Recorder.Record(connection, o)
	r.mu.Lock()
	r.outcomes = append(r.outcomes, *o)
	if r.made == nil {
		r.made = map[int]int{}
	}
	r.made[connection]++
	r.mu.Unlock()
}

func (r *tapRecorder) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.outcomes)
}

// stageResult holds the results of a stage.
type stageResult struct {
	*result.Measure
	causes    result.Causes
	outcomes  []recorder.Outcome
	made      map[int]int // requests by connection or stream
	elapsed   time.Duration
	arrivals  *result.Arrivals // of open load
	statuses  result.Statuses
	encodings result.Encodings
	requests  map[string]result.RequestMetrics // by name
}

// runMode says whether loops run the connections in tests, or goroutines. If it
// is nil, the load chooses.
var runMode *bool

// lastStream is the highest stream number of connections in tests, or 0 for the protocol's.
var lastStream uint32

// inBothModes runs a test with connections that loops run, and with connections
// that goroutines run.
func inBothModes(t *testing.T, test func(*testing.T)) {
	for name, looped := range map[string]bool{"loops": true, "goroutines": false} {
		t.Run(name, func(t *testing.T) {
			runMode = &looped
			defer func() { runMode = nil }()
			test(t)
		})
	}
}

// newLoad is like New, but follows runMode and lastStream.
func newLoad(t *testing.T, plan *session.Plan, address string, access Access) *Load {
	t.Helper()
	load, err := New(t.Context(), plan, address, access)
	if err != nil {
		t.Fatal(err)
	}
	if runMode != nil {
		load.looped = *runMode
	}
	load.lastStream = lastStream
	return load
}

// drive runs a plan's measurement against a server and checks what must hold for
// every stage: the sum of its seconds equals its total, as does that of its requests, and it leaves no
// goroutine and no connection behind.
func drive(t *testing.T, plan session.Plan, address string) stageResult {
	t.Helper()
	return driveWith(t, plan, address, Access{TLS: tlsConfig(t, &plan, address, "")})
}

// tlsConfig returns the TLS configuration of a plan with the files in directory,
// or nil without TLS.
func tlsConfig(tb testing.TB, plan *session.Plan, address, directory string) *tls.Config {
	tb.Helper()
	if plan.TLS == nil {
		return nil
	}
	config, err := targettls.Config(plan.TLS, address, directory)
	if err != nil {
		tb.Fatal(err)
	}
	return config
}

// driveWith is like drive, with what the load needs beyond its plan.
func driveWith(t *testing.T, plan session.Plan, address string, access Access) stageResult {
	t.Helper()
	usage.Read() // opens what the process keeps open
	before, files := runtime.NumGoroutine(), descriptors(t)
	load := newLoad(t, &plan, address, access)
	r := &tapRecorder{Recorder: recorder.New(2)}
	r.KeepRequests(load.NamedRequests())
	stage := load.NewStage(plan.Measurement, r)
	const users = 2
	var group sync.WaitGroup
	for i := range users {
		group.Go(func() { stage.Run(i, users) })
	}
	await(t, stage.Ready(), "the connections to be ready")

	start := time.Now()
	var seconds result.Measure
	sampler := recorder.NewSampler(r.Recorder, start, nil, func(second *result.ClientSecond) {
		seconds.Merge(&second.Measure)
	})
	go stage.Begin(start)
	sampler.Run(stage.Done())
	elapsed := time.Since(start)
	group.Wait()
	stage.Stop()

	sameMeasure(t, &seconds, r.Total())
	causes := r.Causes()
	checkCauses(t, r.Total().Errors, causes)
	statuses, requests := r.Parts()
	sameParts(t, statuses, requests, r)
	byName := map[string]result.RequestMetrics{}
	for i, name := range plan.RequestNames()[:len(requests)] {
		byName[name] = requests[i]
	}
	if first, last, ok := stage.Span(); r.Total().Requests > 0 && (!ok || first.Before(start) || last.Before(first)) {
		t.Errorf("the stage spans %v to %v, it began %v", first, last, start)
	}
	// The goroutine of the stage's context ends a little after Stop.
	eventually(t, func() bool { return runtime.NumGoroutine() <= before }, "the stage's goroutines to end")
	eventually(t, func() bool { return descriptors(t) <= files }, "the stage's connections to be closed")
	return stageResult{Measure: r.Total(), causes: causes, outcomes: r.outcomes, made: r.made, elapsed: elapsed, arrivals: stage.Arrivals(), statuses: statuses, encodings: r.Encodings(), requests: byName}
}

// sameParts checks that statuses and metrics of single requests add up to those of all, and to the outcomes.
func sameParts(t *testing.T, statuses result.Statuses, requests []result.RequestMetrics, r *tapRecorder) {
	t.Helper()
	total := r.Total()
	if err := errors.Join(statuses.Check(&total.Counts), result.CheckRequests(requests, total)); err != nil {
		t.Error(err)
	}
	want := result.Statuses{}
	made := make([]int64, len(requests))
	for i := range r.outcomes {
		if o := &r.outcomes[i]; o.Status != 0 {
			want[o.Status]++
		}
		if len(requests) > 0 {
			made[r.outcomes[i].Named]++
		}
	}
	if !maps.Equal(statuses, want) {
		t.Errorf("statuses %v, want %v", statuses, want)
	}
	for i := range requests {
		if requests[i].Requests != made[i] {
			t.Errorf("request %d: %d requests, want %d", i, requests[i].Requests, made[i])
		}
	}
}

// descriptors returns the number of the process's open files.
func descriptors(t *testing.T) int {
	t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(open)
}

// plan returns a closed load of a number of requests for one path.
func plan(connections int, requests int64, path string) session.Plan {
	return session.Plan{
		Connections:         connections,
		KeepAlive:           true,
		TimeoutMicroseconds: 20_000_000,
		Requests:            []session.PlannedRequest{{Path: path, Weight: 1, Length: -1}},
		Measurement:         session.Amount{Requests: requests},
	}
}

func sameMeasure(t *testing.T, got, want *result.Measure) {
	t.Helper()
	g, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	w, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if string(g) != string(w) {
		t.Errorf("measures differ:\ngot  %s\nwant %s", g, w)
	}
}

func await(t *testing.T, done <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatalf("gave up waiting for %s", what)
	}
}

// eventually polls for a condition that nothing signals.
func eventually(t *testing.T, holds func() bool, what string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !holds(); {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<16)
			t.Fatalf("gave up waiting for %s\n%s", what, stacks[:runtime.Stack(stacks, true)])
		}
		runtime.Gosched()
	}
}

// mixed responds with a known mix of statuses and bodies.
func mixed(r testserver.Request) testserver.Answer {
	switch {
	case strings.HasPrefix(r.Path, "/small"):
		return testserver.OK(100)
	case r.Path == "/large":
		return testserver.OK(150_000)
	case r.Path == "/chunked":
		return testserver.Text(12, testserver.Stay,
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;name=value\r\nhello\r\n", "7\r\n, world\r\n0\r\nX-Sum: 1\r\n\r\n")
	case r.Path == "/none":
		return testserver.Text(0, testserver.Stay, "HTTP/1.1 204 No Content\r\n\r\n")
	case r.Path == "/found":
		return testserver.Status("302 Found")
	case r.Path == "/closing":
		return testserver.Text(2, testserver.Close, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok")
	default:
		return testserver.Status("500 Internal Server Error")
	}
}

func TestCountsMatchServer(t *testing.T) { inBothModes(t, testCountsMatchServer) }

func testCountsMatchServer(t *testing.T) {
	weighted := plan(10, 3000, "/small?a=1")
	weighted.Seed = 7
	weighted.Requests = append(weighted.Requests,
		session.PlannedRequest{Path: "/large", Weight: 2, Length: 150_000},
		session.PlannedRequest{Path: "/chunked", Weight: 3, Length: 12},
		session.PlannedRequest{Path: "/none", Weight: 1, Length: 0},
		session.PlannedRequest{Path: "/found", Weight: 1, Length: -1},
		session.PlannedRequest{Path: "/closing", Weight: 1, Length: -1},
		session.PlannedRequest{Path: "/failing", Weight: 1, Length: -1},
	)
	unkept := weighted
	unkept.KeepAlive, unkept.Measurement.Requests = false, 500
	for name, p := range map[string]session.Plan{
		"keep-alive":                  weighted,
		"a connection each":           unkept,
		"more connections than loads": plan(50, 20, "/small"),
	} {
		t.Run(name, func(t *testing.T) {
			server := testserver.New(t, mixed)
			got := drive(t, p, server.Address())
			eventually(t, func() bool { return server.Open() == 0 }, "the connections to be closed")
			server.Stop()
			seen := server.Seen()

			var errors result.ErrorCounts
			errors[result.ErrorStatus] = seen.Paths["/failing"]
			want := result.Counts{
				Requests:      p.Measurement.Requests,
				Errors:        errors,
				Non2xx:        seen.Paths["/failing"] + seen.Paths["/found"],
				KeepAlive:     seen.Requests - seen.Connections,
				Connections:   seen.Connections,
				BytesSent:     seen.BytesReceived,
				BytesReceived: seen.BytesSent,
				BodyBytes:     seen.Body,
			}
			if p.KeepAlive {
				want.ClosedByServer = seen.Paths["/closing"]
			}
			if got.Counts != want {
				t.Errorf("counts\n%+v, the server's are\n%+v", got.Counts, want)
			}
			if seen.Requests != p.Measurement.Requests {
				t.Errorf("the server saw %d requests, want %d", seen.Requests, p.Measurement.Requests)
			}
			if opened := got.Latencies.Get(result.Connect).Count(); opened > seen.Connections {
				t.Errorf("%d connects were timed of %d", opened, seen.Connections)
			}
			if timed := got.Latencies.Get(result.Total).Count(); timed != got.Succeeded() {
				t.Errorf("%d requests were timed, %d succeeded", timed, got.Succeeded())
			}
		})
	}
}

func TestNoRequestStartsAfterDuration(t *testing.T) {
	inBothModes(t, testNoRequestStartsAfterDuration)
}

func testNoRequestStartsAfterDuration(t *testing.T) {
	server := testserver.New(t, func(testserver.Request) testserver.Answer {
		answer := testserver.OK(10)
		answer.Delay = 30 * time.Millisecond
		return answer
	})
	p := plan(4, 0, "/")
	p.Measurement = session.Amount{DurationMicroseconds: 200_000}
	got := drive(t, p, server.Address())
	server.Stop()
	seen := server.Seen()
	if got.Requests != seen.Requests || got.Succeeded() != seen.Requests || seen.Requests < 4 {
		t.Errorf("%d requests, %d succeeded, the server saw %d", got.Requests, got.Succeeded(), seen.Requests)
	}
	if got.elapsed < 200*time.Millisecond {
		t.Errorf("ended after %v", got.elapsed)
	}
	for _, o := range got.outcomes {
		if begun := o.Ended - o.Total; begun >= 200*time.Millisecond {
			t.Errorf("a request started after %v", begun)
		}
	}
}

func TestStopEndsRequestsInFlight(t *testing.T) { inBothModes(t, testStopEndsRequestsInFlight) }

func testStopEndsRequestsInFlight(t *testing.T) {
	asked := make(chan struct{}, 3)
	server := testserver.New(t, func(testserver.Request) testserver.Answer {
		asked <- struct{}{}
		return testserver.Answer{Then: testserver.Hang}
	})
	before := runtime.NumGoroutine()
	p := plan(3, 1000, "/")
	load := newLoad(t, &p, server.Address(), Access{})
	r := recorder.New(1)
	stage := load.NewStage(p.Measurement, r)
	go stage.Run(0, 1)
	stage.Begin(time.Now())
	for range 3 {
		<-asked
	}
	stage.Stop()
	await(t, stage.Done(), "the stage to end")
	eventually(t, func() bool { return server.Open() == 0 && runtime.NumGoroutine() <= before }, "connections and goroutines to end")
	recorder.NewSampler(r, time.Now(), nil, func(second *result.ClientSecond) {
		if second.Requests != 0 {
			t.Errorf("%d outcomes of requests that were stopped", second.Requests)
		}
	}).Run(stage.Done())
}

func TestStopBeforeBegin(t *testing.T) { inBothModes(t, testStopBeforeBegin) }

func testStopBeforeBegin(t *testing.T) {
	p := plan(3, 10, "/")
	load := newLoad(t, &p, "127.0.0.1:1", Access{})
	stage := load.NewStage(p.Measurement, recorder.New(1))
	go stage.Run(0, 1)
	await(t, stage.Ready(), "the connections to be ready")
	go stage.Begin(time.Now().Add(time.Hour))
	stage.Stop()
	await(t, stage.Done(), "the stage to end")
}

func TestRequestsAreWellFormed(t *testing.T) {
	p := plan(1, 1, "/a?b=c")
	load := newLoad(t, &p, "127.0.0.1:80", Access{})
	const want = "GET /a?b=c HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: assay-load\r\nAccept: */*\r\nConnection: keep-alive\r\n\r\n"
	if got := string(load.requests.Requests[0].Bytes); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	for _, bad := range []session.Plan{
		plan(1, 1, "/a b"), plan(1, 1, "/a\r\nX: y"), plan(0, 1, "/"), plan(1, 0, "/"), plan(1, 1, "a"),
	} {
		if _, err := New(t.Context(), &bad, "127.0.0.1:80", Access{}); err == nil {
			t.Errorf("a plan with %d connections for %q was accepted", bad.Connections, bad.Requests[0].Path)
		}
	}
	for _, bad := range []string{"", "127.0.0.1", "127.0.0.1:http", "127.0.0.1:70000"} {
		if _, err := New(t.Context(), &p, bad, Access{}); err == nil {
			t.Errorf("the address %q was accepted", bad)
		}
	}
	if address, err := resolve(t.Context(), "localhost:8080"); err != nil || !address.Addr().IsLoopback() || address.Port() != 8080 {
		t.Errorf("localhost:8080 is %v, %v", address, err)
	}
}
