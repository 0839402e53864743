package probe

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/load/driver/request"
	"github.com/assay-dev/assay/internal/session"
)

// TestProbeIsTheRequest probes a server that only answers a request whose host, header and credentials are right, in each protocol.
func TestProbeIsTheRequest(t *testing.T) {
	directory := t.TempDir()
	if err := os.WriteFile(filepath.Join(directory, session.TokenKey), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	credentials, err := request.ReadCredentials(session.AuthenticationBearer, directory)
	if err != nil {
		t.Fatal(err)
	}
	for protocol, streams := range map[string]int{"HTTP1": 0, "HTTP2": 1} {
		for _, secure := range []bool{false, true} {
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Server", "front/1")
				switch {
				case r.Host != "shop.test" || r.Header.Get("X-Tenant") != "5":
					w.WriteHeader(http.StatusNotFound)
				case r.Header.Get("Authorization") != "Bearer secret":
					w.WriteHeader(http.StatusUnauthorized)
				case r.URL.Path == "/gone":
					w.WriteHeader(http.StatusGone)
				case r.URL.Path == "/moved":
					w.Header().Set("Location", "/")
					w.WriteHeader(http.StatusFound)
				}
			}))
			server.Config.Protocols = new(http.Protocols)
			server.Config.Protocols.SetHTTP1(streams == 0)
			server.Config.Protocols.SetHTTP2(streams > 0)
			server.Config.Protocols.SetUnencryptedHTTP2(streams > 0)
			if secure {
				server.TLS = &tls.Config{NextProtos: map[bool][]string{true: {"h2"}}[streams > 0]}
				server.StartTLS()
			} else {
				server.Start()
			}
			defer server.Close()
			for name, test := range map[string]struct {
				change func(*Request)
				want   string
			}{
				"as the load sends it": {func(*Request) {}, ""},
				"another host": {func(r *Request) { r.Probe.Request.Host = "" },
					`GET /a: answered with 404 Not Found by "front/1" (sent to ` + address(server) + ` with Host: other.test, X-Tenant, Authorization)`},
				"no header":          {func(r *Request) { r.Probe.Request.Headers = nil }, "GET /a: answered with 404 "},
				"no credentials":     {func(r *Request) { r.Probe.Authentication = "" }, "GET /a: answered with 401 Unauthorized"},
				"a declared status":  {func(r *Request) { r.Probe.Request.Path, r.Probe.Request.Statuses = "/gone", []int{410} }, ""},
				"another status":     {func(r *Request) { r.Probe.Request.Statuses = []int{410} }, "GET /a: answered with 200 OK"},
				"a followed request": {func(r *Request) { r.Probe.Request = redirected(r.Probe.Request, true) }, ""},
				"not followed":       {func(r *Request) { r.Probe.Request = redirected(r.Probe.Request, false) }, "GET /moved: answered with 302 Found"},
			} {
				r := requestTo(address(server), "/a")
				r.Streams, r.Host, r.Credentials = streams, "other.test", credentials
				if secure {
					r.TLS = &tls.Config{InsecureSkipVerify: true}
				}
				r.Probe.Request.Host, r.Probe.Request.Headers = "shop.test", []session.Header{{Name: "X-Tenant", Value: "5"}}
				r.Probe.Authentication = session.AuthenticationBearer
				test.change(r)
				got, err := Once(t.Context(), r)
				if (err == nil) != (test.want == "") || err != nil && !strings.HasPrefix(err.Error(), test.want) {
					t.Errorf("%s, TLS %t, %s: %+v, error %v, want %q", protocol, secure, name, got, err, test.want)
				}
				if err != nil && (strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "5)")) {
					t.Errorf("the error has a value that may be secret: %v", err)
				}
			}
		}
	}
}

func redirected(r session.PlannedRequest, follow bool) session.PlannedRequest {
	r.Path, r.Statuses, r.Follow = "/moved", []int{200}, follow
	return r
}

// TestAnotherPort probes a port for management in plain HTTP/1.1 before the one of the load, whose response may have any status.
func TestAnotherPort(t *testing.T) {
	management := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if local := r.Context().Value(http.LocalAddrContextKey).(net.Addr).String(); r.Host != local {
			t.Errorf("Host %s at %s", r.Host, local)
		}
	}))
	defer management.Close()
	load := http2Server(t, true, func(p *http.Protocols) { p.SetHTTP2(true) })
	_, text, _ := strings.Cut(address(management), ":")
	port, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	r := requestTo(address(load), "/")
	r.Host, r.TLS, r.Streams = "www.test", &tls.Config{InsecureSkipVerify: true}, 1
	all := r.Each([]session.Probe{{Request: session.Get("/health"), Port: port}, {Request: session.Get("/missing"), AnyStatus: true}})
	got, err := Until(t.Context(), all, func(reason string) { t.Error(reason) })
	if err != nil || got.TLS == nil || got.Software != "HTTP/2.0" {
		t.Errorf("%+v, error %v", got, err)
	}
}
