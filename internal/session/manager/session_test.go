package manager

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/pod"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

func plans(n int) []*session.Plan {
	plans := make([]*session.Plan, n)
	for i := range plans {
		plans[i] = &session.Plan{
			Connections: i + 1, TimeoutMicroseconds: 1_000_000,
			Requests:    []session.PlannedRequest{{Path: "/", Weight: 1, Length: -1}},
			Measurement: session.Amount{Requests: 10},
		}
	}
	return plans
}

// count returns a condition that exactly n clients meet.
func count(n int, as func(session.ClientState) bool) func(session.Observation) bool {
	return func(o session.Observation) bool {
		got := 0
		for _, c := range o.Clients {
			if as(c) {
				got++
			}
		}
		return got == n
	}
}

func connected(n int) func(session.Observation) bool {
	return count(n, func(c session.ClientState) bool { return c.Connected })
}

func ready(n int) func(session.Observation) bool {
	return count(n, func(c session.ClientState) bool { return c.Connected && c.Ready })
}

func collected(n int) func(session.Observation) bool {
	return count(n, func(c session.ClientState) bool { return c.Totals != nil })
}

// TestRun is a run from the first connection to the release.
func TestRun(t *testing.T) {
	b := newBench(t)
	clients := []*endpoint{b.join(clientOf("run", 0)), b.join(clientOf("run", 1))}
	watcher := b.join(agentOf("run"))

	watch := session.Watch{Address: "10.0.0.1:80", Probes: []session.Probe{{Request: session.Get("/x")}}}
	b.Watch("run", watch)
	if diff := cmp.Diff(pod.Watch{Watch: watch}, order[pod.Watch](t, watcher)); diff != "" {
		t.Error(diff)
	}
	// A watch that differs behind a pointer is sent, an equal one isn't.
	watch.TLS, watch.Containers = &session.TLS{ServerName: "www"}, map[string]string{"0123": "nginx"}
	b.Watch("run", watch)
	again := watch
	again.TLS, again.Containers = &session.TLS{ServerName: "www"}, map[string]string{"0123": "nginx"}
	b.Watch("run", again)
	if diff := cmp.Diff(pod.Watch{Watch: watch}, order[pod.Watch](t, watcher)); diff != "" {
		t.Error(diff)
	}
	watcher.ProbeFailed("connection refused")
	b.await("run", "silent", func(o session.Observation) bool {
		return o.Agent != nil && o.Agent.ProbeFailure == "connection refused"
	})
	watcher.ProbeSucceeded(probeResult())
	o := b.await("run", "answered", func(o session.Observation) bool { return o.Agent.ProbeResult != nil })
	if diff := cmp.Diff(probeResult(), o.Agent.ProbeResult); diff != "" {
		t.Error(diff)
	}

	b.Prepare("run", plans(2), "10.0.0.1:80")
	for i, c := range clients {
		if diff := cmp.Diff(pod.Prepare{Plan: plans(2)[i], Address: "10.0.0.1:80"}, order[pod.Prepare](t, c)); diff != "" {
			t.Error(diff)
		}
		c.Ready(fmt.Sprint(i))
	}
	b.await("run", "ready", ready(2))

	b.RequestSample("run")
	b.RequestSample("run") // one is outstanding
	order[pod.Sample](t, watcher)
	watcher.SendServerSample(&result.ServerSample{Server: result.ServerUsage{At: watcher.At(time.Now()), CPUs: "1"}})
	b.await("run", "read", func(o session.Observation) bool { return o.Agent.Latest != nil })

	at := b.Now() + 1000 // clocks may differ by more than the seconds that follow
	b.Start("run", warmup, at-5_000_000)
	for _, c := range clients {
		if got := order[pod.Start](t, c); got.Stage != warmup {
			t.Errorf("started %v, want the warm-up", got)
		}
		c.SendSecond(warmup, second(0, 5, 5))
		c.StageEnded(warmup)
	}
	order[pod.Start](t, watcher)
	b.await("run", "warm", func(o session.Observation) bool { return o.Clients[0].WarmupEnded && o.Clients[1].WarmupEnded })
	b.Start("run", measurement, at)
	b.Start("run", measurement, at+1) // the first stands
	for _, c := range append(clients, watcher) {
		if diff := cmp.Diff(pod.Start{Stage: measurement, At: at}, order[pod.Start](t, c)); diff != "" {
			t.Error(diff)
		}
	}

	for i := range int64(3) {
		watcher.SendServerSample(&result.ServerSample{Server: result.ServerUsage{At: at + i*1_000_000, UserCPU: 100 + i*400_000, SystemCPU: i * i * 100_000, Resident: 1000 + i}})
	}
	clients[0].SendSecond(measurement, second(0, 1000, 2000))
	clients[0].SendSecond(measurement, second(1, 3000))
	clients[1].SendSecond(measurement, second(0, 4000))
	clients[1].SendSecond(measurement, second(1, 5000, 6000, 7000))
	for i, c := range clients {
		total := &result.Totals{StartedAt: at + int64(i), EndedAt: at + 2_000_000, Measure: *measure(1, 2, 3), Warmup: &result.Counts{Requests: 2}}
		total.Latencies.Of(result.Waiting).Record(9)
		c.SendTotals(total)
	}
	b.await("run", "collected", collected(2))
	b.RequestSample("run")
	order[pod.Sample](t, watcher)
	watcher.SendServerSample(&result.ServerSample{Server: result.ServerUsage{At: at + 2_300_000, UserCPU: 1_200_000, Resident: 5}})
	o = b.await("run", "read", func(o session.Observation) bool { return o.Agent.Latest.Resident == 5 })

	if got := o.Clients[1].Totals; got.StartedAt != at+1 || got.Requests != 3 || got.Warmup.Requests != 2 ||
		got.Latencies.Get(result.Total).Max() != 3 || got.Latencies.Get(result.Waiting).Sum() != 9 {
		t.Errorf("totals %+v", got)
	}
	if diff := cmp.Diff(session.Progress{Requests: 7, RequestsPerSecond: 4}, o.Progress[measurement]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(session.Progress{Requests: 4, RequestsPerSecond: 4}, o.Progress[warmup]); diff != "" {
		t.Error(diff)
	}
	if o.Agent.Begin.At != at || o.Agent.PeakCPUPercent != 70 || o.Agent.PeakResident != 1002 {
		t.Errorf("server %+v from %+v", o.Agent, o.Agent.Begin)
	}
	series := b.Series("run")
	for i := range series {
		if used := series[i].Server; used == nil || used.UserCPU+used.SystemCPU != series[i].ServerCPU || used.Resident != series[i].ServerResident {
			t.Errorf("second %d: the server used %+v", i, used)
		}
		if c := series[i].Counts; c == nil || c.Requests != series[i].Requests || c.BytesReceived != series[i].BytesReceived {
			t.Errorf("second %d: counts %+v", i, c)
		}
		series[i].Server, series[i].Counts, series[i].Phases, series[i].Sketch = nil, nil, nil, nil
	}
	if diff := cmp.Diff([]result.Second{
		{Second: 0, Seconds: 1, Requests: 3, P50: 2000, P90: 4001, P99: 4001, Max: 4000, BytesReceived: 300, ClientCPU: 2000, ServerCPU: 500_000, ServerResident: 1001},
		{Second: 1, Seconds: 1, Requests: 4, P50: 5001, P90: 7003, P99: 7003, Max: 7000, BytesReceived: 400, ClientCPU: 2000, ServerCPU: 700_000, ServerResident: 1002},
	}, series, cmp.Comparer(func(a, b int64) bool { return math.Abs(float64(a-b)) <= 3 })); diff != "" {
		t.Error(diff)
	}

	b.Release("run")
	late := b.join(clientOf("run", 7)) // Release stays in force
	for _, a := range append(clients, watcher, late) {
		order[pod.Release](t, a)
		if err := <-a.ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	}
}

// TestRestartedManagerHasEverything kills the manager during a measurement. The pods
// send again what they sent before, and it counts once. The start times stand.
func TestRestartedManagerHasEverything(t *testing.T) {
	b := newBench(t)
	a, c := b.join(agentOf("run")), b.join(clientOf("run", 0))
	a.ProbeSucceeded(probeResult())
	b.Prepare("run", plans(1), "target")
	order[pod.Prepare](t, c)
	// A client reports its probe before it is ready, and again after the restart.
	c.ProbeFailed("connection refused")
	b.await("run", "silent", func(o session.Observation) bool { return o.Clients[0].ProbeFailure == "connection refused" })
	c.ProbeSucceeded(probeResult())
	c.Ready("3")
	if o := b.await("run", "ready", ready(1)); o.Clients[0].ProbeResult == nil {
		t.Error("ready before the probe was reported")
	}
	at := b.Now() - 100_000_000
	b.Start("run", measurement, at)
	order[pod.Start](t, c)
	order[pod.Start](t, a)
	for i := range int64(50) {
		c.SendSecond(measurement, second(i, 100*i))
		a.SendServerSample(&result.ServerSample{Server: result.ServerUsage{At: at + i*1_000_000, UserCPU: i}})
	}
	half := func(o session.Observation) bool {
		return o.Progress[measurement].Requests == 50 && o.Agent != nil && o.Agent.Latest != nil && o.Agent.Latest.UserCPU == 49
	}
	b.await("run", "half", half)
	before := b.Series("run")

	b.restart()
	b.await("run", "half again", half)
	o := b.await("run", "ready again", ready(1))
	if o.Starts[measurement] != at || o.Clients[0].Starts[measurement] != at || o.Clients[0].CPUs != "3" {
		t.Errorf("after the restart: %+v", o)
	}
	for who, probed := range map[string]*session.ProbeResult{"agent": o.Agent.ProbeResult, "client": o.Clients[0].ProbeResult} {
		if diff := cmp.Diff(probeResult(), probed); diff != "" {
			t.Errorf("%s: %s", who, diff)
		}
	}
	if diff := cmp.Diff(before, b.Series("run")); diff != "" {
		t.Error(diff)
	}
	b.Start("run", measurement, at+5_000_000) // too late
	b.Prepare("run", plans(1), "target")

	c.SendTotals(&result.Totals{StartedAt: at, EndedAt: at + 50_000_000, Measure: *measure(1)})
	b.await("run", "collected", collected(1))
	b.restart()
	o = b.await("run", "collected again", collected(1))
	if o.Progress[measurement].Requests != 50 || o.Clients[0].Totals.Requests != 1 {
		t.Errorf("after the second restart: %+v", o)
	}
	b.Release("run")
	order[pod.Release](t, c) // and no second Prepare or Start
	order[pod.Release](t, a)
}

// TestBreakLosesNothing breaks the connection alone.
func TestBreakLosesNothing(t *testing.T) {
	b := newBench(t)
	c := b.join(clientOf("run", 0))
	at := b.Now() - 100_000_000
	b.Start("run", measurement, at)
	order[pod.Start](t, c)
	for i := range int64(20) {
		c.SendSecond(measurement, second(2*i, 1, 2))
		c.SendSecond(measurement, second(2*i+1, 1, 2))
		b.break_("run", 0)
	}
	b.await("run", "sent", func(o session.Observation) bool { return o.Progress[measurement].Requests == 80 })
	if got := len(b.Series("run")); got != 40 {
		t.Errorf("%d seconds, want 40", got)
	}
}

// break_ breaks a client's connection, if there is one.
func (b *bench) break_(run string, index int) {
	r := b.of(run)
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.clients[index]; p != nil && p.stream != nil {
		p.stream.end(errors.New("broken for the test"))
	}
}

func TestFailReachesTheManagerThoughThePodEnds(t *testing.T) {
	b := newBench(t)
	c := b.join(clientOf("run", 0))
	b.await("run", "connected", connected(1))
	c.Fail("the script has a syntax error")
	c.Fail("and so on")
	c.cancel()
	if err := <-c.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Run: %v", err)
	}
	if got := b.Observe("run").Clients[0].Failure; got != "the script has a syntax error" {
		t.Errorf("failure %q", got)
	}
	late := b.join(clientOf("run", 1))
	late.Fail("at once")
	late.cancel()
	<-late.ended
	if got := b.Observe("run").Clients[1].Failure; got != "at once" {
		t.Errorf("failure %q", got)
	}
}

