package tool

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/assay-dev/assay/internal/load/fakesession"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/pod"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

const body = 8132

// serve starts a server that answers every request with the same number of bytes, and returns its address.
func serve(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "8132")
		_, _ = w.Write(make([]byte, body))
	}))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

func plan(tool string, requests int64) *session.Plan {
	return &session.Plan{
		Tool: tool, Connections: 5, KeepAlive: true, TimeoutMicroseconds: 30_000_000,
		Requests: []session.PlannedRequest{{Path: "/page.html?a=b&c=$(touch%20x)", Weight: 1, Length: body}},
		Warmup:   &session.Amount{Requests: 20}, Measurement: session.Amount{Requests: requests},
	}
}

// runClient runs a client to its end and returns its session.
func runClient(t *testing.T, p *session.Plan, address, path string) (*fakesession.Session, error) {
	t.Helper()
	s := fakesession.New(fakesession.Regular(p, address, time.Millisecond))
	c := New(s, path, slog.New(slog.DiscardHandler))
	c.UseDirectory(t.TempDir())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return s, c.Run(ctx)
}

func totals(t *testing.T, s *fakesession.Session) result.Totals {
	t.Helper()
	for _, event := range s.Events() {
		if sent, is := event.(result.Totals); is {
			return sent
		}
	}
	t.Fatalf("no totals: %v", s.Events())
	return result.Totals{}
}

// TestTools runs the real ab and siege for a warm-up and a measurement.
func TestTools(t *testing.T) {
	address := serve(t)
	ballast := bytes.Repeat([]byte{1}, 100<<20) // of this process, whose size isn't the tool's
	for name, wantKept := range map[string]int64{result.ToolAB: 200, result.ToolSiege: 0} {
		p := plan(name, 200)
		if err := p.Check(); err != nil {
			t.Fatal(err)
		}
		s, err := runClient(t, p, address, os.Getenv("PATH"))
		if err != nil {
			t.Fatalf("%s: %v: %v", name, err, s.Events())
		}
		got := totals(t, s)
		if got.Requests != 200 || got.Errors.Total() != 0 || got.KeepAlive != wantKept || got.Warmup == nil || got.Warmup.Requests != 20 {
			t.Errorf("%s: %+v, warm-up %+v", name, got.Counts, got.Warmup)
		}
		if got.DurationMicroseconds() <= 0 || got.Usage.CPU() <= 0 || got.Usage.MaxResident <= 0 || got.Usage.MaxResident > 100<<20 || got.Tool == nil || got.Tool.Name != name {
			t.Errorf("%s: %d µs, usage %+v, tool %+v", name, got.DurationMicroseconds(), got.Usage, got.Tool)
		}
		data, err := session.EncodeTotals(&got)
		if err != nil {
			t.Fatal(err)
		}
		if received, err := session.DecodeTotals(data); err != nil || received.Tool.Max != got.Tool.Max {
			t.Errorf("%s: %+v: %v", name, received, err)
		}
	}
	runtime.KeepAlive(ballast)
}

// TestToolsForATime runs both for a second.
func TestToolsForATime(t *testing.T) {
	address := serve(t)
	for _, name := range []string{result.ToolAB, result.ToolSiege} {
		p := plan(name, 0)
		p.Warmup, p.Measurement = nil, session.Amount{DurationMicroseconds: 1_000_000}
		s, err := runClient(t, p, address, os.Getenv("PATH"))
		if err != nil {
			t.Fatalf("%s: %v: %v", name, err, s.Events())
		}
		if got := totals(t, s); got.Requests == 0 || got.Warmup != nil {
			t.Errorf("%s: %+v, warm-up %+v", name, got.Counts, got.Warmup)
		}
	}
}

// TestHostileTools runs programs that aren't what their names say.
func TestHostileTools(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"missing":  {"", "clients.tool.image: the image has no program ab on its PATH"},
		"failing":  {"echo 'apr_socket_recv: Connection refused (111)' >&2; exit 111", "run ab: exit status 111: apr_socket_recv: Connection refused (111)"},
		"silent":   {"exit 0", "read the output of ab: "},
		"endless":  {"while :; do echo 0123456789012345678901234567890123456789; done", "run ab: it printed too much"},
		"killed":   {"kill -9 $$", "run ab: signal: killed"},
		"nonsense": {`while [ "$1" != -e ]; do shift; done; echo '99,1e9' > "$2"; printf 'Complete requests: 5\x1b[31m\n'`, "there is no line \"Time taken for tests:\""},
	} {
		t.Run(name, func(t *testing.T) {
			directory := t.TempDir()
			if c.script != "" {
				if err := os.WriteFile(filepath.Join(directory, "ab"), []byte("#!/bin/sh\n"+c.script+"\n"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			s, err := runClient(t, plan(result.ToolAB, 10), "127.0.0.1:1", directory)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.ContainsRune(err.Error(), '\x1b') {
				t.Errorf("error %v, want %q", err, c.want)
			}
			events := s.Events()
			if failed, is := events[len(events)-1].(fakesession.Failed); !is || !strings.Contains(failed.Reason, c.want) {
				t.Errorf("reported %v, want the failure", events[len(events)-1])
			}
		})
	}
}

// TestStop checks that the tool ends with its client.
func TestStop(t *testing.T) {
	directory := t.TempDir()
	marker := filepath.Join(directory, "started")
	if err := os.WriteFile(filepath.Join(directory, "ab"), []byte("#!/bin/sh\n: > '"+marker+"'\nexec /bin/sleep 600\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := fakesession.New(fakesession.Regular(plan(result.ToolAB, 10), "127.0.0.1:1", time.Millisecond))
	c := New(s, directory, slog.New(slog.DiscardHandler))
	c.UseDirectory(t.TempDir())
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	for deadline := time.Now().Add(time.Minute); ; {
		if _, err := os.Stat(marker); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the tool didn't start")
		}
		select {
		case err := <-ended:
			t.Fatal(err)
		case <-time.After(time.Millisecond):
		}
	}
	stop()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("no error")
		}
	case <-time.After(time.Minute):
		t.Fatal("the client didn't end")
	}
}

func TestOrders(t *testing.T) {
	for name, orders := range map[string][]pod.Order{
		"a start before the plan": {pod.Start{Stage: sessionpb.Stage_STAGE_MEASUREMENT}},
		"an unknown tool":         {pod.Prepare{Plan: &session.Plan{Tool: "hey"}}},
		"an order of scripts":     {pod.SetupData{}},
	} {
		s := fakesession.New(func(event fakesession.Event) []pod.Order {
			if _, is := event.(fakesession.Connected); is {
				return orders
			}
			return nil
		})
		if err := New(s, "", slog.New(slog.DiscardHandler)).Run(t.Context()); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestPlans(t *testing.T) {
	for name, change := range map[string]func(*session.Plan){
		"an unknown tool": func(p *session.Plan) { p.Tool = "hey" },
		"two requests":    func(p *session.Plan) { p.Requests = append(p.Requests, p.Requests[0]) },
		"cookies":         func(p *session.Plan) { p.Cookies = true },
		"a POST":          func(p *session.Plan) { p.Requests[0].Method = "POST" },
	} {
		p := plan(result.ToolAB, 10)
		change(p)
		if err := p.Check(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
