package agent

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
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

// fakeSession is a session in which the test gives the orders and hears what
// the agent says.
type fakeSession struct {
	orders chan pod.Order
	said   chan string
	end    error // of Run when the orders end
	ahead  time.Duration
}

func newSession() *fakeSession {
	return &fakeSession{orders: make(chan pod.Order), said: make(chan string, 1000), ahead: time.Hour}
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
func (f *fakeSession) ProbeSucceeded(e *session.ProbeResult) {
	f.said <- fmt.Sprintf("answered %s %d", e.Software, e.DocumentLength)
}
func (f *fakeSession) ProbeFailed(reason string) { f.said <- "silent " + reason }
func (f *fakeSession) SendServerSample(r *result.ServerSample) {
	f.said <- fmt.Sprintf("reading at %s", time.UnixMicro(r.Server.At).UTC().Format("15:04:05.000"))
}
func (f *fakeSession) Fail(reason string)       { f.said <- "failed " + reason }
func (f *fakeSession) Now() int64               { return time.Now().Add(f.ahead).UnixMicro() }
func (f *fakeSession) Local(at int64) time.Time { return time.UnixMicro(at).Add(-f.ahead) }

func (f *fakeSession) heard() []string {
	var all []string
	for {
		select {
		case s := <-f.said:
			all = append(all, s)
		default:
			return all
		}
	}
}

type fakeSampler struct {
	err  error
	told chan map[string]string // nil when nobody listens
}

func (f fakeSampler) Tell(containers map[string]string) {
	if f.told != nil {
		f.told <- containers
	}
}

func (f fakeSampler) Read(now func() int64) (*result.ServerSample, error) {
	return &result.ServerSample{Server: result.ServerUsage{At: now()}}, f.err
}

func attend(ctx context.Context, s Session, sampler Sampler) chan error {
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, s, sampler, slog.New(slog.DiscardHandler)) }()
	return ended
}

// TestRunReadsOnTime checks the instants of the readings by a fake clock, which
// begins at midnight; the manager's is an hour ahead.
func TestRunReadsOnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := newSession()
		ended := attend(ctx, s, fakeSampler{})
		begin := time.UnixMicro(s.Now())
		s.orders <- pod.Sample{}
		s.orders <- pod.Start{Stage: sessionpb.Stage_STAGE_WARMUP, At: begin.Add(500 * time.Millisecond).UnixMicro()}
		time.Sleep(2 * time.Second)
		// A stage that begins within a second of the one before.
		s.orders <- pod.Start{Stage: sessionpb.Stage_STAGE_MEASUREMENT, At: begin.Add(2700 * time.Millisecond).UnixMicro()}
		time.Sleep(time.Second)
		s.orders <- pod.Sample{}
		time.Sleep(time.Second)
		s.orders <- pod.Release{}
		time.Sleep(10 * time.Second)
		if diff := cmp.Diff([]string{
			"reading at 01:00:00.000",
			"reading at 01:00:00.500", "reading at 01:00:01.500",
			"reading at 01:00:02.700", "reading at 01:00:03.000", "reading at 01:00:03.700",
		}, s.heard()); diff != "" {
			t.Error(diff)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}

// TestRunComesLate gives a start instant that is long over, as after a restart
// of the agent.
func TestRunComesLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := newSession()
		ended := attend(ctx, s, fakeSampler{})
		s.orders <- pod.Start{Stage: sessionpb.Stage_STAGE_MEASUREMENT, At: time.UnixMicro(s.Now()).Add(-5300 * time.Millisecond).UnixMicro()}
		time.Sleep(1800 * time.Millisecond)
		if diff := cmp.Diff([]string{"reading at 01:00:00.000", "reading at 01:00:00.700", "reading at 01:00:01.700"}, s.heard()); diff != "" {
			t.Error(diff)
		}
		cancel()
		<-ended
	})
}

func TestRunEnds(t *testing.T) {
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
			ended := attend(t.Context(), s, fakeSampler{})
			if test.order != nil {
				s.orders <- test.order
			}
			if err := <-ended; err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("Run: %v, want %q", err, test.err)
			}
		})
	}
}

func TestRunSaysThatItCantRead(t *testing.T) {
	s := newSession()
	attend(t.Context(), s, fakeSampler{err: errors.New("no /proc")})
	s.orders <- pod.Sample{}
	if got := <-s.said; got != "failed what the server uses can't be read: no /proc" {
		t.Error(got)
	}
}

