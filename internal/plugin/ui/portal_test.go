package ui

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/plugin/cluster"
)

// tokens is a Login of users whose tokens begin with their names and a dot, each with objects of their own.
type tokens struct {
	mu      sync.Mutex
	objects map[string][]client.Object
	asked   []string // the tokens
	err     error    // of each question, if it isn't nil
	// hold, if it isn't nil, keeps User from returning until it is closed.
	hold chan struct{}
}

func (l *tokens) User(_ context.Context, token string) (string, error) {
	l.mu.Lock()
	name, _, _ := strings.Cut(token, ".")
	_, is := l.objects[name]
	l.asked = append(l.asked, token)
	hold, err := l.hold, l.err
	l.mu.Unlock()
	if hold != nil {
		<-hold
	}
	if err == nil && !is {
		err = apierrors.NewUnauthorized("no such token")
	}
	return name, err
}

func (l *tokens) Open(token string, scope Scope, _ Limits) (*App, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	scheme, err := cluster.NewScheme()
	if err != nil {
		return nil, err
	}
	name, _, _ := strings.Cut(token, ".")
	byName := func(o client.Object) []string { return []string{o.GetName()} }
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(l.objects[name]...).
		WithIndex(&v1alpha1.BenchmarkRun{}, metav1.ObjectNameField, byName).WithIndex(&v1alpha1.Benchmark{}, metav1.ObjectNameField, byName).Build()
	return NewApp(c, "shop", scope), nil
}

// set changes what the login answers.
func (l *tokens) set(change func(*tokens)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(l)
}

// gate is a Portal on the loopback interface.
type gate struct {
	t      *testing.T
	portal *Portal
	login  *tokens
	base   string
	passed atomic.Int64 // nanoseconds since the start, by the portal's clock
}