func TestRefusalEndsThePod(t *testing.T) {
	b := newBench(t)
	first := b.dial(token(clientOf("run", 0)))
	first.send(hello(&sessionpb.Hello{Role: client, Starts: started(b.Now())}))
	b.await("run", "connected", connected(1))
	second := clientOf("run", 0)
	second.Pod, second.PodUID = "other", "uid-other"
	err := <-b.join(second).ended
	if err == nil || !strings.Contains(err.Error(), "other") || !strings.Contains(err.Error(), "run-0") {
		t.Errorf("Run: %v, want a refusal that names both pods", err)
	}
	if o := b.Observe("run"); o.Clients[0].Pod != "run-0" || o.Clients[0].Failure != "" {
		t.Errorf("the first client: %+v", o.Clients[0])
	}
}

// TestClock checks how a pod computes the manager's clock if the two differ.
func TestClock(t *testing.T) {
	b := newBench(t)
	const ahead = 5 * time.Hour
	b.epoch += ahead.Microseconds()
	began := time.Now()
	c := b.join(clientOf("run", 0))
	if c.ClockError() != math.MaxInt64 {
		t.Errorf("error %s before the first connection", c.ClockError())
	}
	c.Ready("0")
	b.await("run", "ready", ready(1)) // not before the clock is set
	own := time.Now()
	now := c.At(own)
	local := c.Local(own.Add(ahead + time.Minute).UnixMicro())
	took := time.Since(own) // however busy the machine is
	bound := c.ClockError() + time.Millisecond
	if off := time.Duration(now-own.UnixMicro())*time.Microsecond - ahead; off < -bound || off > bound+took {
		t.Errorf("the clock is off by %s, bound %s", off, bound)
	}
	if off := local.Sub(own) - time.Minute; off.Abs() > bound+took {
		t.Errorf("local time off by %s", off)
	}
	if joined := own.Sub(began); c.ClockError() > joined {
		t.Errorf("error %s, a ping took at most %s", c.ClockError(), joined)
	}
	if !strings.Contains(local.String(), "m=+") {
		t.Errorf("%s has no monotonic reading", local)
	}
}

