package ui

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// connect opens a connection with the beginning of a request of a user. It is closed at the end of the test.
func (g *gate) connect(begin string) net.Conn {
	g.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(g.base, "http://"))
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	_, _ = io.WriteString(conn, begin) // who is refused may be cut off
	return conn
}

func (g *gate) head(method, path, token string, headers ...string) string {
	return fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\nSec-Fetch-Site: same-origin\r\nAuthorization: Bearer %s\r\n%s\r\n",
		method, path, strings.TrimPrefix(g.base, "http://"), token, strings.Join(append(headers, ""), "\r\n"))
}

// form returns the head of a form of some bytes.
func (g *gate) form(token string, size int) string {
	return g.head(http.MethodPost, "/new", token, "Content-Type: application/x-www-form-urlencoded", fmt.Sprintf("Content-Length: %d", size))
}

func (g *gate) status(conn net.Conn) int {
	g.t.Helper()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		g.t.Fatal(err)
	}
	return response.StatusCode
}

// expect checks the status of a request of a user.
func (g *gate) expect(token string, want int) {
	g.t.Helper()
	if status, body := g.visitor(token).get("/new"); status != want {
		g.t.Errorf("%s: %d, want %d: %s", token, status, want, body)
	}
}

// TestStreamsAreBounded checks that a user has as many streams of events as one may have and others have theirs, and that one that ends makes room.
func TestStreamsAreBounded(t *testing.T) {
	g := newGate(t)
	var open []net.Conn
	for range userStreams {
		conn := g.connect(g.head(http.MethodGet, "/events", "alice"))
		if status := g.status(conn); status != http.StatusOK {
			t.Fatalf("status %d of stream %d", status, len(open))
		}
		open = append(open, conn)
	}
	if status, body := g.visitor("alice").get("/events"); status != http.StatusServiceUnavailable || !strings.Contains(body, "Too many pages are open") {
		t.Errorf("one more: %d %s", status, body)
	}
	g.expect("alice", http.StatusOK)
	if status := g.status(g.connect(g.head(http.MethodGet, "/events", "bob"))); status != http.StatusOK {
		t.Errorf("a stream of another: %d", status)
	}
	_ = open[0].Close()
	g.eventually(func() bool { return g.status(g.connect(g.head(http.MethodGet, "/events", "alice"))) == http.StatusOK })
}

