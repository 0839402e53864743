package client

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/assay-dev/assay/internal/load/fakesession"
	"github.com/assay-dev/assay/internal/load/testserver"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/pod"
)

// loginPlan returns a plan whose target is probed and whose connections log in,
// and an option that gives the client its credentials.
func loginPlan(t *testing.T) (*session.Plan, func(*Client)) {
	t.Helper()
	p := plan(100)
	p.Warmup = &session.Amount{Requests: 20}
	p.Probes, p.Cookies, p.Authentication = []session.Probe{{Request: session.Get("/ready")}}, true, session.AuthenticationForm
	p.Form = &session.Form{Path: "/login", UsernameField: "u", PasswordField: "p", Statuses: []int{200}}
	directory := t.TempDir()
	for key, text := range map[string]string{session.UsernameKey: "a", session.PasswordKey: "b"} {
		if err := os.WriteFile(filepath.Join(directory, key), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return p, func(c *Client) { c.credentialsDirectory = directory }
}

// TestClientLogsIn checks that all connections log in after the probe has
// succeeded and before the client is ready, and that the logins aren't counted.
func TestClientLogsIn(t *testing.T) {
	p, change := loginPlan(t)
	server := testserver.New(t, func(r testserver.Request) testserver.Answer {
		switch {
		case r.Path == "/ready" && r.Number == 0:
			return testserver.Status("503 Service Unavailable")
		case r.Path == "/login" && string(r.Body) == "p=b&u=a":
			return testserver.Text(0, testserver.Stay, "HTTP/1.1 200 OK\r\nSet-Cookie: in=1\r\nContent-Length: 0\r\n\r\n")
		case r.Path == "/" && r.Header("Cookie") != "in=1":
			return testserver.Status("403 Forbidden")
		}
		return testserver.OK(64)
	})
	var ready atomic.Int64 // logins
	regular := fakesession.Regular(p, server.Address(), 0)
	s := fakesession.New(func(event fakesession.Event) []pod.Order {
		if _, is := event.(fakesession.Ready); is {
			ready.Store(server.Seen().Paths["/login"])
		}
		return regular(event)
	})
	if err := runClient(t.Context(), t, s, change); err != nil {
		t.Fatal(err)
	}
	totals := of[result.Totals](s)
	if len(totals) != 1 || totals[0].Succeeded() != 100 || totals[0].Warmup.Requests != 20 || totals[0].Warmup.Errors.Total() != 0 {
		t.Errorf("totals %+v", totals)
	}
	if seen := server.Seen().Paths; ready.Load() != 5 || seen["/login"] != 5 || seen["/ready"] != 2 || seen["/"] != 120 {
		t.Errorf("%d logins when ready; the server received %v", ready.Load(), seen)
	}
}

func TestClientFailsOnALoginError(t *testing.T) {
	p, change := loginPlan(t)
	server := testserver.New(t, func(r testserver.Request) testserver.Answer {
		if r.Path == "/login" {
			return testserver.Status("403 Forbidden")
		}
		return testserver.OK(64)
	})
	s := fakesession.New(fakesession.Regular(p, server.Address(), 0))
	err := runClient(t.Context(), t, s, change)
	failed := of[fakesession.Failed](s)
	if err == nil || len(failed) != 1 || !strings.Contains(failed[0].Reason, "POST /login: unexpected status 403 Forbidden") || len(of[fakesession.Ready](s)) != 0 {
		t.Errorf("error %v, the manager received %+v", err, failed)
	}
}

// TestClientCanceledDuringLogins checks that no goroutine is leaked.
func TestClientCanceledDuringLogins(t *testing.T) {
	p, change := loginPlan(t)
	ctx, cancel := context.WithCancel(t.Context())
	server := testserver.New(t, func(r testserver.Request) testserver.Answer {
		if r.Path == "/login" {
			cancel()
			return testserver.Text(0, testserver.Hang)
		}
		return testserver.OK(64)
	})
	if err := runClient(ctx, t, fakesession.New(fakesession.Regular(p, server.Address(), 0)), change); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
