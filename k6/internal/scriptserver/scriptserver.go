// Package scriptserver provides the servers that published k6 scripts use, on loopback addresses: a site in the manner
// of httpbin.org and of demo shops over HTTP and HTTPS, echoes of WebSocket messages, and a gRPC service.
package scriptserver

import (
	"crypto/tls"
	"maps"
	"net"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"

	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/targettls/tlstest"
)

// Server is a set of running servers with one count of requests.
type Server struct {
	// URL and SecureURL are the site's URLs. WebSocketURL is that of the echoes.
	URL, SecureURL, WebSocketURL string
	// GRPCAddress is the host and port of the gRPC service grpc.health.v1.Health, with reflection.
	GRPCAddress string

	site      *site
	directory string // with the files for TLS, named as in a pod
}

// New starts the servers and stops them at the end of the test. They have no state from other servers.
func New(tb testing.TB) *Server {
	tb.Helper()
	s := &Server{site: newSite()}
	plain := httptest.NewServer(s.site)
	tb.Cleanup(plain.Close)
	s.URL, s.WebSocketURL = plain.URL, "ws"+strings.TrimPrefix(plain.URL, "http")+"/ws"

	ca := tlstest.NewCA(tb, "scripts")
	own := ca.ECDSA(tb)
	secure := httptest.NewUnstartedServer(s.site)
	secure.TLS = &tls.Config{Certificates: []tls.Certificate{own.Certificate}, ClientAuth: tls.VerifyClientCertIfGiven, ClientCAs: ca.Pool()}
	secure.EnableHTTP2 = true
	secure.StartTLS()
	tb.Cleanup(secure.Close)
	s.SecureURL = secure.URL
	s.directory = tlstest.Directory(tb, tlstest.Files{CA: ca.PEM(), Client: ca.ECDSA(tb)})

	s.GRPCAddress = s.startGRPC(tb)
	return s
}

// startGRPC starts the gRPC service and returns its address.
func (s *Server) startGRPC(tb testing.TB) string {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	server := grpc.NewServer()
	grpc_health_v1.RegisterHealthServer(server, health.NewServer())
	reflection.Register(server)
	go func() { _ = server.Serve(listener) }() // it fails when the server is stopped
	tb.Cleanup(server.Stop)
	return listener.Addr().String()
}

// Environment returns the servers' addresses, and the files for TLS, as environment variables of scripts in the form NAME=VALUE.
func (s *Server) Environment() []string {
	file := func(path string) string { return filepath.Join(s.directory, filepath.Base(path)) }
	return []string{
		"BASE_URL=" + s.URL, "SECURE_URL=" + s.SecureURL, "WS_URL=" + s.WebSocketURL, "GRPC_ADDR=" + s.GRPCAddress,
		"SSL_CERT_FILE=" + file(session.TLSCAPath), "CLIENT_CERT=" + file(session.TLSClientPath), "CLIENT_KEY=" + file(session.TLSClientKeyPath),
	}
}

// Requests returns the number of HTTP requests by method and path, such as "GET /json".
func (s *Server) Requests() map[string]int {
	s.site.mu.Lock()
	defer s.site.mu.Unlock()
	return maps.Clone(s.site.requests)
}
