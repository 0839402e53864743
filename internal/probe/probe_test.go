package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/test/rawserver"
)

// requestTo returns a request to a server at an address.
func requestTo(address, path string) *Request {
	return &Request{Address: address, Probe: session.Probe{Request: session.Get(path)}, UserAgent: "assay-test", Timeout: 10 * time.Second}
}

func address(server *httptest.Server) string { return server.Listener.Addr().String() }

// saying returns a function that responds to the first bytes with text, and waits until
// the other side closes.
func saying(text string) func(net.Conn) {
	return func(conn net.Conn) {
		_, _ = conn.Read(make([]byte, 4096))
		_, _ = conn.Write([]byte(text))
		_, _ = io.Copy(io.Discard, conn)
	}
}

// closing returns a function that responds to the first bytes with text, and closes.
func closing(text string) func(net.Conn) {
	return func(conn net.Conn) {
		_, _ = conn.Read(make([]byte, 4096))
		_, _ = conn.Write([]byte(text))
	}
}

func TestOnce(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Server", "test/1")
		switch r.URL.RequestURI() {
		case "/echo?a=b":
			_, _ = fmt.Fprintf(w, "%s %s %s %s", r.Host, r.UserAgent(), r.Method, r.Header.Get("Accept-Encoding"))
		case "/redirect":
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		case "/hints":
			w.WriteHeader(http.StatusEarlyHints)
			_, _ = io.WriteString(w, "late")
		case "/long":
			w.Header().Set("Content-Length", "5000000000")
			_, _ = w.Write(make([]byte, 2<<20))
		case "/endless":
			for range 300 {
				_, _ = w.Write(make([]byte, 8<<10))
			}
		case "/missing":
			http.NotFound(w, r)
		case "/broken":
			panic(http.ErrAbortHandler)
		}
	}))
	defer server.Close()
	at := address(server)
	for name, test := range map[string]struct {
		request Request
		length  int64
		err     string
	}{
		"a document":                   {*requestTo(at, "/echo?a=b"), int64(len(at + " assay-test GET ")), ""},
		"another host":                 {Request{Address: at, Probe: session.Probe{Request: session.Get("/echo?a=b")}, Host: "www.test", UserAgent: "x", Timeout: time.Minute}, int64(len("www.test x GET ")), ""},
		"no document":                  {*requestTo(at, "/"), 0, ""},
		"a redirect":                   {*requestTo(at, "/redirect"), int64(len("<a href=\"/elsewhere\">Found</a>.\n\n")), ""},
		"interim responses":            {*requestTo(at, "/hints"), 4, ""},
		"long":                         {*requestTo(at, "/long"), 5_000_000_000, ""},
		"long, without Content-Length": {*requestTo(at, "/endless"), -1, ""},
		"until the end":                {*requestTo(rawserver.Start(t, closing("HTTP/1.1 200 OK\r\nServer: test/1\r\n\r\nall")), "/"), 3, ""},
		"missing":                      {*requestTo(at, "/missing"), 0, "GET /missing: answered with 404 Not Found"},
		"broken":                       {*requestTo(at, "/broken"), 0, "GET /broken: the connection was closed before the response was complete"},
		"half a document":              {*requestTo(rawserver.Start(t, closing("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")), "/"), 0, "GET /: the connection was closed before the response was complete"},
		"no server":                    {*requestTo("127.0.0.1:1", "/"), 0, "GET /: connection refused"},
		"no such name":                 {*requestTo("no-such-name.invalid:80", "/"), 0, "GET /: resolve no-such-name.invalid: "},
		"no response":                  {Request{Address: rawserver.Start(t, saying("")), Probe: session.Probe{Request: session.Get("/")}, Timeout: 50 * time.Millisecond}, 0, "GET /: no response within 50ms"},
		"no response in the head":      {Request{Address: rawserver.Start(t, saying("HTTP/1.1 200")), Probe: session.Probe{Request: session.Get("/")}, Timeout: 50 * time.Millisecond}, 0, "GET /: no response within 50ms"},
		"no response in the body":      {Request{Address: rawserver.Start(t, saying("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")), Probe: session.Probe{Request: session.Get("/")}, Timeout: 50 * time.Millisecond}, 0, "GET /: no response within 50ms"},
		"a head without end":           {*requestTo(rawserver.Start(t, saying("HTTP/1.1 200 OK\r\n"+strings.Repeat("X: y\r\n", 100_000))), "/"), 0, "GET /: header section longer than 64 KiB"},
		"interim without end":          {*requestTo(rawserver.Start(t, saying(strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 101))), "/"), 0, "GET /: more than 100 interim responses (1xx)"},
		"no HTTP":                      {*requestTo(rawserver.Start(t, saying("SSH-2.0-OpenSSH_9.2\r\n")), "/"), 0, `GET /: not HTTP: it begins with "SSH-2.0-OpenSSH_9.2`},
		"lines that end with LF":       {*requestTo(rawserver.Start(t, saying("HTTP/1.1 200 OK\nServer: test/1\nContent-Length: 2\n\nok")), "/"), 2, ""},
		"folded lines":                 {*requestTo(rawserver.Start(t, saying("HTTP/1.1 200 OK\r\nServer:\r\n test/1\r\nContent-Length: 2\r\n\r\nok")), "/"), 2, ""},
		"40 KiB of headers":            {*requestTo(rawserver.Start(t, saying("HTTP/1.1 200 OK\r\nServer: test/1\r\n"+strings.Repeat("X: "+strings.Repeat("x", 1019)+"\r\n", 40)+"Content-Length: 2\r\n\r\nok")), "/"), 2, ""},
		"two lengths":                  {*requestTo(rawserver.Start(t, saying("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok")), "/"), 0, "GET /: different Content-Lengths: 2 and 3"},
		"length and chunks":            {*requestTo(rawserver.Start(t, saying("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")), "/"), 0, "GET /: Content-Length together with Transfer-Encoding"},
		"a bare CR":                    {*requestTo(rawserver.Start(t, saying("HTTP/1.1 200 OK\r\nA: b\rc\r\n\r\n")), "/"), 0, `GET /: bare CR in header: in "A"`},
		"an invalid chunk":             {*requestTo(rawserver.Start(t, saying("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5x\r\n")), "/"), 0, `GET /: invalid size of a chunk: "5x"`},
		"TLS":                          {*requestTo(rawserver.Start(t, saying("\x15\x03\x01\x00\x02\x02\x46\r\n")), "/"), 0, "GET /: not HTTP: the server speaks TLS"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Once(t.Context(), &test.request)
			if test.err != "" {
				if err == nil || !strings.HasPrefix(err.Error(), test.err) {
					t.Errorf("%+v, error %v, want %q", got, err, test.err)
				}
				return
			}
			want := &session.ProbeResult{Software: "test/1", DocumentLength: test.length}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestUntil checks a server that is ready late. The same reason is reported once.
func TestUntil(t *testing.T) {
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		switch n := asked.Add(1); {
		case n < 3:
			w.WriteHeader(http.StatusServiceUnavailable)
		case n < 4:
			panic(http.ErrAbortHandler)
		case n < 6:
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	var failures []string
	got, err := Until(t.Context(), []*Request{requestTo(address(server), "/")}, func(reason string) { failures = append(failures, reason) })
	if err != nil || got.DocumentLength != 0 {
		t.Errorf("%+v, error %v", got, err)
	}
	busy := fmt.Sprintf("GET /: answered with 503 Service Unavailable (sent to %[1]s with Host: %[1]s)", address(server))
	if diff := cmp.Diff([]string{busy, "GET /: the connection was closed before the response was complete", busy}, failures); diff != "" {
		t.Error(diff)
	}
}

// TestUntilContextIsDone cancels the context while a response is pending, and between
// two probes.
func TestUntilContextIsDone(t *testing.T) {
	stalling := make(chan struct{}, 1)
	for name, serve := range map[string]func(net.Conn){
		"an answer":         func(conn net.Conn) { stalling <- struct{}{}; saying("")(conn) },
		"the next question": func(conn net.Conn) { saying("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")(conn) },
	} {
		t.Run(name, func(t *testing.T) {
			at := rawserver.Start(t, serve)
			before := runtime.NumGoroutine()
			ctx, cancel := context.WithCancel(t.Context())
			told := make(chan struct{}, 1)
			ended := make(chan error, 1)
			go func() {
				_, err := Until(ctx, []*Request{requestTo(at, "/")}, func(string) { told <- struct{}{} })
				ended <- err
			}()
			select {
			case <-stalling:
			case <-told:
			}
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
			for deadline := time.Now().Add(30 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
				if time.Now().After(deadline) {
					t.Fatal("goroutines are left")
				}
			}
		})
	}
}
