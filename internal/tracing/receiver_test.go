package tracing

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlptrace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// receiver is an OTLP receiver as a collector has it.
type receiver struct {
	coltrace.UnimplementedTraceServiceServer
	address string
	// token is the authorization that a call must have, unless it is empty.
	token string

	mu    sync.Mutex
	spans []*otlptrace.Span
	names []string // of the services
}

// Export implements the service of OTLP.
func (r *receiver) Export(ctx context.Context, request *coltrace.ExportTraceServiceRequest) (*coltrace.ExportTraceServiceResponse, error) {
	if got := strings.Join(metadata.ValueFromIncomingContext(ctx, "authorization"), ""); r.token != "" && got != r.token {
		return nil, status.Error(codes.Unauthenticated, "the call has no valid token")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, resource := range request.GetResourceSpans() {
		for _, a := range resource.GetResource().GetAttributes() {
			if a.GetKey() == "service.name" {
				r.names = append(r.names, a.GetValue().GetStringValue())
			}
		}
		for _, scope := range resource.GetScopeSpans() {
			r.spans = append(r.spans, scope.GetSpans()...)
		}
	}
	return &coltrace.ExportTraceServiceResponse{}, nil
}

func newReceiver(t *testing.T, token string, options ...grpc.ServerOption) *receiver {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &receiver{address: listener.Addr().String(), token: token}
	server := grpc.NewServer(options...)
	coltrace.RegisterTraceServiceServer(server, r)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(listener); err != nil {
			t.Errorf("serve: %v", err)
		}
	}()
	t.Cleanup(func() { server.Stop(); <-done })
	return r
}

// certified returns the options of a server with TLS, and the files of its CA, of a certificate and of its key.
func certified(t *testing.T, clients bool) (options grpc.ServerOption, ca, certificate, key string) {
	t.Helper()
	// The certificate of httptest is valid for 127.0.0.1, and is its own CA.
	web := httptest.NewUnstartedServer(nil)
	web.StartTLS()
	defer web.Close()
	own := web.TLS.Certificates[0]
	config := &tls.Config{Certificates: []tls.Certificate{own}, MinVersion: tls.VersionTLS12}
	if clients {
		config.ClientAuth = tls.RequireAnyClientCert // httptest's isn't one for clients
	}
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(own.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	ca = write("ca.crt", "CERTIFICATE", web.Certificate().Raw)
	return grpc.Creds(credentials.NewTLS(config)), ca, ca, write("tls.key", "PRIVATE KEY", encoded)
}

// outcome holds the spans that a Tracer with variables of the environment has sent.
type outcome struct {
	sent, failed int
	logged       string
}

func sendWith(t *testing.T, environment map[string]string) outcome {
	t.Helper()
	for key, value := range environment {
		t.Setenv(key, value)
	}
	var o outcome
	log, logged := lines()
	tracer, err := New(t.Context(), Options{Log: log, Sent: func(spans int, err error) {
		if err != nil {
			o.failed += spans
		} else {
			o.sent += spans
		}
	}}, os.Getenv)
	if err != nil || tracer == nil {
		t.Fatalf("%v, %v", tracer, err)
	}
	tracer.Run(newRun(v1alpha1.ReasonCompleted, whole))
	if err := tracer.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	o.logged = logged.String()
	return o
}

// TestReceiver sends the trace of a run over gRPC.
func TestReceiver(t *testing.T) {
	r := newReceiver(t, "Bearer s3cret")
	got := sendWith(t, map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": "http://" + r.address, "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20s3cret", "OTEL_SERVICE_NAME": "perf",
	})
	if got.sent != 9 || got.failed != 0 || len(r.spans) != 9 || len(r.names) == 0 || r.names[0] != "perf" {
		t.Fatalf("%+v, %d spans of %v arrived", got, len(r.spans), r.names)
	}
	want := ofRun(newRun(v1alpha1.ReasonCompleted, whole))
	trace := traceID(want.seed)
	for _, s := range want.spans {
		found := false
		for _, arrived := range r.spans {
			id := spanID(want.seed, s.name)
			found = found || string(arrived.GetSpanId()) == string(id[:]) && string(arrived.GetTraceId()) == string(trace[:]) && arrived.GetName() == s.name &&
				arrived.GetStartTimeUnixNano() == uint64(s.start.UnixNano()) && arrived.GetEndTimeUnixNano() == uint64(s.end.UnixNano()) //nolint:gosec // after 1970
		}
		if !found {
			t.Errorf("%s did not arrive", s.name)
		}
	}
}

