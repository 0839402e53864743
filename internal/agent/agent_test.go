package agent

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/pod"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/internal/targettls/tlstest"
)

// fakeSession is a session in which the test sends the orders and receives what the
// agent reports.
type fakeSession struct {
	orders chan pod.Order
	sent   chan string
	end    error // of Run, when the orders are closed
	ahead  time.Duration
}

func newSession() *fakeSession {
	return &fakeSession{orders: make(chan pod.Order), sent: make(chan string, 1000), ahead: time.Hour}
}

func (f *fakeSession) Run(ctx context.Context) error {
	if f.end != nil {
		close(f.orders)
		return f.end
	}
	<-ctx.Done()
	close(f.orders)
	return ctx.Err()
}
func (f *fakeSession) Orders() <-chan pod.Order { return f.orders }
func (f *fakeSession) ProbeSucceeded(r *session.ProbeResult) {
	f.sent <- fmt.Sprintf("succeeded %s %d", r.Software, r.DocumentLength)
}
func (f *fakeSession) ProbeFailed(reason string) { f.sent <- "failed " + reason }
func (f *fakeSession) SendServerSample(r *result.ServerSample) {
	f.sent <- fmt.Sprintf("sample at %s", time.UnixMicro(r.Server.At).UTC().Format("15:04:05.000"))
}
func (f *fakeSession) Fail(reason string)       { f.sent <- "fatal: " + reason }
func (f *fakeSession) At(local time.Time) int64 { return local.Add(f.ahead).UnixMicro() }
func (f *fakeSession) Local(at int64) time.Time { return time.UnixMicro(at).Add(-f.ahead) }

func (f *fakeSession) received() []string {
	var all []string
	for {
		select {
		case s := <-f.sent:
			all = append(all, s)
		default:
			return all
		}
	}
}

type fakeSampler struct {
	err error
	set chan map[string]string // or nil
}

func (f fakeSampler) SetContainers(containers map[string]string) {
	if f.set != nil {
		f.set <- containers
	}
}

func (f fakeSampler) Sample(now func() int64) (*result.ServerSample, error) {
	return &result.ServerSample{Server: result.ServerUsage{At: now()}}, f.err
}

func run(ctx context.Context, s Session, sampler Sampler) chan error {
	done := make(chan error, 1)
	go func() { done <- Run(ctx, s, sampler, slog.New(slog.DiscardHandler)) }()
	return done
}

// TestRunSamplesOnTime checks the times of the samples by a fake clock that starts at
// midnight. The manager's clock is an hour ahead.
func TestRunSamplesOnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := newSession()
		done := run(ctx, s, fakeSampler{})
		begin := time.UnixMicro(s.At(time.Now()))
		s.orders <- pod.Sample{}
		s.orders <- pod.Start{Stage: sessionpb.Stage_STAGE_WARMUP, At: begin.Add(500 * time.Millisecond).UnixMicro()}
		time.Sleep(2 * time.Second)
		// A stage that starts within a second of the previous one.
		s.orders <- pod.Start{Stage: sessionpb.Stage_STAGE_MEASUREMENT, At: begin.Add(2700 * time.Millisecond).UnixMicro()}
		time.Sleep(time.Second)
		s.orders <- pod.Sample{}
		time.Sleep(time.Second)
		s.orders <- pod.Release{}
		time.Sleep(10 * time.Second)
		if diff := cmp.Diff([]string{
			"sample at 01:00:00.000",
			"sample at 01:00:00.500", "sample at 01:00:01.500",
			"sample at 01:00:02.700", "sample at 01:00:03.000", "sample at 01:00:03.700",
		}, s.received()); diff != "" {
			t.Error(diff)
		}
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}

