package ui

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"
)

// TestSessionsAreBounded checks that sessions end in time, that a user's oldest one makes room, and that there are no more than the bounds.
func TestSessionsAreBounded(t *testing.T) {
	g := newGate(t, 5)
	var of []*visitor
	for range maxOfUser + 1 {
		v := g.visitor()
		if status := v.logIn("alice"); status != http.StatusSeeOther {
			t.Fatalf("alice: %d", status)
		}
		of = append(of, v)
		g.pass(time.Second)
	}
	if status, _, _ := of[0].do(http.MethodGet, "/", nil); status != http.StatusUnauthorized {
		t.Errorf("the oldest of %d sessions: %d", len(of), status)
	}
	if status, _, _ := of[1].do(http.MethodGet, "/", nil); status != http.StatusOK {
		t.Errorf("the second of %d sessions: %d", len(of), status)
	}
	if status := g.visitor().logIn("bob"); status != http.StatusSeeOther {
		t.Errorf("bob: %d", status)
	}
	if status := g.visitor().logIn("carol"); status != http.StatusServiceUnavailable {
		t.Errorf("a sixth session: %d", status)
	}
	g.pass(maxIdle - time.Second)
	if status, _, _ := of[2].do(http.MethodGet, "/", nil); status != http.StatusOK {
		t.Errorf("before its time: %d", status)
	}
	g.pass(time.Second)
	g.portal.sessions.expire()
	if status, _, _ := of[2].do(http.MethodGet, "/", nil); status != http.StatusOK {
		t.Errorf("a session in use: %d", status)
	}
	if status, _, _ := of[1].do(http.MethodGet, "/", nil); status != http.StatusUnauthorized {
		t.Errorf("an idle session: %d", status)
	}
	g.pass(maxAge)
	if status, _, _ := of[2].do(http.MethodGet, "/", nil); status != http.StatusUnauthorized {
		t.Errorf("an old session: %d", status)
	}
	g.portal.sessions.expire()
	if n := len(g.portal.sessions.byKey); n != 0 {
		t.Errorf("%d sessions left", n)
	}
}

// TestLoginsAreBounded checks that tokens beyond the bound aren't asked about while the API server doesn't answer.
func TestLoginsAreBounded(t *testing.T) {
	g := newGate(t, 20)
	hold := make(chan struct{})
	g.login.hold = hold
	var all sync.WaitGroup
	for range maxLogins {
		all.Go(func() { g.visitor().logIn("mallory") })
	}
	g.eventually(func() bool { return len(g.portal.logins) == maxLogins })
	if status := g.visitor().logIn("alice"); status != http.StatusServiceUnavailable {
		t.Errorf("one more login: %d", status)
	}
	close(hold)
	all.Wait()
	if status := g.visitor().logIn("alice"); status != http.StatusSeeOther {
		t.Errorf("later: %d", status)
	}
}

func (g *gate) eventually(done func() bool) {
	g.t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			g.t.Fatal("nothing happened in a minute")
		}
	}
}

// TestRevokedTokensEndTheirSessions checks that a session ends when the API server doesn't accept its token any more, and not when it doesn't answer.
func TestRevokedTokensEndTheirSessions(t *testing.T) {
	g := newGate(t, 5)
	alice, bob := g.visitor(), g.visitor()
	for v, token := range map[*visitor]string{alice: "alice", bob: "bob"} {
		if status := v.logIn(token); status != http.StatusSeeOther {
			t.Fatalf("%s: %d", token, status)
		}
	}
	g.login.mu.Lock()
	delete(g.login.objects, "alice")
	g.login.mu.Unlock()
	check := func(ctx context.Context, want int) {
		t.Helper()
		g.portal.sessions.check(ctx)
		if status, _, _ := alice.do(http.MethodGet, "/", nil); status != want {
			t.Errorf("alice: %d, want %d", status, want)
		}
		if status, _, _ := bob.do(http.MethodGet, "/", nil); status != http.StatusOK {
			t.Errorf("bob: %d", status)
		}
	}
	check(t.Context(), http.StatusOK) // not asked yet
	g.pass(maxUnchecked)
	check(t.Context(), http.StatusUnauthorized)
	g.pass(maxUnchecked)
	silent, cancel := context.WithCancel(t.Context())
	cancel()
	check(silent, http.StatusUnauthorized)
}

// TestEventsEndWithTheSession checks that a page's events end when its session does.
func TestEventsEndWithTheSession(t *testing.T) {
	g := newGate(t, 5)
	v := g.visitor()
	if status := v.logIn("alice"); status != http.StatusSeeOther {
		t.Fatalf("alice: %d", status)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.base+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	response, err := v.browser.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	ended := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, response.Body)
		ended <- err
	}()
	if status, _, _ := v.do(http.MethodPost, "/logout", url.Values{csrfField: {csrfOf(t, v)}}); status != http.StatusSeeOther {
		t.Fatalf("logging out: %d", status)
	}
	if err := <-ended; err != nil {
		t.Errorf("the events ended with %v", err)
	}
}