func TestWatch(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Server", "test/1")
		n := asked.Add(1)
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
		"at once":                {address, "/", []string{"answered test/1 5"}},
		"a redirect":             {address, "/redirect", []string{"answered test/1 0"}},
		"long":                   {address, "/long", []string{"answered test/1 5000000000"}},
		"long, nobody knows how": {address, "/endless", []string{"answered test/1 -1"}},
		"late":                   {address, "/late?x=1", []string{"silent GET /late?x=1: answered with 404 Not Found", "answered test/1 5"}},
		"broken":                 {address, "/broken", []string{"silent GET /broken: the connection was closed before the answer was complete", "answered test/1 5"}},
		"nobody there":           {closed.Addr().String(), "/", []string{"silent GET /: connection refused"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			asked.Store(0)
			s := newSession()
			attend(t.Context(), s, fakeSampler{})
			s.orders <- pod.Watch{Watch: session.Watch{Address: test.address, Path: test.path}}
			for _, want := range test.want {
				if got := <-s.said; got != want {
					t.Errorf("%q, want %q", got, want)
				}
			}
		})
	}
}

// TestWatchOverTLS asks a target that shows a certificate of its own.
func TestWatchOverTLS(t *testing.T) {
	own := tlstest.SelfSigned(t)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Server", "test/1 for "+r.Host)
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{own.Certificate}}
	server.StartTLS()
	defer server.Close()
	order := &session.Watch{
		Address: server.Listener.Addr().String(), Path: "/", Host: "www.test", TLS: &session.TLS{ServerName: tlstest.Name},
	}
	q, err := question(order, tlstest.Folder(t, tlstest.Files{Server: own.PEM()}))
	if err != nil {
		t.Fatal(err)
	}
	s := newSession()
	watch(t.Context(), s, q)
	if got := <-s.said; got != "answered test/1 for www.test 0" {
		t.Error(got)
	}

	order.TLS.Ciphers = []string{"RC4-SHA"}
	attending := newSession()
	ended := attend(t.Context(), attending, fakeSampler{})
	attending.orders <- pod.Watch{Watch: *order}
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "RC4-SHA") {
		t.Errorf("Run: %v", err)
	}
	if got := <-attending.said; !strings.HasPrefix(got, "failed TLS with the target can't be set up: ") {
		t.Error(got)
	}
}

// TestWatchesNoMoreThanAsked has an order come again with other containers: the
// target is left alone.
func TestWatchesNoMoreThanAsked(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	s := newSession()
	a := &attending{session: s, stopWatching: func() {}}
	order := session.Watch{Address: server.Listener.Addr().String(), Path: "/"}
	if err := a.watch(t.Context(), order); err != nil {
		t.Fatal(err)
	}
	if got := <-s.said; got != "answered  0" {
		t.Error(got)
	}
	begun := 0
	a.stopWatching = func() { begun++ }
	for _, test := range []struct {
		change func()
		begun  int
	}{
		{func() { order.Containers = map[string]string{"0123": "nginx"} }, 0},
		{func() { order.Path = "/other" }, 1},
	} {
		test.change()
		if err := a.watch(t.Context(), order); err != nil || begun != test.begun {
			t.Errorf("%+v: asked anew %d times, error %v", order, begun, err)
		}
	}
}

// TestWatchAgain has another order take the place of the first.
func TestWatchAgain(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/no" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	s := newSession()
	attend(t.Context(), s, fakeSampler{})
	address := server.Listener.Addr().String()
	s.orders <- pod.Watch{Watch: session.Watch{Address: address, Path: "/no"}}
	if got := <-s.said; got != "silent GET /no: answered with 503 Service Unavailable" {
		t.Error(got)
	}
	s.orders <- pod.Watch{Watch: session.Watch{Address: address, Path: "/yes"}}
	if got := <-s.said; got != "answered  0" {
		t.Error(got)
	}
}

// TestWatchTellsOfContainers has containers become known one after the other.
// The target isn't asked anew for that.
func TestWatchTellsOfContainers(t *testing.T) {
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	s := newSession()
	sampler := fakeSampler{told: make(chan map[string]string, 3)}
	attend(t.Context(), s, sampler)
	order := session.Watch{Address: server.Listener.Addr().String(), Path: "/"}
	var want []map[string]string
	for _, containers := range []map[string]string{nil, {"0": "server"}, {"0": "server", "1": "tomcat"}} {
		order.Containers = containers
		s.orders <- pod.Watch{Watch: order}
		if containers == nil {
			if got := <-s.said; got != "answered  0" {
				t.Error(got)
			}
		}
		want = append(want, containers)
	}
	s.orders <- pod.Sample{}
	<-s.said
	server.Close() // waits for what is being answered
	if n := asked.Load(); n != 1 {
		t.Errorf("asked %d times", n)
	}
	close(sampler.told)
	var got []map[string]string
	for containers := range sampler.told {
		got = append(got, containers)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
