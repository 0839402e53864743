package ui

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/assay-dev/assay/internal/plugin/cluster"
)

// tokens is a Login of users whose tokens are their names, each with objects of their own.
type tokens struct {
	mu      sync.Mutex
	objects map[string][]client.Object
	opened  []context.Context
	asked   int
	// hold, if it isn't nil, keeps User from returning until it is closed.
	hold chan struct{}
}

func (l *tokens) User(ctx context.Context, token string) (string, error) {
	l.mu.Lock()
	_, known := l.objects[token]
	l.asked++
	hold := l.hold
	l.mu.Unlock()
	if hold != nil {
		<-hold
	}
	if !known {
		return "", apierrors.NewUnauthorized("no such token")
	}
	return token, ctx.Err()
}

func (l *tokens) Open(ctx context.Context, token, namespace string) (*App, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	scheme, err := cluster.NewScheme()
	if err != nil {
		return nil, err
	}
	l.opened = append(l.opened, ctx)
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(l.objects[token]...).Build()
	return NewApp(c, "shop", namespace), nil
}

// gate is a Portal on the loopback interface.
type gate struct {
	t      *testing.T
	portal *Portal
	login  *tokens
	base   string
	passed atomic.Int64 // nanoseconds since the start, by the portal's clock
}

func newGate(t *testing.T, maxSessions int) *gate {
	t.Helper()
	g := &gate{t: t, login: &tokens{objects: map[string][]client.Object{
		"alice": {newRun("of-alice")}, "bob": {newRun("of-bob")}, "carol": nil, "dave": nil,
	}}}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g.base = "http://" + listener.Addr().String()
	if g.portal, err = NewPortal(g.base, g.login, maxSessions); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	g.portal.sessions.now = func() time.Time { return start.Add(time.Duration(g.passed.Load())) }
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- g.portal.Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return g
}

// pass lets time pass.
func (g *gate) pass(d time.Duration) { g.passed.Add(int64(d)) }

// visitor is a browser.
type visitor struct {
	gate    *gate
	browser *http.Client
}