func newGate(t *testing.T) *gate {
	t.Helper()
	g := &gate{t: t, login: &tokens{objects: map[string][]client.Object{
		"alice": {newRun("of-alice")}, "bob": {newRun("of-bob")}, "carol": nil, "dave": nil,
	}}}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g.base = "http://" + listener.Addr().String()
	if g.portal, err = NewPortal(g.base, g.login); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	g.portal.users.now = func() time.Time { return start.Add(time.Duration(g.passed.Load())) }
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

// visitor is a browser behind a proxy that adds a token; none if it is empty.
type visitor struct {
	gate    *gate
	token   string
	browser *http.Client
}

func (g *gate) visitor(token string) *visitor {
	return &visitor{g, token, &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// do sends a request, as a page of the portal does unless the headers say otherwise.
func (v *visitor) do(method, path string, form url.Values, headers ...string) (int, string, *http.Response) {
	v.gate.t.Helper()
	r, err := http.NewRequestWithContext(v.gate.t.Context(), method, v.gate.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		v.gate.t.Fatal(err)
	}
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if v.token != "" {
		r.Header.Set(authorization, bearer+v.token)
	}
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

// get returns the status and the text of a page.
func (v *visitor) get(path string) (int, string) {
	v.gate.t.Helper()
	status, body, _ := v.do(http.MethodGet, path, nil)
	return status, body
}

// TestPortalSeparatesUsers checks that each user has the pages of their own token, and that nothing is shown without one.
func TestPortalSeparatesUsers(t *testing.T) {
	g := newGate(t)
	alice, bob, nobody := g.visitor("alice"), g.visitor("bob"), g.visitor("")
	for _, path := range []string{"/", "/benchmarks", "/new", "/events", "/runs/shop/of-alice", "/runs/shop/of-alice/report"} {
		for _, v := range []*visitor{nobody, g.visitor("mallory")} {
			status, body, response := v.do(http.MethodGet, path, nil)
			if status != http.StatusUnauthorized || !strings.Contains(body, "--pass-authorization-header") || strings.Contains(body, "href=\"/runs") {
				t.Errorf("%s with token %q: %d %s", path, v.token, status, body)
			}
			if csp := response.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || response.Header.Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("%s: %v", path, response.Header)
			}
		}
	}
	for v, names := range map[*visitor][2]string{alice: {"of-alice", "of-bob"}, bob: {"of-bob", "of-alice"}} {
		if status, body := v.get("/"); status != http.StatusOK || !strings.Contains(body, names[0]) || strings.Contains(body, names[1]) || !strings.Contains(body, ">"+v.token+"<") {
			t.Errorf("the list of %s: %d %s", v.token, status, body)
		}
		if status, _ := v.get("/runs/shop/" + names[0]); status != http.StatusOK {
			t.Errorf("%s reads their run: %d", v.token, status)
		}
		if status, _ := v.get("/runs/shop/" + names[1]); status != http.StatusNotFound {
			t.Errorf("%s reads another's run: %d", v.token, status)
		}
	}
}

// TestPortalNamespace checks that the namespace of a list is in its URL, for users who may list in one only, and that links keep it.
func TestPortalNamespace(t *testing.T) {
	g := newGate(t)
	other := newRun("elsewhere")
	other.Namespace = "depot"
	g.login.objects["alice"] = append(g.login.objects["alice"], other)
	alice := g.visitor("alice")
	for path, want := range map[string]string{"/": "[elsewhere of-alice]", "/?namespace=depot": "[elsewhere]", "/?namespace=shop&q=alice": "[of-alice]", "/?namespace=none": "[]"} {
		_, body := alice.get(path)
		all := names(body)
		slices.Sort(all)
		if got := fmt.Sprint(all); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	for _, path := range []string{"/?namespace=depot", "/benchmarks?namespace=depot", "/new?namespace=depot", "/runs/depot/elsewhere"} {
		_, body := alice.get(path)
		for _, link := range []string{`"/?namespace=depot"`, `"/benchmarks?namespace=depot"`, `"/new?namespace=depot"`, `name="namespace" value="depot"`} {
			if !strings.Contains(body, link) {
				t.Errorf("%s lacks %s: %s", path, link, body)
			}
		}
	}
}

var csrfInput = regexp.MustCompile(`name="csrf" value="([^"]+)"`)

// csrf returns the CSRF token of the form of a new run.
func (v *visitor) csrf() string {
	v.gate.t.Helper()
	_, body := v.get("/new")
	m := csrfInput.FindStringSubmatch(body)
	if m == nil {
		v.gate.t.Fatalf("no CSRF token in %s", body)
	}
	return m[1]
}

// TestPortalForms checks that a form is accepted with the CSRF token of its user's bearer token alone, which doesn't tell that.
func TestPortalForms(t *testing.T) {
	g := newGate(t)
	alice, bob, later := g.visitor("alice"), g.visitor("bob"), g.visitor("alice.2")
	const path = "/runs/shop/of-alice/suspend"
	for name, test := range map[string]struct {
		csrf string
		want int
	}{
		"own": {alice.csrf(), http.StatusSeeOther}, "none": {"", http.StatusForbidden}, "another user's": {bob.csrf(), http.StatusForbidden},
		"another token's": {later.csrf(), http.StatusForbidden}, "the token": {"alice", http.StatusForbidden},
	} {
		if status, body, _ := alice.do(http.MethodPost, path, url.Values{csrfField: {test.csrf}}); status != test.want {
			t.Errorf("%s: %d %s", name, status, body)
		}
		if strings.Contains(test.csrf, "alice") && test.csrf != "alice" {
			t.Errorf("%s: the CSRF token %q has the token", name, test.csrf)
		}
	}
	again := newGate(t).visitor("alice")
	if again.csrf() != alice.csrf() {
		t.Error("another replica must accept the form")
	}
}

// TestPortalKeepsOut checks what is refused with the token of a user: other names, other sites, and forms without their origin.
func TestPortalKeepsOut(t *testing.T) {
	alice := newGate(t).visitor("alice")
	for name, test := range map[string]struct {
		method, path string
		headers      []string
		want         int
	}{
		"own page":                {http.MethodGet, "/", nil, http.StatusOK},
		"rebound name":            {http.MethodGet, "/", []string{"Host", "evil.example"}, http.StatusMisdirectedRequest},
		"from another site":       {http.MethodGet, "/", []string{"Sec-Fetch-Site", "cross-site"}, http.StatusForbidden},
		"a link on another site":  {http.MethodGet, "/", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, http.StatusOK},
		"framed or loaded by one": {http.MethodGet, "/events", []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "cors"}, http.StatusForbidden},
		"a form of another site":  {http.MethodPost, "/runs/shop/of-alice/suspend", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, http.StatusForbidden},
		"a form from nowhere":     {http.MethodPost, "/runs/shop/of-alice/suspend", []string{"Sec-Fetch-Site", ""}, http.StatusForbidden},
		"another scheme":          {http.MethodGet, "/", []string{authorization, "Basic alice"}, http.StatusUnauthorized},
		"an empty token":          {http.MethodGet, "/", []string{authorization, bearer + " "}, http.StatusUnauthorized},
		"health, by any name":     {http.MethodGet, healthPath, []string{"Host", "10.0.0.7:8080"}, http.StatusOK},
	} {
		if status, body, _ := alice.do(test.method, test.path, nil, test.headers...); status != test.want {
			t.Errorf("%s: %d %s, want %d", name, status, body, test.want)
		}
	}
}

// TestPortalAsks checks when the API server is asked whose a token is: once a minute, and of unknown ones at a bounded rate, which
// those who are known don't notice.
func TestPortalAsks(t *testing.T) {
	g := newGate(t)
	alice := g.visitor("alice")
	asked := func(want int, when string) {
		t.Helper()
		g.login.set(func(l *tokens) {
			if len(l.asked) != want {
				t.Errorf("%s: %d questions, want %d", when, len(l.asked), want)
			}
		})
	}
	expect := func(v *visitor, want int) {
		t.Helper()
		if status, body := v.get("/new"); status != want {
			t.Errorf("%s: %d %s, want %d", v.token, status, body, want)
		}
	}
	for range 3 {
		expect(alice, http.StatusOK)
	}
	asked(1, "within a minute")
	g.pass(maxUnasked)
	expect(alice, http.StatusOK)
	asked(2, "after a minute")
	g.login.set(func(l *tokens) { l.asked = nil })
	for i := range unknownBurst {
		expect(g.visitor(fmt.Sprintf("mallory.%d", i)), http.StatusUnauthorized)
	}
	expect(g.visitor("mallory"), http.StatusServiceUnavailable)
	expect(g.visitor("bob"), http.StatusServiceUnavailable)
	asked(unknownBurst, "unknown tokens")
	if _, err := g.portal.users.of(t.Context(), "carol", "10.0.0.1:1"); err != nil {
		t.Errorf("a token from another address: %v", err)
	}
	expect(alice, http.StatusOK)
	g.portal.users.mu.Lock()
	g.portal.users.byToken[sha256.Sum256([]byte("alice"))].asked = time.Time{}
	g.portal.users.mu.Unlock()
	expect(alice, http.StatusOK)
	asked(unknownBurst+2, "a token that was known")
	g.pass(time.Second)
	expect(g.visitor("bob"), http.StatusOK)

	g.pass(maxUnasked)
	g.login.set(func(l *tokens) { l.err = apierrors.NewServiceUnavailable("down") })
	expect(alice, http.StatusOK)
	expect(g.visitor("dave"), http.StatusBadGateway)
	g.login.set(func(l *tokens) { l.err = nil; delete(l.objects, "alice") })
	expect(alice, http.StatusUnauthorized)
	g.login.set(func(l *tokens) { l.err = apierrors.NewServiceUnavailable("down") })
	expect(alice, http.StatusBadGateway) // a token that was revoked stays so
}

// TestTokensAreBounded checks that those of a user, and all, make room for new ones, and that questions at a time are bounded.
func TestTokensAreBounded(t *testing.T) {
	g := newGate(t)
	known := func(of string) (n int) {
		g.portal.users.mu.Lock()
		defer g.portal.users.mu.Unlock()
		if of == "" {
			return len(g.portal.users.byToken)
		}
		if u := g.portal.users.byName[of]; u != nil {
			n = u.tokens
		}
		return n
	}
	ask := func(token string) {
		t.Helper()
		g.pass(time.Second)
		if _, err := g.portal.users.of(t.Context(), token, ""); err != nil {
			t.Fatal(token, err)
		}
	}
	ask("bob")
	for i := range maxOfUser + 2 {
		ask(fmt.Sprintf("alice.%d", i))
	}
	if known("alice") != maxOfUser || known("bob") != 1 || known("") != maxOfUser+1 {
		t.Errorf("%d tokens of alice, %d of bob, %d of all", known("alice"), known("bob"), known(""))
	}
	for i := range maxTokens {
		name := fmt.Sprintf("user-%d", i)
		g.login.set(func(l *tokens) { l.objects[name] = nil })
		ask(name)
	}
	if known("bob") != 0 || known("") != maxTokens || len(g.portal.users.byName) != maxTokens {
		t.Errorf("%d tokens of bob, %d of all, %d users", known("bob"), known(""), len(g.portal.users.byName))
	}

	hold := make(chan struct{})
	g.login.set(func(l *tokens) { l.hold = hold })
	var all sync.WaitGroup
	for i := range maxAsking {
		all.Go(func() { _, _ = g.portal.users.of(t.Context(), fmt.Sprintf("mallory.%d", i), "") })
	}
	g.eventually(func() bool { return len(g.portal.users.asking) == maxAsking })
	if _, err := g.portal.users.of(t.Context(), "alice", ""); !errors.Is(err, errBusy) {
		t.Errorf("one more question: %v", err)
	}
	close(hold)
	all.Wait()
	ask("alice")
}

func (g *gate) eventually(done func() bool) {
	g.t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			g.t.Fatal("nothing happened in a minute")
		}
	}
}

// TestPortalURL checks the URLs by which a portal can't be reached safely.
func TestPortalURL(t *testing.T) {
	for address, ok := range map[string]bool{
		"https://assay.example.com": true, "https://assay.example.com:8443/": true, "http://localhost:8080": true, "http://127.0.0.1:8080": true, "http://[::1]:8080": true, "https://[fd00::1]:8443": true, "http://[fd00::1]": false,
		"http://assay.example.com": false, "ftp://assay.example.com": false, "assay.example.com": false, "https://": false,
		"https://assay.example.com/assay": false, "https://user@assay.example.com": false, "https://assay.example.com?x": false, "": false,
	} {
		if _, err := NewPortal(address, &tokens{}); (err == nil) != ok {
			t.Errorf("%q: %v", address, err)
		}
	}
}
