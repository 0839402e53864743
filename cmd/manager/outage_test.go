package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// freeAddress returns an address on which nobody listens. No connection of others has its IP address, hence its port.
func freeAddress(t *testing.T) string {
	listener, err := net.Listen("tcp", "127.41.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

// TestAManagerWaitsForTheAPIServer starts with an API server that isn't ready. The manager is healthy
// until that is, and then leaves its address to the real health probes.
func TestAManagerWaitsForTheAPIServer(t *testing.T) {
	for _, code := range []int{http.StatusOK, http.StatusForbidden} {
		health := freeAddress(t)
		var asked atomic.Int32
		var problem atomic.Value
		api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/readyz" {
				problem.Store("it asked for " + r.URL.Path)
			}
			if asked.Add(1) < 4 {
				w.WriteHeader(http.StatusInternalServerError)
				return
			}
			for path, want := range map[string]int{"/healthz": http.StatusOK, "/readyz": http.StatusServiceUnavailable} {
				got, err := http.Get("http://" + health + path)
				if err != nil || got.StatusCode != want {
					problem.Store(fmt.Sprint(path, ": ", got, err))
				}
			}
			w.WriteHeader(code)
		}))
		if err := awaitAPIServer(t.Context(), &rest.Config{Host: api.URL}, health, time.Millisecond); err != nil {
			t.Error(err)
		}
		api.Close()
		if p := problem.Load(); p != nil {
			t.Error(p)
		}
		if asked.Load() != 4 {
			t.Errorf("it asked %d times", asked.Load())
		}
		if listener, err := net.Listen("tcp", health); err != nil {
			t.Errorf("the address of the health probes is still in use: %v", err)
		} else {
			_ = listener.Close()
		}
	}
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := awaitAPIServer(ctx, &rest.Config{Host: "http://" + freeAddress(t)}, "0", time.Millisecond); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestRestartKeepsTheProcess restarts a process: it has the same id, so its container goes on.
func TestRestartKeepsTheProcess(t *testing.T) {
	const generation = "ASSAY_TEST_GENERATION"
	switch os.Getenv(generation) {
	case "1":
		fmt.Println("pid", os.Getpid())
		t.Setenv(generation, "2")
		fmt.Println(restart())
		os.Exit(1)
	case "2":
		fmt.Println("pid", os.Getpid())
		os.Exit(0)
	}
	command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRestartKeepsTheProcess$")
	command.Env = append(os.Environ(), generation+"=1")
	output, err := command.Output()
	lines := strings.Split(strings.TrimSpace(string(output)), "\n")
	if err != nil || len(lines) != 2 || lines[0] != lines[1] || lines[0] != fmt.Sprint("pid ", command.Process.Pid) {
		t.Errorf("%v: %q", err, lines)
	}
}