// TestRunStartsLate checks a start time that is long over, as after a restart of the
// agent.
func TestRunStartsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := newSession()
		done := run(ctx, s, fakeSampler{})
		s.orders <- pod.Start{Stage: sessionpb.Stage_STAGE_MEASUREMENT, At: time.UnixMicro(s.At(time.Now())).Add(-5300 * time.Millisecond).UnixMicro()}
		time.Sleep(1800 * time.Millisecond)
		if diff := cmp.Diff([]string{"sample at 01:00:00.000", "sample at 01:00:00.700", "sample at 01:00:01.700"}, s.received()); diff != "" {
			t.Error(diff)
		}
		cancel()
		<-done
	})
}

// TestRunReturnsErrors checks errors of the session and of orders.
func TestRunReturnsErrors(t *testing.T) {
	tests := map[string]struct {
		end   error
		order pod.Order
		err   string
	}{
		"refused":          {end: errors.New("the pod belongs to no run"), err: "the pod belongs to no run"},
		"a client's order": {order: pod.Prepare{Plan: &session.Plan{}}, err: "pod.Prepare"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := newSession()
			s.end = test.end
			done := run(t.Context(), s, fakeSampler{})
			if test.order != nil {
				s.orders <- test.order
			}
			if err := <-done; err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("Run: %v, want %q", err, test.err)
			}
		})
	}
}

// TestRunReportsFailedSample checks that the session fails if a sample fails.
func TestRunReportsFailedSample(t *testing.T) {
	s := newSession()
	run(t.Context(), s, fakeSampler{err: errors.New("no /proc")})
	s.orders <- pod.Sample{}
	if got := <-s.sent; got != "fatal: sample the server's usage: no /proc" {
		t.Error(got)
	}
}

func probesOf(path string) []session.Probe { return []session.Probe{{Request: session.Get(path)}} }

// TestProbe checks the results of probes.
func TestProbe(t *testing.T) {
	var probes atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Server", "test/1")
		n := probes.Add(1)
		switch {
		case r.Header.Get("User-Agent") != "assay-agent":
			w.WriteHeader(http.StatusTeapot)
		case r.URL.RequestURI() == "/redirect":
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(http.StatusFound)
		case r.URL.RequestURI() == "/long":
			w.Header().Set("Content-Length", "5000000000")
			_, _ = w.Write(make([]byte, 2<<20))
		case r.URL.RequestURI() == "/endless":
			for range 300 {
				_, _ = w.Write(make([]byte, 8<<10))
			}
		case r.URL.RequestURI() == "/late?x=1" && n < 3:
			http.NotFound(w, r)
		case r.URL.RequestURI() == "/broken" && n < 3:
			panic(http.ErrAbortHandler)
		default:
			_, _ = w.Write([]byte("hello"))
		}
	}))
	defer server.Close()
	address := server.Listener.Addr().String()
	tests := map[string]struct {
		address, path string
		want          []string
	}{
		"ready":                        {address, "/", []string{"succeeded test/1 5"}},
		"a redirect":                   {address, "/redirect", []string{"succeeded test/1 0"}},
		"long":                         {address, "/long", []string{"succeeded test/1 5000000000"}},
		"long, without Content-Length": {address, "/endless", []string{"succeeded test/1 -1"}},
		"late":                         {address, "/late?x=1", []string{"failed GET /late?x=1: answered with 404 Not Found", "succeeded test/1 5"}},
		"broken":                       {address, "/broken", []string{"failed GET /broken: the connection was closed before the response was complete", "succeeded test/1 5"}},
		"no server":                    {"127.0.0.1:1", "/", []string{"failed GET /: connection refused"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			probes.Store(0)
			s := newSession()
			run(t.Context(), s, fakeSampler{})
			s.orders <- pod.Watch{Watch: session.Watch{Address: test.address, Probes: probesOf(test.path)}}
			for _, want := range test.want {
				if got := <-s.sent; !strings.HasPrefix(got, want) {
					t.Errorf("%q, want %q", got, want)
				}
			}
		})
	}
}

