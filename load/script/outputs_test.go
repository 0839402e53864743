package script

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/snappy"

	"github.com/assay-dev/assay/load/internal/testserver"
)

// receiver keeps what it is sent, unpacked, by path.
type receiver struct {
	*httptest.Server
	mu      sync.Mutex
	bodies  map[string][]byte
	headers map[string]http.Header
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{bodies: map[string][]byte{}, headers: map[string]http.Header{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		switch request.Header.Get("Content-Encoding") {
		case "snappy":
			body, err = snappy.Decode(nil, body)
		case "gzip":
			var unpacked io.Reader
			if unpacked, err = gzip.NewReader(bytes.NewReader(body)); err == nil {
				body, err = io.ReadAll(unpacked)
			}
		}
		if err != nil {
			t.Errorf("%s: %v", request.URL.Path, err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.bodies[request.URL.Path] = append(r.bodies[request.URL.Path], body...)
		r.headers[request.URL.Path] = request.Header
	}))
	t.Cleanup(r.Close)
	return r
}

// TestOutputs has k6 send its samples to receivers of both kinds as well, with
// the environment that the pod of a run would have.
func TestOutputs(t *testing.T) {
	r := newReceiver(t)
	for name, value := range map[string]string{
		"K6_PROMETHEUS_RW_SERVER_URL": r.URL + "/api/v1/write", "K6_PROMETHEUS_RW_TREND_STATS": "p(95),max",
		"K6_PROMETHEUS_RW_USERNAME": "ann", "K6_PROMETHEUS_RW_PASSWORD": "s3cr3t-ab",
		"K6_OTEL_EXPORTER_PROTOCOL": "http/protobuf", "K6_OTEL_HTTP_EXPORTER_ENDPOINT": r.Listener.Addr().String(),
		"K6_OTEL_HTTP_EXPORTER_INSECURE": "true", "K6_OTEL_HEADERS": "X-Scope=shop",
	} {
		t.Setenv(name, value)
	}
	server := testserver.New(t, ok)
	p := plans(1)
	p[0].Script.Outputs = []string{"experimental-prometheus-rw", "opentelemetry"}
	p[0].Script.Tags = map[string]string{"assay_client": "0", "team": "web"}
	script := get + `export const options = { tags: { own: 'kept' } }; export default function () { http.get(target) }`
	_, errs := run(t, folder(t, map[string]string{"script.js": script}), p, server.Address())
	if errs[0] != nil {
		t.Fatal(errs[0])
	}
	for path, wants := range map[string][]string{
		"/api/v1/write": {"k6_http_reqs_total", "k6_http_req_duration_p95", "assay_client", "team", "web", "own", "kept"},
		"/v1/metrics":   {"http_reqs", "http_req_duration", "assay_client", "own"},
	} {
		for _, want := range wants {
			if !strings.Contains(string(r.bodies[path]), want) {
				t.Errorf("%s was not sent %q, in %d bytes", path, want, len(r.bodies[path]))
			}
		}
	}
	if user, password, ok := (&http.Request{Header: r.headers["/api/v1/write"]}).BasicAuth(); !ok || user != "ann" || password != "s3cr3t-ab" {
		t.Errorf("remote write came from %q with %q", user, password)
	}
	if got := r.headers["/v1/metrics"].Get("X-Scope"); got != "shop" {
		t.Errorf("OTLP came with the header %q", got)
	}
}