// TestFormsAreBounded holds unfinished forms of two users, as large as they may be: they are refused beyond the bound, others' forms and reports are answered
// meanwhile, and the heap stays small.
func TestFormsAreBounded(t *testing.T) {
	g := newGate(t)
	g.expect("carol", http.StatusOK)
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	body := "manifest=" + strings.Repeat("%0A", maxManifest-10)
	for range 150 {
		for _, token := range []string{"alice", "bob"} {
			g.connect(g.form(token, maxBody) + body)
		}
	}
	g.eventually(func() bool {
		g.portal.quotas.requests.mu.Lock()
		defer g.portal.quotas.requests.mu.Unlock()
		return g.portal.quotas.requests.taken == 2*userRequests
	})
	g.expect("alice", http.StatusServiceUnavailable)
	carol := g.visitor("carol")
	if status, text, _ := carol.do(http.MethodPost, "/new", url.Values{csrfField: {carol.csrf()}, "manifest": {"kind: Pod"}}); status != http.StatusUnprocessableEntity || !strings.Contains(text, "must have apiVersion") {
		t.Errorf("a form of another: %d %s", status, text)
	}
	if status, text := carol.get("/compare"); status != http.StatusBadRequest || !strings.Contains(text, "two to six runs") {
		t.Errorf("a report of another: %d %s", status, text)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if took := int64(after.HeapAlloc) - int64(before.HeapAlloc); took > 64<<20 {
		t.Errorf("300 forms take %d MiB", took>>20)
	}
}

// TestOversize checks the statuses of what is too large, also of a user whose token is accepted, and that a manifest as large as it may be is read.
func TestOversize(t *testing.T) {
	g := newGate(t)
	alice := g.visitor("alice")
	csrf := alice.csrf()
	for name, test := range map[string]struct {
		begin string
		want  int
	}{
		"a form":         {g.form("alice", maxBody+1) + strings.Repeat("x", maxBody+1), http.StatusRequestEntityTooLarge},
		"a chunked form": {g.head(http.MethodPost, "/new", "alice", "Content-Type: application/x-www-form-urlencoded", "Transfer-Encoding: chunked") + fmt.Sprintf("%x\r\n%s", 1<<20, strings.Repeat("x", maxBody+1)), http.StatusRequestEntityTooLarge},
		"a body of GET":  {g.head(http.MethodGet, "/", "alice", "Content-Length: 1048576") + "x", http.StatusRequestEntityTooLarge},
		"of a stream":    {g.head(http.MethodGet, "/events", "alice", "Transfer-Encoding: chunked") + "1\r\nx", http.StatusRequestEntityTooLarge},
		"a header":       {g.head(http.MethodGet, "/", "alice", "X: "+strings.Repeat("x", 1<<20)), http.StatusRequestHeaderFieldsTooLarge},
		"without token":  {strings.Replace(g.form("alice", 1<<30), "Bearer alice", "Bearer x", 1) + "x", http.StatusUnauthorized},
	} {
		if got := g.status(g.connect(test.begin)); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
	for size, want := range map[int]string{maxManifest: "must have apiVersion", maxManifest + 1: fmt.Sprintf("at most %d are accepted", maxManifest)} {
		manifest := "kind: " + strings.Repeat("é", (size-6)/2)
		manifest += strings.Repeat("x", size-len(manifest))
		if status, body, _ := alice.do(http.MethodPost, "/new", url.Values{csrfField: {csrf}, "manifest": {manifest}}); status != http.StatusUnprocessableEntity || !strings.Contains(body, want) {
			t.Errorf("a manifest of %d bytes: %d %.300s, want %q", size, status, body, want)
		}
	}
	g.expect("alice", http.StatusOK)
}

// TestAnswersAreBounded checks what the API server's answers to requests under way may have: of one user, of all, and again when the requests have ended.
func TestAnswersAreBounded(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, userBytes)) }))
	defer server.Close()
	q := newQuotas()
	read := func(name, path string) (int64, *http.Request, func(), error) {
		t.Helper()
		r, limits, leave, err := q.enter(httptest.NewRequest(http.MethodGet, path, nil), &user{name: name})
		if err != nil {
			t.Fatal(err)
		}
		asked, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := limits.Wrap(http.DefaultTransport).RoundTrip(asked)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		n, err := io.Copy(io.Discard, response.Body)
		return n, r, leave, err
	}
	n, _, leave, err := read("alice", "/")
	if n != userBytes || err != nil {
		t.Errorf("as much as a user may read: %d, %v", n, err)
	}
	if n, stream, again, err := read("alice", "/events"); n != 0 || err == nil || stream.Context().Err() == nil {
		t.Errorf("more: %d, %v, and the stream goes on", n, err)
	} else {
		again()
	}
	for i := range allBytes/userBytes - 1 {
		if _, _, leave, err := read(fmt.Sprint(i), "/"); err != nil {
			t.Errorf("another user: %v", err)
		} else {
			defer leave()
		}
	}
	if _, _, leave, err := read("bob", "/"); err == nil {
		t.Error("all together read more than they may")
	} else {
		leave()
	}
	leave()
	if _, _, leave, err := read("bob", "/"); err != nil {
		t.Errorf("after the first has ended: %v", err)
	} else {
		leave()
	}
	if q.bytes.users["alice"] != 0 || q.requests.users["alice"] != 0 || q.streams.taken != 0 {
		t.Errorf("%+v", q.bytes.users)
	}
}

// TestTooLongListsSayWhatToDo serves a list that is longer than a user may read, by the Login of a cluster.
func TestTooLongListsSayWhatToDo(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.Method == http.MethodPost:
			_, _ = io.WriteString(w, `{"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1","status":{"userInfo":{"username":"alice"}}}`)
		case strings.HasPrefix(r.URL.Path, "/apis/assay.dev/v1alpha1/namespaces/shop/"):
			_, _ = io.WriteString(w, `{"kind":"BenchmarkRunList","apiVersion":"assay.dev/v1alpha1","metadata":{"resourceVersion":"1"},"items":[]}`)
		default:
			_, _ = w.Write(append([]byte(`{"kind":"BenchmarkRunList","apiVersion":"assay.dev/v1alpha1","items":[`), make([]byte, userBytes)...))
		}
	}))
	defer server.Close()
	portal, err := NewPortal("http://localhost", NewLogin(&rest.Config{Host: server.URL}))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"/": "The cluster has more than these pages can read at a time; choose a namespace", "/?namespace=shop": "No runs in namespace shop."} {
		r := httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil)
		r.Header.Set(authorization, bearer+"x")
		w := httptest.NewRecorder()
		portal.ServeHTTP(w, r)
		if text := w.Body.String(); w.Code != http.StatusOK || !strings.Contains(text, want) {
			t.Errorf("%s: %d %s, want %q", path, w.Code, text, want)
		}
	}
}

// TestQuotasAreGivenBack opens every page many times.
func TestQuotasAreGivenBack(t *testing.T) {
	g := newGate(t)
	g.login.objects["alice"] = append([]client.Object{}, newRun("one"))
	alice := g.visitor("alice")
	for range 2 * userRequests {
		for _, path := range []string{"/", "/benchmarks", "/runs/shop/one", "/runs/shop/one/report", "/nowhere"} {
			if status, body := alice.get(path); status >= 500 {
				t.Fatalf("%s: %d %s", path, status, body)
			}
		}
	}
	q := g.portal.quotas
	g.eventually(func() bool {
		q.requests.mu.Lock()
		defer q.requests.mu.Unlock()
		return q.requests.taken == 0 && len(q.requests.users) == 0 && len(q.heavy) == 0
	})
}
