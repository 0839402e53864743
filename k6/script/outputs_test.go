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

	"github.com/assay-dev/assay/internal/load/testserver"
)

// receiver stores the decompressed bodies and the headers of requests by path.
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
			var decompressed io.Reader
			if decompressed, err = gzip.NewReader(bytes.NewReader(body)); err == nil {
				body, err = io.ReadAll(decompressed)
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

// TestOutputs makes k6 send its samples to a Prometheus and an OpenTelemetry
// receiver. The environment is that of a client pod.
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
	_, errs := run(t, directory(t, map[string]string{"script.js": script}), p, server.Address())
	if errs[0] != nil {
		t.Fatal(errs[0])
	}
	for path, wants := range map[string][]string{
		"/api/v1/write": {"k6_http_reqs_total", "k6_http_req_duration_p95", "assay_client", "team", "web", "own", "kept"},
		"/v1/metrics":   {"http_reqs", "http_req_duration", "assay_client", "own"},
	} {
		for _, want := range wants {
			if !strings.Contains(string(r.bodies[path]), want) {
				t.Errorf("%q not found in the %d bytes sent to %s", want, len(r.bodies[path]), path)
			}
		}
	}
	if user, password, ok := (&http.Request{Header: r.headers["/api/v1/write"]}).BasicAuth(); !ok || user != "ann" || password != "s3cr3t-ab" {
		t.Errorf("remote write used user %q, password %q", user, password)
	}
	if got := r.headers["/v1/metrics"].Get("X-Scope"); got != "shop" {
		t.Errorf("OTLP header X-Scope is %q", got)
	}
}
