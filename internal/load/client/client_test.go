package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assay-dev/assay/internal/load/fakesession"
	"github.com/assay-dev/assay/internal/load/testserver"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/pod"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/internal/targettls/tlstest"
)

const workers = 2

// newClient returns a client with a number of workers that doesn't depend on the machine.
func newClient(s *fakesession.Session) *Client {
	c := New(s, slog.New(slog.DiscardHandler))
	c.workers = workers
	return c
}

// runClient runs a client to its end.
func runClient(ctx context.Context, t *testing.T, s *fakesession.Session, change ...func(*Client)) error {
	t.Helper()
	before := runtime.NumGoroutine()
	c := newClient(s)
	for _, f := range change {
		f(c)
	}
	err := c.Run(ctx)
	for deadline := time.Now().Add(30 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("the client leaked goroutines")
		}
	}
	return err
}

func plan(requests int64) *session.Plan {
	return &session.Plan{
		Connections: 5, KeepAlive: true, TimeoutMicroseconds: 10_000_000,
		Requests:    []session.PlannedRequest{{Path: "/", Weight: 1, Length: 64}},
		Measurement: session.Amount{Requests: requests},
	}
}

func ok(testserver.Request) testserver.Answer { return testserver.OK(64) }

// of returns the events of one type.
func of[E any](s *fakesession.Session) (found []E) {
	for _, event := range s.Events() {
		if e, ok := event.(E); ok {
			found = append(found, e)
		}
	}
	return found
}

func TestClientMeasures(t *testing.T) {
	server := testserver.New(t, ok)
	p := plan(2000)
	var startedAt int64
	regular := fakesession.Regular(p, server.Address(), 20*time.Millisecond)
	s := fakesession.New(func(event fakesession.Event) []pod.Order {
		orders := regular(event)
		for _, order := range orders {
			if start, ok := order.(pod.Start); ok {
				startedAt = start.At
			}
		}
		return orders
	})
	if err := runClient(t.Context(), t, s); err != nil {
		t.Fatal(err)
	}
	ready, totals := of[fakesession.Ready](s), of[result.Totals](s)
	if len(ready) != 1 || ready[0] == "" || len(totals) != 1 {
		t.Fatalf("events %+v", s.Events())
	}
	got := totals[0]
	if got.Requests != 2000 || got.Succeeded() != 2000 || got.Connections != 5 || got.Warmup != nil {
		t.Errorf("totals %+v", got.Counts)
	}
	if got.StartedAt < startedAt || got.EndedAt <= got.StartedAt || got.EndedAt > s.At(time.Now()) {
		t.Errorf("measured from %d to %d, start time %d", got.StartedAt, got.EndedAt, startedAt)
	}
	if got.NodeUsage == nil || got.NodeUsage.CPUTime <= 0 || got.NodeUsage.ContextSwitches <= 0 {
		t.Errorf("around the client %+v", got.NodeUsage)
	}
	if got.Usage.UserCPU+got.Usage.SystemCPU <= 0 || got.Usage.MaxResident <= 0 {
		t.Errorf("usage %+v", got.Usage)
	}
	var sum result.Counts
	for _, second := range of[fakesession.Second](s) {
		if second.Stage != sessionpb.Stage_STAGE_MEASUREMENT {
			t.Errorf("got a second of stage %v", second.Stage)
		}
		sum.Add(second.Counts)
	}
	if sum != got.Counts {
		t.Errorf("the sum of the seconds is %+v, the totals are %+v", sum, got.Counts)
	}
}

func TestWarmupIsNotInTheResult(t *testing.T) {
	server := testserver.New(t, ok)
	p := plan(300)
	p.Warmup = &session.Amount{Requests: 100}
	p.Sequential = true
	p.Requests = append(p.Requests, session.PlannedRequest{Name: "second", Path: "/", Weight: 2, Length: 64})
	s := fakesession.New(fakesession.Regular(p, server.Address(), 0))
	if err := runClient(t.Context(), t, s); err != nil {
		t.Fatal(err)
	}
	totals := of[result.Totals](s)
	if len(of[sessionpb.Stage](s)) != 1 || len(of[fakesession.Ready](s)) != 1 || len(totals) != 1 {
		t.Fatalf("events %+v", s.Events())
	}
	if got := totals[0]; got.Requests != 300 || got.Connections != 5 || got.Warmup == nil || got.Warmup.Requests != 100 {
		t.Errorf("totals %+v", got)
	}
	if got := totals[0]; got.Statuses[200] != 300 || len(got.Statuses) != 1 || len(got.ByRequest) != 2 ||
		got.ByRequest[0].Requests+got.ByRequest[1].Requests != 300 || got.ByRequest[0].Requests == 0 {
		t.Errorf("statuses %v, requests %+v", got.Statuses, got.ByRequest)
	}
	byStage := map[sessionpb.Stage]int64{}
	for _, second := range of[fakesession.Second](s) {
		byStage[second.Stage] += second.Requests
	}
	if byStage[sessionpb.Stage_STAGE_WARMUP] != 100 || byStage[sessionpb.Stage_STAGE_MEASUREMENT] != 300 {
		t.Errorf("seconds by stage %v", byStage)
	}
}