// TestProbeOverTLS probes a target with a self-signed certificate.
func TestProbeOverTLS(t *testing.T) {
	own := tlstest.SelfSigned(t)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Server", "test/1 for "+r.Host)
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{own.Certificate}}
	server.StartTLS()
	defer server.Close()
	order := &session.Watch{
		Address: server.Listener.Addr().String(), Probes: probesOf("/"), Host: "www.test", TLS: &session.TLS{ServerName: tlstest.Name},
	}
	requests, err := probeRequests(order, tlstest.Directory(t, tlstest.Files{Server: own.PEM()}), "")
	if err != nil {
		t.Fatal(err)
	}
	s := newSession()
	probeTarget(t.Context(), s, requests)
	if got := <-s.sent; got != "succeeded test/1 for www.test 0" {
		t.Error(got)
	}

	order.TLS.Ciphers = []string{"RC4-SHA"}
	failing := newSession()
	done := run(t.Context(), failing, fakeSampler{})
	failing.orders <- pod.Watch{Watch: *order}
	if err := <-done; err == nil || !strings.Contains(err.Error(), "RC4-SHA") {
		t.Errorf("Run: %v", err)
	}
	if got := <-failing.sent; !strings.HasPrefix(got, "fatal: configure TLS with the target: ") {
		t.Error(got)
	}
}

// TestRepeatedOrder checks that an order that only changes the containers doesn't probe
// the target again.
func TestRepeatedOrder(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	s := newSession()
	a := &agent{session: s, stopProbing: func() {}}
	order := session.Watch{Address: server.Listener.Addr().String(), Probes: probesOf("/")}
	if err := a.startProbing(t.Context(), order); err != nil {
		t.Fatal(err)
	}
	if got := <-s.sent; got != "succeeded  0" {
		t.Error(got)
	}
	stopped := 0
	a.stopProbing = func() { stopped++ }
	for _, test := range []struct {
		change  func()
		stopped int
	}{
		{func() { order.Containers = map[string]string{"0123": "nginx"} }, 0},
		{func() { order.Probes = probesOf("/other") }, 1},
	} {
		test.change()
		if err := a.startProbing(t.Context(), order); err != nil || stopped != test.stopped {
			t.Errorf("%+v: restarted %d times, error %v", order, stopped, err)
		}
	}
}

// TestNewOrder checks that another order replaces the first.
func TestNewOrder(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/no" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	s := newSession()
	run(t.Context(), s, fakeSampler{})
	address := server.Listener.Addr().String()
	s.orders <- pod.Watch{Watch: session.Watch{Address: address, Probes: probesOf("/no")}}
	if got := <-s.sent; !strings.HasPrefix(got, "failed GET /no: answered with 503 Service Unavailable") {
		t.Error(got)
	}
	s.orders <- pod.Watch{Watch: session.Watch{Address: address, Probes: probesOf("/yes")}}
	if got := <-s.sent; got != "succeeded  0" {
		t.Error(got)
	}
}

// TestContainersOfOrders checks that each order sets the containers, while the target
// is probed once.
func TestContainersOfOrders(t *testing.T) {
	var probes atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { probes.Add(1) }))
	s := newSession()
	sampler := fakeSampler{set: make(chan map[string]string, 3)}
	run(t.Context(), s, sampler)
	order := session.Watch{Address: server.Listener.Addr().String(), Probes: probesOf("/")}
	var want []map[string]string
	for _, containers := range []map[string]string{nil, {"0": "server"}, {"0": "server", "1": "tomcat"}} {
		order.Containers = containers
		s.orders <- pod.Watch{Watch: order}
		if containers == nil {
			if got := <-s.sent; got != "succeeded  0" {
				t.Error(got)
			}
		}
		want = append(want, containers)
	}
	s.orders <- pod.Sample{}
	<-s.sent
	server.Close() // waits for active requests
	if n := probes.Load(); n != 1 {
		t.Errorf("%d probes", n)
	}
	close(sampler.set)
	var got []map[string]string
	for containers := range sampler.set {
		got = append(got, containers)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
