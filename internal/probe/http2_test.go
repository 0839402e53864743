package probe

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/test/rawserver"
)

// http2Server starts a server that speaks HTTP/2 and allows 100 streams, over TLS or without.
func http2Server(t *testing.T, secure bool, protocols ...func(*http.Protocols)) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Server", r.Proto)
		if r.URL.Path == "/missing" {
			http.NotFound(w, r)
			return
		}
		if r.URL.Path == "/long" {
			w.Header().Set("Content-Length", "5000000000")
			_, _ = w.Write(make([]byte, 2<<20))
			<-r.Context().Done() // which the end of the stream cancels
			return
		}
		_, _ = fmt.Fprint(w, r.Host, r.UserAgent())
	}))
	server.Config.Protocols = &http.Protocols{}
	for _, set := range protocols {
		set(server.Config.Protocols)
	}
	server.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: 100}
	if secure {
		server.TLS = &tls.Config{}
		if server.Config.Protocols.HTTP2() {
			server.TLS.NextProtos = []string{"h2"}
		}
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	return server
}

func TestAskInHTTP2(t *testing.T) {
	two := func(p *http.Protocols) { p.SetHTTP2(true) }
	clear := func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) }
	one := func(p *http.Protocols) { p.SetHTTP1(true) }
	for name, test := range map[string]struct {
		secure   bool
		protocol func(*http.Protocols)
		path     string
		streams  int
		err      string
	}{
		"over TLS":          {true, two, "/", 100, ""},
		"without":           {false, clear, "/", 1, ""},
		"long":              {false, clear, "/long", 1, ""},
		"missing":           {false, clear, "/missing", 1, "GET /missing: answered with 404 Not Found"},
		"too many streams":  {true, two, "/", 101, "GET /: HTTP/2: the server allows fewer streams than planned (100 allowed, 101 planned): lower load.client.streams"},
		"HTTP/1.1":          {false, one, "/", 1, "GET /: the server doesn't speak HTTP/2 without TLS"},
		"HTTP/1.1 over TLS": {true, one, "/", 1, "GET /: the server doesn't speak HTTP/2: it didn't select h2"},
		"closed connection": {false, nil, "/", 1, "GET /: the connection was closed: the server doesn't speak HTTP/2"},
		"reset connection":  {false, nil, "/reset", 1, "GET /reset: the connection was closed: the server doesn't speak HTTP/2"},
		"no response":       {false, nil, "/silent", 1, "GET /silent: no response within"},
	} {
		t.Run(name, func(t *testing.T) {
			q := &Request{Probe: session.Probe{Request: session.Get(test.path)}, UserAgent: "x", Host: "www.test", Timeout: 10 * time.Second, Streams: test.streams}
			switch {
			case test.path == "/silent":
				q.Address, q.Timeout = rawserver.Start(t, saying("")), 50*time.Millisecond
			case test.path == "/reset":
				q.Address = rawserver.Start(t, func(conn net.Conn) {
					_, _ = conn.Read(make([]byte, 4096))
					_ = conn.(*net.TCPConn).SetLinger(0)
				})
			case test.protocol == nil:
				q.Address = rawserver.Start(t, closing(""))
			default:
				q.Address = address(http2Server(t, test.secure, test.protocol))
			}
			if test.secure {
				q.TLS = &tls.Config{InsecureSkipVerify: true}
			}
			got, err := Once(t.Context(), q)
			if test.err != "" {
				if err == nil || !strings.HasPrefix(err.Error(), test.err) {
					t.Errorf("%+v, error %v, want %q", got, err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got.TLS = nil
			length := int64(len("www.testx"))
			if test.path == "/long" {
				length = 5_000_000_000
			}
			if diff := cmp.Diff(&session.ProbeResult{Software: "HTTP/2.0", HTTP: result.HTTP2, DocumentLength: length}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
