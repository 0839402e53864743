package live

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/live"
	"github.com/assay-dev/assay/internal/session"
)

// TestStream checks that a viewer first gets everything and then what is new, that one who comes later gets the same, that
// longer entries replace the shorter ones, and that the stream ends with the run.
func TestStream(t *testing.T) {
	w := newWorld(t)
	first := w.view("ann")
	if u := first.next(); u.UID != "uid-1" || u.State != v1alpha1.ReasonMeasuring || u.Start != startTime || len(u.Seconds) != 0 || u.Clients != 1 || u.Connected != 1 {
		t.Errorf("at first %+v", u)
	}
	w.advance(3, 1)
	if u := first.next(); u.From != 0 || len(u.Seconds) != 3 || u.Counts.Requests != 300 || u.Latency.Count != 3 || u.Seconds[0].Phases != nil {
		t.Errorf("after 3 s %+v", u)
	}
	w.advance(5, 1)
	if u := first.next(); u.From != 3 || len(u.Seconds) != 2 || u.Now-u.Start != 5_300_000 {
		t.Errorf("after 5 s %+v", u)
	}
	second := w.view("bob")
	if u := second.next(); u.From != 0 || len(u.Seconds) != 5 {
		t.Errorf("who comes after 5 s gets %+v", u)
	}
	w.advance(8, 2)
	for _, v := range []*testViewer{first, second} {
		if u := v.next(); u.From != 0 || len(u.Seconds) != 4 {
			t.Errorf("after the entries became longer %+v", u)
		}
		if v.state.Passed() != 8 {
			t.Errorf("%d s, want 8", v.state.Passed())
		}
	}
	w.state(v1alpha1.ReasonCompleted, metav1.ConditionTrue)
	w.tick()
	for _, v := range []*testViewer{first, second} {
		if u := v.next(); !u.Finished() {
			t.Errorf("state %s, want it finished", u.State)
		}
		if u := v.next(); u != nil {
			t.Errorf("after the end %+v", u)
		}
	}
}

// TestFindings checks that a finding comes as it arises, and keeps the second at which it did.
func TestFindings(t *testing.T) {
	w := newWorld(t)
	v := w.view("ann")
	v.next()
	w.advance(4, 1)
	if u := v.next(); len(u.Findings) != 0 {
		t.Errorf("findings %v without a cause", u.Findings)
	}
	w.mu.Lock()
	w.failed = 450
	w.mu.Unlock()
	w.advance(5, 1)
	for second := int64(5); second < 7; second++ {
		u := v.next()
		if len(u.Findings) != 1 || u.Findings[0].Reason != "ErrorsDominate" || u.Findings[0].Second != 5 {
			t.Errorf("after %d s findings %+v, want ErrorsDominate since 5", second, u.Findings)
		}
		w.advance(second+1, 1)
	}
}

// TestAnotherRunOfTheName checks that a run that is made again under a name isn't taken for the one before.
func TestAnotherRunOfTheName(t *testing.T) {
	w := newWorld(t)
	v := w.view("ann")
	v.next()
	w.advance(3, 1)
	v.next()
	w.mu.Lock()
	run := w.run.DeepCopy()
	run.UID = "uid-2"
	w.run, w.length = run, 1
	w.mu.Unlock()
	w.tick()
	if u := v.next(); u.UID != "uid-2" || u.From != 0 || len(u.Seconds) != 1 || v.state.Passed() != 1 {
		t.Errorf("%+v", u)
	}
	w.mu.Lock()
	w.run = nil
	w.mu.Unlock()
	w.tick()
	if u := v.next(); u != nil {
		t.Errorf("after the run is gone %+v", u)
	}
}

// TestRights checks who is let in, and that nobody learns from a refusal whether a run exists.
func TestRights(t *testing.T) {
	w := newWorld(t)
	for _, test := range []struct {
		user, name string
		want       int
	}{
		{"", "demo", http.StatusUnauthorized}, {"", "other", http.StatusUnauthorized},
		{"mallory", "demo", http.StatusForbidden}, {"mallory", "other", http.StatusForbidden},
		{"ann", "other", http.StatusNotFound}, {"ann", "demo", http.StatusOK},
	} {
		before := w.readRuns()
		response := w.get(test.user, "shop", test.name)
		if response.StatusCode != test.want {
			t.Errorf("%q views %s: %s, want %d", test.user, test.name, response.Status, test.want)
		}
		if read := w.readRuns() != before; read && test.want < http.StatusNotFound && test.want != http.StatusOK {
			t.Errorf("%q views %s: the run was read before the refusal", test.user, test.name)
		}
	}
	for _, request := range []struct{ method, path string }{
		{http.MethodPost, live.Path("shop", "demo")}, {http.MethodGet, "/"}, {http.MethodGet, "/metrics"},
		{http.MethodGet, "/v1/namespaces/shop/benchmarkruns/../demo/live"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), request.method, w.url+request.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer ann")
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode < 400 {
			t.Errorf("%s %s: %s", request.method, request.path, response.Status)
		}
	}
}