func TestDurationWithoutASuccessfulRequest(t *testing.T) {
	// No server listens at the address. Each attempt counts as a failed request.
	p := plan(0)
	p.Measurement = session.Amount{DurationMicroseconds: 50_000}
	s := fakesession.New(fakesession.Regular(p, "127.0.0.1:1", 0))
	if err := runClient(t.Context(), t, s); err != nil {
		t.Fatal(err)
	}
	got := of[result.Totals](s)[0]
	if got.Requests == 0 || got.Errors[result.ErrorConnect] != got.Requests || got.EndedAt < got.StartedAt {
		t.Errorf("totals %+v", got)
	}
}

// TestClientProbesTheTarget uses a TLS target without an agent whose first probes fail. The client
// must report the outcomes, and be ready only after the probe has succeeded.
func TestClientProbesTheTarget(t *testing.T) {
	own := tlstest.SelfSigned(t)
	server := testserver.NewTLS(t, &tls.Config{Certificates: []tls.Certificate{own.Certificate}}, func(r testserver.Request) testserver.Answer {
		if r.Number < 2 {
			return testserver.Status("503 Service Unavailable")
		}
		return testserver.OK(64)
	})
	p := plan(20)
	p.Probes, p.TLS = []session.Probe{{Request: session.Get("/ready")}}, &session.TLS{ServerName: tlstest.Name}
	s := fakesession.New(fakesession.Regular(p, server.Address(), 0))
	directory := tlstest.Directory(t, tlstest.Files{Server: own.PEM()})
	if err := runClient(t.Context(), t, s, func(c *Client) { c.tlsDirectory = directory }); err != nil {
		t.Fatal(err)
	}
	var reports []string
	for _, event := range s.Events() {
		switch e := event.(type) {
		case fakesession.ProbeFailed:
			what, _, _ := strings.Cut(string(e), " (")
			reports = append(reports, "failed: "+what)
		case *session.ProbeResult:
			reports = append(reports, fmt.Sprintf("succeeded: %s, %d bytes, %s", e.Software, e.DocumentLength, e.TLS.Subject))
		case fakesession.Ready:
			reports = append(reports, "ready")
		}
	}
	want := []string{
		"failed: GET /ready: answered with 503 Service Unavailable by \"testserver\"",
		"succeeded: testserver, 64 bytes, CN=" + tlstest.Name + ",O=Assay",
		"ready",
	}
	if !slices.Equal(reports, want) {
		t.Errorf("reported %q, want %q", reports, want)
	}
	if totals := of[result.Totals](s); len(totals) != 1 || totals[0].Succeeded() != 20 || totals[0].Latencies.Get(result.TLS).Count() == 0 {
		t.Errorf("totals %+v", totals)
	}
	if paths := server.Seen().Paths; paths["/ready"] != 3 {
		t.Errorf("the server received %v", paths)
	}
}

// TestReleasedWhileProbing releases the client before its probe has succeeded.
func TestReleasedWhileProbing(t *testing.T) {
	server := testserver.New(t, func(testserver.Request) testserver.Answer { return testserver.Status("404 Not Found") })
	p := plan(20)
	p.Probes = []session.Probe{{Request: session.Get("/")}}
	s := fakesession.New(func(event fakesession.Event) []pod.Order {
		switch event.(type) {
		case fakesession.Connected:
			return []pod.Order{pod.Prepare{Plan: p, Address: server.Address()}}
		case fakesession.ProbeFailed:
			return []pod.Order{pod.Release{}}
		}
		return nil
	})
	if err := runClient(t.Context(), t, s); err != nil {
		t.Error(err)
	}
	if ready := of[fakesession.Ready](s); len(ready) != 0 {
		t.Errorf("ready, although every probe was answered with 404")
	}
}

