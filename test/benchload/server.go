package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/assay-dev/assay/internal/certificate"
	"github.com/assay-dev/assay/test/harness"
)

// server is an nginx on loopback that this program starts.
type server struct {
	process     *harness.Child
	plain, tls  string // host:port
	http2       string // host:port of TLS with HTTP/2
	description string
}

// nginxConfig has one process, as few system calls as nginx needs, and no limit for the
// requests of a connection.
const nginxConfig = `daemon off;
master_process off;
pid %[1]s/pid;
error_log %[1]s/error.log;
worker_rlimit_nofile 16384;
events { worker_connections 16384; }
http {
  access_log off;
  keepalive_requests 1000000000;
  keepalive_timeout 60s;
  open_file_cache max=100;
  sendfile on;
  client_body_temp_path %[1]s; proxy_temp_path %[1]s; fastcgi_temp_path %[1]s; uwsgi_temp_path %[1]s; scgi_temp_path %[1]s;
  server {
    listen %[2]s backlog=4096;
    listen %[3]s ssl backlog=4096;
    listen %[4]s ssl http2 backlog=4096;
    ssl_certificate %[1]s/server.crt;
    ssl_certificate_key %[1]s/server.key;
    ssl_protocols TLSv1.3;
    root %[1]s;
  }
}
`

// startServer starts nginx on a CPU with files in directory. The caller must call process.Stop.
func startServer(ctx context.Context, directory string, cpu int) (*server, error) {
	addresses, err := harness.FreeAddresses(3)
	if err != nil {
		return nil, err
	}
	s := &server{plain: addresses[0], tls: addresses[1], http2: addresses[2]}
	for name, size := range map[string]int{"1k": 1 << 10, "32k": 32 << 10} {
		if err := os.WriteFile(filepath.Join(directory, name), make([]byte, size), 0o644); err != nil {
			return nil, err
		}
	}
	bundle, err := certificate.Issue(certificate.Request{Algorithm: "ECDSA", Size: 256, DNSNames: []string{"localhost"}, Lifetime: 24 * time.Hour}, time.Now())
	if err != nil {
		return nil, err
	}
	config := filepath.Join(directory, "nginx.conf")
	for path, content := range map[string][]byte{
		filepath.Join(directory, "server.crt"): bundle.Certificate, filepath.Join(directory, "server.key"): bundle.Key,
		config: fmt.Appendf(nil, nginxConfig, directory, s.plain, s.tls, s.http2),
	} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return nil, err
		}
	}
	version, err := exec.CommandContext(ctx, "nginx", "-v").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("find nginx (make bench-deps installs it): %w", err)
	}
	s.description = string(version)
	s.process, err = harness.Serve(ctx, strconv.Itoa(cpu), s.plain, "nginx", "-p", directory, "-c", config)
	return s, err
}

// url returns the URL of a file of the given size in KiB.
func (s *server) url(kib int, tls bool) string {
	if tls {
		return fmt.Sprintf("https://%s/%dk", s.tls, kib)
	}
	return fmt.Sprintf("http://%s/%dk", s.plain, kib)
}
