package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
)

// TestMain makes the test binary act as the client, as this program does.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == floorName {
		runFloor(os.Args[2:])
		return
	}
	os.Exit(m.Run())
}

// floor runs the client in a process of its own: it keeps a processor while it waits.
func floor(t *testing.T, args ...string) (figures, string, error) {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), os.Args[0], append([]string{floorName}, args...)...).CombinedOutput()
	if err != nil {
		return figures{}, string(output), err
	}
	f, err := parseFloor(string(output))
	return f, string(output), err
}

// TestFloor compares what the client counts with what a server saw.
func TestFloor(t *testing.T) {
	for name, options := range map[string][]string{
		"keep-alive": {"-k=true"}, "a connection for each request": {"-k=false"}, "open load": {"-rate=1000"},
		"TLS": {"-tls"}, "TLS, a connection for each request": {"-tls", "-k=false"},
	} {
		t.Run(name, func(t *testing.T) {
			var served atomic.Int64
			start := httptest.NewServer
			if options[0] == "-tls" {
				start = httptest.NewTLSServer
			}
			server := start(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				served.Add(1)
				w.Header()["Date"] = nil
				w.Header().Set("Content-Length", "5")
				_, _ = w.Write([]byte("hello")) // the client counts what arrives
			}))
			defer server.Close()
			_, address, _ := strings.Cut(server.URL, "://")
			got, output, err := floor(t, append(append([]string{"-c", "3", "-d", "200ms"}, options...), address+"/x")...)
			if err != nil || got.requests == 0 || got.requests > served.Load() || served.Load() > got.requests+3 {
				t.Errorf("%+v, %v: %s; the server served %d requests", got, err, output, served.Load())
			}
			if options[0] == "-rate=1000" && got.requests != 200 {
				t.Errorf("%d requests, want those of 200 ms at 1000/s", got.requests)
			}
		})
	}
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	if _, output, err := floor(t, strings.TrimPrefix(server.URL, "http://")+"/x"); err == nil || !strings.Contains(output, "404") {
		t.Errorf("got %v, %s", err, output)
	}
}