// TestClientFails sends orders that the client must reject.
func TestClientFails(t *testing.T) {
	prepare := pod.Prepare{Plan: plan(10), Address: "127.0.0.1:1"}
	unsupported := plan(10)
	unsupported.TLS = &session.TLS{Ciphers: []string{"RC4-SHA"}}
	start := pod.Start{Stage: sessionpb.Stage_STAGE_MEASUREMENT}
	for name, test := range map[string]struct {
		answer func(fakesession.Event) []pod.Order
		want   string
	}{
		"invalid plan":             {on[fakesession.Connected](pod.Prepare{Plan: &session.Plan{}, Address: "127.0.0.1:1"}), "plan: 0 connections"},
		"unsupported cipher suite": {on[fakesession.Connected](pod.Prepare{Plan: unsupported, Address: "127.0.0.1:1"}), "RC4-SHA"},
		"address without a port":   {on[fakesession.Connected](pod.Prepare{Plan: plan(10), Address: "target"}), "target"},
		"second plan":              {on[fakesession.Connected](prepare, prepare), "second plan"},
		"start before the plan":    {on[fakesession.Connected](start), "unexpected order to start"},
		"warm-up not in the plan":  {ready(prepare, pod.Start{Stage: sessionpb.Stage_STAGE_WARMUP}), "unexpected order to start"},
		"an order for agents":      {on[fakesession.Connected](pod.Sample{}), "pod.Sample"},
	} {
		t.Run(name, func(t *testing.T) {
			s := fakesession.New(test.answer)
			err := runClient(t.Context(), t, s)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want it to contain %q", err, test.want)
			}
			if failed := of[fakesession.Failed](s); len(failed) != 1 || !strings.Contains(failed[0].Reason, test.want) {
				t.Errorf("the manager received %v", failed)
			}
			if totals := of[result.Totals](s); len(totals) != 0 {
				t.Errorf("totals %v", totals)
			}
		})
	}
}

// on returns a function that answers events of type E with orders.
func on[E any](orders ...pod.Order) func(fakesession.Event) []pod.Order {
	return func(event fakesession.Event) []pod.Order {
		if _, ok := event.(E); ok {
			return orders
		}
		return nil
	}
}

// ready returns a function that prepares the client, and sends it then when it is ready.
func ready(prepare pod.Prepare, then pod.Order) func(fakesession.Event) []pod.Order {
	first, second := on[fakesession.Connected](prepare), on[fakesession.Ready](then)
	return func(event fakesession.Event) []pod.Order { return append(first(event), second(event)...) }
}

// TestInterrupted interrupts the client by a signal during the measurement. It must not send totals, but say what was unanswered.
func TestInterrupted(t *testing.T) {
	interrupted := &session.FailureError{Kind: session.FailureStopped, Err: errors.New("interrupted")}
	requested := make(chan struct{}, 100)
	server := testserver.New(t, func(testserver.Request) testserver.Answer {
		requested <- struct{}{}
		return testserver.Answer{Then: testserver.Hang}
	})
	s := fakesession.New(fakesession.Regular(plan(100), server.Address(), 0))
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	go func() {
		<-requested
		stop(interrupted)
	}()
	if err := runClient(ctx, t, s); !errors.Is(err, interrupted) {
		t.Errorf("error %v", err)
	}
	unanswered := regexp.MustCompile(`^interrupted, with [1-9]\d* requests unanswered, the oldest for \d+\.\d{3}s$`)
	if failed := of[fakesession.Failed](s); len(failed) != 1 || failed[0].Kind != session.FailureStopped || !unanswered.MatchString(failed[0].Reason) || len(of[result.Totals](s)) != 0 {
		t.Errorf("events %+v", s.Events())
	}
}

// TestReleasedEarly releases the client during the measurement, as the manager
// does when the run has failed for another reason.
func TestReleasedEarly(t *testing.T) {
	server := testserver.New(t, func(testserver.Request) testserver.Answer {
		return testserver.Answer{Then: testserver.Hang}
	})
	regular := fakesession.Regular(plan(100), server.Address(), 0)
	s := fakesession.New(func(event fakesession.Event) []pod.Order {
		if _, ok := event.(fakesession.Second); ok {
			return nil
		}
		orders := regular(event)
		if _, ok := event.(fakesession.Ready); ok {
			return append(orders, pod.Release{})
		}
		return orders
	})
	if err := runClient(t.Context(), t, s); err != nil {
		t.Fatal(err)
	}
	if len(of[result.Totals](s)) != 0 || len(of[fakesession.Failed](s)) != 0 {
		t.Errorf("events %+v", s.Events())
	}
}

func TestLimits(t *testing.T) {
	for text, want := range map[string]int64{"": 0, "500": 500, "0": 0} {
		t.Setenv(CPULimitVariable, text)
		if got, err := limit(CPULimitVariable); err != nil || got != want {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"x", "-1", "1.5"} {
		t.Setenv(CPULimitVariable, text)
		if _, err := limit(CPULimitVariable); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}