// TestReceiverRejects checks that credentials don't appear in the log.
func TestReceiverRejects(t *testing.T) {
	r := newReceiver(t, "Bearer right")
	got := sendWith(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://" + r.address, "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20s3cret"})
	if got.failed != 9 || got.sent != 0 || !strings.Contains(got.logged, "Unauthenticated") || strings.Contains(got.logged, "s3cret") {
		t.Errorf("%+v", got)
	}
}

// TestReceiverTLS sends over TLS, to a receiver whose CA is known, and with a client certificate.
func TestReceiverTLS(t *testing.T) {
	for name, clients := range map[string]bool{"server": false, "mutual": true} {
		t.Run(name, func(t *testing.T) {
			options, ca, certificate, key := certified(t, clients)
			r := newReceiver(t, "", options)
			environment := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "https://" + r.address, "OTEL_EXPORTER_OTLP_CERTIFICATE": ca}
			if clients {
				environment["OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE"], environment["OTEL_EXPORTER_OTLP_CLIENT_KEY"] = certificate, key
			}
			if got := sendWith(t, environment); got.sent != 9 || len(r.spans) != 9 {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestReceiverUntrusted has a receiver whose CA is unknown. Nothing is sent to it, not even without TLS.
func TestReceiverUntrusted(t *testing.T) {
	options, _, _, _ := certified(t, false)
	r := newReceiver(t, "", options)
	got := sendWith(t, map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": "https://" + r.address, "OTEL_EXPORTER_OTLP_TIMEOUT": "500", "OTEL_EXPORTER_OTLP_HEADERS": "authorization=s3cret",
	})
	if got.sent != 0 || got.failed != 9 || len(r.spans) != 0 || strings.Contains(got.logged, "s3cret") {
		t.Errorf("%+v", got)
	}
}

// TestCheck rejects variables by name, and never shows a value.
func TestCheck(t *testing.T) {
	directory := t.TempDir()
	empty := filepath.Join(directory, "hunter2.crt")
	if err := os.WriteFile(empty, []byte("hunter2"), 0o600); err != nil {
		t.Fatal(err)
	}
	const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"
	for _, test := range []struct {
		environment map[string]string
		want        string // in the error, or empty
	}{
		{map[string]string{endpoint: "http://collector:4317"}, ""},
		{map[string]string{endpoint: "https://collector/"}, ""},
		{map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://[::1]:4317", endpoint: "nonsense"}, ""},
		{map[string]string{endpoint: "http://c:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_INSECURE": "true"}, ""},
		{map[string]string{endpoint: "https://c:4317", "OTEL_EXPORTER_OTLP_HEADERS": "a=hunter2, b=x%20y"}, ""},
		{map[string]string{endpoint: "hunter2:4317"}, endpoint + " must begin with http://"},
		{map[string]string{endpoint: "ftp://hunter2"}, endpoint + " must begin with http://"},
		{map[string]string{endpoint: "http://"}, endpoint + " must have a host"},
		{map[string]string{endpoint: "https://c:4317/v1/hunter2"}, endpoint + " must have a host"},
		{map[string]string{endpoint: "https://user:hunter2@c:4317"}, endpoint + " must have no user"},
		{map[string]string{endpoint: "http://hunter2%zz"}, endpoint + " must be a URL"},
		{map[string]string{endpoint: "http://c", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf"}, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL must be grpc"},
		{map[string]string{endpoint: "https://c", "OTEL_EXPORTER_OTLP_INSECURE": "true"}, "OTEL_EXPORTER_OTLP_INSECURE must be false"},
		{map[string]string{endpoint: "http://c", "OTEL_EXPORTER_OTLP_HEADERS": "hunter2"}, "OTEL_EXPORTER_OTLP_HEADERS must be KEY=VALUE"},
		{map[string]string{endpoint: "http://c", "OTEL_EXPORTER_OTLP_HEADERS": "a=hunter2%zz"}, "OTEL_EXPORTER_OTLP_HEADERS must be KEY=VALUE"},
		{map[string]string{endpoint: "https://c", "OTEL_EXPORTER_OTLP_CERTIFICATE": filepath.Join(directory, "none")}, "OTEL_EXPORTER_OTLP_CERTIFICATE: open"},
		{map[string]string{endpoint: "https://c", "OTEL_EXPORTER_OTLP_CERTIFICATE": empty}, "has no certificate in PEM"},
		{map[string]string{endpoint: "https://c", "OTEL_EXPORTER_OTLP_CLIENT_KEY": empty}, "OTEL_EXPORTER_OTLP_CLIENT_KEY needs"},
		{map[string]string{endpoint: "https://c", "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": empty}, "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE needs"},
		{map[string]string{endpoint: "https://c", "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": empty, "OTEL_EXPORTER_OTLP_CLIENT_KEY": empty}, "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: "},
	} {
		on, err := check(func(key string) string { return test.environment[key] })
		if test.want == "" && (err != nil || !on) || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%v: %t, %v, want %q", test.environment, on, err, test.want)
		}
		if err != nil && strings.Contains(strings.ReplaceAll(err.Error(), empty, ""), "hunter2") {
			t.Errorf("%v: %v", test.environment, err)
		}
	}
}