func (g *gate) visitor() *visitor {
	jar, err := cookiejar.New(nil)
	if err != nil {
		g.t.Fatal(err)
	}
	return &visitor{g, &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// do sends a request, as a page of the portal does unless the headers say otherwise.
func (v *visitor) do(method, path string, form url.Values, headers ...string) (int, string, *http.Response) {
	v.gate.t.Helper()
	r, err := http.NewRequestWithContext(v.gate.t.Context(), method, v.gate.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		v.gate.t.Fatal(err)
	}
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(headers); i += 2 {
		switch {
		case headers[i] == "Host":
			r.Host = headers[i+1]
		case headers[i+1] == "":
			r.Header.Del(headers[i])
		default:
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	response, err := v.browser.Do(r)
	if err != nil {
		v.gate.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		v.gate.t.Fatal(err)
	}
	return response.StatusCode, string(body), response
}

func (v *visitor) logIn(token string) int {
	v.gate.t.Helper()
	status, _, _ := v.do(http.MethodPost, "/login", url.Values{tokenField: {token}})
	return status
}

// sees waits until the list of runs has a text.
func (v *visitor) sees(text string) {
	v.gate.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		status, body, _ := v.do(http.MethodGet, "/", nil)
		if strings.Contains(body, text) {
			return
		}
		if time.Now().After(deadline) {
			v.gate.t.Fatalf("no %q after a minute: %d %s", text, status, body)
		}
	}
}

// TestPortalSeparatesUsers checks that each user has the pages of their own token, that nothing is shown without one, and that a session
// ends with its log out.
func TestPortalSeparatesUsers(t *testing.T) {
	g := newGate(t, 10)
	alice, bob, nobody := g.visitor(), g.visitor(), g.visitor()
	for _, path := range []string{"/", "/benchmarks", "/new", "/events", "/runs/shop/of-alice", "/logout"} {
		status, body, response := nobody.do(http.MethodGet, path, nil)
		if status != http.StatusUnauthorized || !strings.Contains(body, `action="/login"`) || strings.Contains(body, "of-alice") {
			t.Errorf("%s without a session: %d %s", path, status, body)
		}
		if csp := response.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") {
			t.Errorf("%s: Content-Security-Policy %q", path, csp)
		}
	}
	if status := nobody.logIn("mallory"); status != http.StatusUnauthorized {
		t.Errorf("an unknown token: %d", status)
	}
	if status := alice.logIn("alice"); status != http.StatusSeeOther {
		t.Fatalf("alice: %d", status)
	}
	if status := bob.logIn("bob"); status != http.StatusSeeOther {
		t.Fatalf("bob: %d", status)
	}
	alice.sees("of-alice")
	bob.sees("of-bob")
	_, body, _ := alice.do(http.MethodGet, "/", nil)
	if strings.Contains(body, "of-bob") || !strings.Contains(body, "Log out") {
		t.Errorf("the list of alice: %s", body)
	}
	if status, _, _ := alice.do(http.MethodGet, "/runs/shop/of-bob", nil); status != http.StatusNotFound {
		t.Errorf("alice reads a run of bob's: %d", status)
	}
	if status, _, _ := alice.do(http.MethodPost, "/logout", url.Values{csrfField: {csrfOf(t, bob)}}); status != http.StatusForbidden {
		t.Errorf("a form with the CSRF token of bob's: %d", status)
	}
	if status, _, _ := alice.do(http.MethodPost, "/logout", url.Values{csrfField: {csrfOf(t, alice)}}); status != http.StatusSeeOther {
		t.Errorf("logging out: %d", status)
	}
	if status, _, _ := alice.do(http.MethodGet, "/", nil); status != http.StatusUnauthorized {
		t.Errorf("after logging out: %d", status)
	}
	if g.login.opened[0].Err() == nil || g.login.opened[1].Err() != nil {
		t.Error("the session of alice must have ended, and that of bob not")
	}
	bob.sees("of-bob")
}

var csrfInput = regexp.MustCompile(`name="csrf" value="([^"]+)"`)

func csrfOf(t *testing.T, v *visitor) string {
	t.Helper()
	_, body, _ := v.do(http.MethodGet, "/", nil)
	m := csrfInput.FindStringSubmatch(body)
	if m == nil {
		t.Fatalf("no CSRF token in %s", body)
	}
	return m[1]
}

// TestPortalKeepsOut checks what is refused with the cookie of a user: other names, other sites, and forms without their origin.
func TestPortalKeepsOut(t *testing.T) {
	g := newGate(t, 10)
	alice := g.visitor()
	if status := alice.logIn("alice"); status != http.StatusSeeOther {
		t.Fatalf("alice: %d", status)
	}
	for name, test := range map[string]struct {
		method, path string
		headers      []string
		want         int
	}{
		"own page":                     {http.MethodGet, "/", nil, http.StatusOK},
		"rebound name":                 {http.MethodGet, "/", []string{"Host", "evil.example"}, http.StatusMisdirectedRequest},
		"rebound name, login":          {http.MethodPost, "/login", []string{"Host", "evil.example"}, http.StatusMisdirectedRequest},
		"from another site":            {http.MethodGet, "/", []string{"Sec-Fetch-Site", "cross-site"}, http.StatusForbidden},
		"framed or loaded by one":      {http.MethodGet, "/events", []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "cors"}, http.StatusForbidden},
		"a form of another site":       {http.MethodPost, "/runs/shop/of-alice/suspend", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, http.StatusForbidden},
		"a login form of another site": {http.MethodPost, "/login", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, http.StatusForbidden},
		"a login form from nowhere":    {http.MethodPost, "/login", []string{"Sec-Fetch-Site", ""}, http.StatusForbidden},
		"a form without CSRF token":    {http.MethodPost, "/runs/shop/of-alice/suspend", nil, http.StatusForbidden},
		"health, by any name":          {http.MethodGet, healthPath, []string{"Host", "10.0.0.7:8080"}, http.StatusOK},
	} {
		if status, body, _ := alice.do(test.method, test.path, nil, test.headers...); status != test.want {
			t.Errorf("%s: %d %s, want %d", name, status, body, test.want)
		}
	}
	for path, want := range map[string]string{
		"/runs/shop/of-alice?x=1": "url=/runs/shop/of-alice?x=1", "//evil.example/": `url=/"`, "/;url=//evil.example": `url=/"`,
	} {
		// The cookie jar sends the cookie anyway, other than a browser: without one.
		status, body, _ := g.visitor().do(http.MethodGet, path, nil, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate")
		if status != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("a link on another site to %s: %d %s, want %s", path, status, body, want)
		}
	}
}

// TestPortalCookie checks the cookie of a portal with TLS, and that no response has the token.
func TestPortalCookie(t *testing.T) {
	p, err := NewPortal("https://assay.example.com", &tokens{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	c := p.newCookie("x", 0)
	if !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" || !strings.HasPrefix(c.Name, "__Host-") {
		t.Errorf("%+v", c)
	}
	g := newGate(t, 10)
	_, body, response := g.visitor().do(http.MethodPost, "/login", url.Values{tokenField: {"alice"}})
	if len(response.Cookies()) != 1 || strings.Contains(response.Cookies()[0].Value, "alice") || strings.Contains(body, "alice") {
		t.Errorf("%v %s", response.Cookies(), body)
	}
}

// TestPortalBearer checks users who come through a proxy that adds their token.
func TestPortalBearer(t *testing.T) {
	g := newGate(t, 10)
	v := g.visitor()
	for range 3 {
		if status, body, _ := v.do(http.MethodGet, "/", nil, authorization, bearer+"alice"); status != http.StatusOK || !strings.Contains(body, "Log out") {
			t.Fatalf("%d %s", status, body)
		}
	}
	if g.login.asked != 1 || len(g.login.opened) != 1 {
		t.Errorf("asked %d times for %d sessions, want one of each", g.login.asked, len(g.login.opened))
	}
	if status, _, _ := v.do(http.MethodGet, "/", nil, authorization, bearer+"mallory"); status != http.StatusUnauthorized {
		t.Errorf("an unknown token: %d", status)
	}
	if status, _, _ := v.do(http.MethodGet, "/", nil); status != http.StatusUnauthorized {
		t.Errorf("without the token: %d", status)
	}
}

// TestPortalForms checks the texts of a form that isn't one of a token.
func TestPortalForms(t *testing.T) {
	g := newGate(t, 10)
	for name, form := range map[string]url.Values{
		"no token": {}, "two lines": {tokenField: {"a\nb"}}, "too long": {tokenField: {strings.Repeat("x", maxToken+1)}},
		"no name of a namespace": {tokenField: {"alice"}, namespaceField: {"../x"}},
	} {
		if status, body, _ := g.visitor().do(http.MethodPost, "/login", form); status != http.StatusUnprocessableEntity || !strings.Contains(body, "notice bad") {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	if g.login.asked != 0 {
		t.Errorf("the API server was asked %d times", g.login.asked)
	}
}

// TestPortalURL checks the URLs by which a portal can't be reached safely.
func TestPortalURL(t *testing.T) {
	for address, ok := range map[string]bool{
		"https://assay.example.com": true, "https://assay.example.com:8443/": true, "http://localhost:8080": true, "http://127.0.0.1:8080": true,
		"http://assay.example.com": false, "ftp://assay.example.com": false, "assay.example.com": false, "https://": false,
		"https://assay.example.com/assay": false, "https://user@assay.example.com": false, "https://assay.example.com?x": false, "": false,
	} {
		if _, err := NewPortal(address, &tokens{}, 1); (err == nil) != ok {
			t.Errorf("%q: %v", address, err)
		}
	}
}