func (w *world) readRuns() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.reads
}

// TestHostileViewers checks the bounds: of the streams of a user, which leave room for others, of updates that somebody
// doesn't read, and of attempts to authenticate.
func TestHostileViewers(t *testing.T) {
	w := newWorld(t)
	for range maxUserViewers {
		w.view("greedy").next()
	}
	if response := w.get("greedy", "shop", "demo"); response.StatusCode != http.StatusTooManyRequests {
		t.Errorf("one stream more than a user may have: %s", response.Status)
	}
	w.view("ann").next()

	hub := w.server.hub
	name := types.NamespacedName{Namespace: "shop", Name: "demo"}
	sleeper, leave, err := hub.join(name, "sleeper")
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	for second := int64(1); second <= backlog+1; second++ {
		w.advance(second, 1)
	}
	received := 0
	for range sleeper.lines {
		received++
	}
	if !errors.Is(sleeper.err, errBehind) || received != backlog {
		t.Errorf("a viewer that doesn't read got %d updates and %v, want %d and the end", received, sleeper.err, backlog)
	}

	refused := 0
	for range authenticationBurst + 50 {
		if response := w.get("", "shop", "demo"); response.StatusCode == http.StatusTooManyRequests {
			refused++
		}
	}
	if refused == 0 {
		t.Error("nobody bounds the attempts to authenticate")
	}
}

// TestNobodyViews checks that a run that nobody views any more costs nothing.
func TestNobodyViews(t *testing.T) {
	w := newWorld(t)
	hub := w.server.hub
	name := types.NamespacedName{Namespace: "shop", Name: "demo"}
	_, leave, err := hub.join(name, "ann")
	if err != nil {
		t.Fatal(err)
	}
	_, leaveToo, err := hub.join(name, "ann")
	if err != nil {
		t.Fatal(err)
	}
	leave()
	if len(hub.shows) != 1 || hub.number != 1 {
		t.Errorf("%d runs and %d viewers, want 1 and 1", len(hub.shows), hub.number)
	}
	leaveToo()
	if len(hub.shows) != 0 || hub.number != 0 || len(hub.users) != 0 {
		t.Errorf("%d runs and %d viewers of %v are left", len(hub.shows), hub.number, hub.users)
	}
}

// panicking panics when it is read, as a bug would.
type panicking struct{ *world }

// Observe implements Sessions.
func (panicking) Observe(string) session.Observation { panic("planted") }

// TestPanic checks that a bug in a view ends the view, not the manager.
func TestPanic(t *testing.T) {
	w := newWorld(t)
	w.server.hub.sessions = panicking{w}
	if u := w.view("ann").next(); u != nil {
		t.Errorf("%+v", u)
	}
}

// TestServe checks that the endpoint speaks TLS, asks for a client's certificate without demanding one, and ends with its
// context.
func TestServe(t *testing.T) {
	w := newWorld(t)
	borrowed := httptest.NewUnstartedServer(nil)
	borrowed.StartTLS() // for its certificate
	certificate, trust := borrowed.TLS.Certificates, borrowed.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	borrowed.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	server := &Server{Sessions: w, Runs: w, Access: w, Log: logr.Discard()}
	go func() { ended <- server.Serve(ctx, listener, &tls.Config{Certificates: certificate}) }()
	https := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trust}}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+listener.Addr().String()+live.Path("shop", "demo"), nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer ann")
	response, err := https.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK || response.ProtoMajor != 1 {
		t.Errorf("%s %s", response.Proto, response.Status)
	}
	if line, err := bufio.NewReader(response.Body).ReadString('\n'); err != nil || !strings.Contains(line, "uid-1") {
		t.Errorf("%q, %v", line, err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