func TestForgetLeavesNothing(t *testing.T) {
	b := newBench(t)
	var clients []*raw
	for i := range 20 {
		c := b.dial(token(clientOf("run", i)))
		c.send(hello(&sessionpb.Hello{Role: client}))
		clients = append(clients, c)
	}
	b.await("run", "connected", connected(20))
	b.Forget("run")
	for _, c := range clients {
		if err := c.end(); !strings.Contains(err.Error(), "no longer handles") {
			t.Errorf("the session ended with %v", err)
		}
	}
	b.receivers.Wait()
	if b.runs["run"] != nil {
		t.Error("the run is still known")
	}
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	if strings.Contains(string(stacks), "(*Server).receive") {
		t.Errorf("a goroutine is left:\n%s", stacks)
	}
}

// TestThousandClients is a thousand clients at once, with a second each.
func TestThousandClients(t *testing.T) {
	const n = 1000
	b := newBench(t)
	b.Prepare("run", plans(n), "target")
	at := b.Now() - 10_000_000
	b.Start("run", measurement, at)
	for i := range n {
		c := b.dial(token(clientOf("run", i)))
		c.send(hello(&sessionpb.Hello{Role: client}), sampleMessage(t, 1, measurement, second(0, int64(i))))
	}
	b.await("run", "sent", func(o session.Observation) bool { return o.Progress[measurement].Requests == n })
	if got := b.Series("run"); len(got) != 1 || got[0].Requests != n || got[0].Max != n-1 {
		t.Errorf("series %+v", got)
	}
}
