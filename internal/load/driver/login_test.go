package driver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/load/driver/request"
	"github.com/assay-dev/assay/internal/load/recorder"
	"github.com/assay-dev/assay/internal/load/testserver"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/targettls/tlstest"
)

// container is a server with form login like Tomcat's FormAuthenticator. A
// request for a protected page without a login gets a session and the form. A
// form that is sent without a session fails. With a wrong password it gets an
// error page with status 200. With the right password it gets a new session ID
// and a redirect to the page requested first.
type container struct {
	mu       sync.Mutex
	sessions map[string]string // user by session; empty before the login
	wanted   map[string]string // path requested first, by session
	number   int
	logins   int
	// served counts the protected pages by session.
	served map[string]int
}

func newContainer() *container {
	return &container{sessions: map[string]string{}, wanted: map[string]string{}, served: map[string]int{}}
}

func (c *container) open() string {
	c.number++
	id := fmt.Sprintf("S%d", c.number)
	c.sessions[id] = ""
	return id
}

func (c *container) answer(r testserver.Request) testserver.Answer {
	c.mu.Lock()
	defer c.mu.Unlock()
	id := strings.TrimPrefix(r.Header("Cookie"), "JSESSIONID=")
	user, known := c.sessions[id]
	switch {
	case r.Path == "/app/j_security_check":
		form, err := url.ParseQuery(string(r.Body))
		if err != nil || !known || r.Method != "POST" || r.Header("Content-Type") != "application/x-www-form-urlencoded" {
			return replying("408 Request Timeout")
		}
		if form.Get("j_username") != "Mufasa" || form.Get("j_password") != "Circle of Life" || form.Get("token") != "t&"+id {
			return replying("200 OK")
		}
		delete(c.sessions, id)
		next := c.open()
		c.logins++
		c.sessions[next] = "Mufasa"
		return replying("303 See Other", "Set-Cookie: JSESSIONID="+next+"; Path=/app; HttpOnly", "Location: "+c.wanted[id])
	case user != "":
		c.served[id]++
		return replying("200 OK")
	default:
		if !known {
			id = c.open()
		}
		c.wanted[id] = r.Path
		page := `<form><input type=hidden name=token value=search></form><FORM method="post" action="j_security_check">
			<input type="hidden" name="token" value="t&amp;` + id + `"/><input name=j_username><INPUT TYPE=Password name=j_password></form>`
		return testserver.Text(len(page), testserver.Stay, fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\nSet-Cookie: JSESSIONID=%s; Path=/app\r\n\r\n%s", len(page), id, page))
	}
}

// formPlan returns a load of connections that log in.
func formPlan(connections int, requests int64, path string) session.Plan {
	p := plan(connections, requests, path)
	p.Cookies, p.Authentication = true, session.AuthenticationForm
	p.Form = &session.Form{
		Page: "/app/page", Path: "/app/j_security_check", UsernameField: "j_username", PasswordField: "j_password", Statuses: []int{302, 303},
	}
	return p
}

// logInAll returns a load and the error of logging in its connections.
func logInAll(t *testing.T, p *session.Plan, address string, config *tls.Config) (*Load, error) {
	t.Helper()
	own, err := credentials(t, session.AuthenticationForm, user)
	if err != nil {
		t.Fatal(err)
	}
	load := newLoad(t, p, address, Access{TLS: config, Credentials: own})
	return load, load.LogIn(t.Context())
}

// runStage runs a stage of a load and returns its outcomes.
func runStage(t *testing.T, load *Load, amount session.Amount) *tapRecorder {
	t.Helper()
	r := &tapRecorder{Recorder: recorder.New(1)}
	stage := load.NewStage(amount, r)
	defer stage.Stop()
	go stage.Begin(time.Now())
	stage.Run(0, 1)
	return r
}

// TestEachConnectionLogsInOnce checks that each connection logs in once and keeps
// its cookies when its transport closes, and from one stage to the next.
func TestEachConnectionLogsInOnce(t *testing.T) {
	for _, keepAlive := range []bool{true, false} {
		c := newContainer()
		server := testserver.New(t, c.answer)
		const connections = maxLogins + 3
		p := formPlan(connections, 200, "/app/page")
		p.KeepAlive = keepAlive
		load, err := logInAll(t, &p, server.Address(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			r := runStage(t, load, p.Measurement)
			if len(r.outcomes) != 200 {
				t.Errorf("%d requests", len(r.outcomes))
			}
			for _, o := range r.outcomes {
				if o.Error != recorder.NoError || o.Body != 2 { // not the page with the form
					t.Fatalf("outcome %+v", o)
				}
			}
		}
		server.Stop() // its goroutines use c until then
		if c.logins != connections {
			t.Errorf("%d logins of %d connections", c.logins, connections)
		}
		served := 0
		for _, n := range c.served {
			served += n
		}
		// Each login ends with the page requested first.
		if served != 400+connections || len(c.served) != connections {
			t.Errorf("%d pages to %d users", served, len(c.served))
		}
	}
}

func TestLoginOverTLS(t *testing.T) {
	own := tlstest.SelfSigned(t)
	c := newContainer()
	server := testserver.NewTLS(t, &tls.Config{Certificates: []tls.Certificate{own.Certificate}}, c.answer)
	p := formPlan(2, 10, "/app/page")
	p.TLS = &session.TLS{ServerName: tlstest.Name}
	load, err := logInAll(t, &p, server.Address(), tlsConfig(t, &p, server.Address(), tlstest.Directory(t, tlstest.Files{Server: own.PEM()})))
	if err != nil {
		t.Fatal(err)
	}
	if r := runStage(t, load, p.Measurement); len(r.outcomes) != 10 || r.outcomes[9].Body != 2 {
		t.Errorf("outcomes %+v", r.outcomes)
	}
}

func TestFailedLogins(t *testing.T) {
	for name, test := range map[string]struct {
		answer func(testserver.Request) testserver.Answer
		change func(*session.Form)
		want   string
	}{
		"page not found": {
			func(testserver.Request) testserver.Answer { return replying("404 Not Found") }, nil,
			"GET /app/page: unexpected status 404 Not Found",
		},
		"an error page": {
			newContainer().answer, func(f *session.Form) { f.PasswordField = "other" },
			"POST /app/j_security_check: unexpected status 200 OK, want one of [302 303]",
		},
		"no session": {newContainer().answer, func(f *session.Form) { f.Page = "" }, "unexpected status 408 Request Timeout"},
		"back to the form": {
			func(testserver.Request) testserver.Answer {
				return replying("302 Found", "Location: /app/j_security_check?error")
			}, func(f *session.Form) { f.Page = "" }, `redirected to "/app/j_security_check?error", back to the form`,
		},
		"to somewhere else": {
			func(testserver.Request) testserver.Answer { return replying("302 Found", "Location: /login") },
			func(f *session.Form) { f.Page, f.Location = "", "/home" }, `redirected to "/login", want a location that starts with /home`,
		},
		"without a redirect": {
			func(testserver.Request) testserver.Answer { return replying("200 OK") },
			func(f *session.Form) { f.Page, f.Location, f.Statuses = "", "/home", []int{200} }, "status 200 OK without a redirect, want a redirect to /home",
		},
		"to another server": {
			func(testserver.Request) testserver.Answer {
				return replying("302 Found", "Location: http://other.test/")
			}, func(f *session.Form) { f.Page = "" }, `redirected to "http://other.test/", which is another server`,
		},
		"a redirect loop": {
			func(testserver.Request) testserver.Answer { return replying("302 Found", "Location: /app/page") }, nil,
			"more than 10 redirects",
		},
		"to an error": {
			func(r testserver.Request) testserver.Answer {
				if r.Method == "POST" {
					return replying("302 Found", "Location: /home")
				}
				return replying("500 Internal Server Error")
			}, func(f *session.Form) { f.Page = "" }, "GET /home: unexpected status 500",
		},
		"no response": {
			func(testserver.Request) testserver.Answer { return testserver.Text(0, testserver.Hang) }, nil,
			"GET /app/page: no response within 50ms",
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := testserver.New(t, test.answer)
			p := formPlan(3, 10, "/app/page")
			if name == "no response" {
				p.TimeoutMicroseconds = 50_000
			}
			if test.change != nil {
				test.change(p.Form)
			}
			_, err := logInAll(t, &p, server.Address(), nil)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "of 3 connections succeeded") {
				t.Errorf("%v, want %q", err, test.want)
			}
			if err != nil && (strings.Contains(err.Error(), "Mufasa") || strings.Contains(err.Error(), "Circle")) {
				t.Errorf("the error contains the credentials: %v", err)
			}
		})
	}
}

func TestLoginEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	server := testserver.New(t, func(testserver.Request) testserver.Answer {
		cancel()
		return testserver.Text(0, testserver.Hang)
	})
	own, err := credentials(t, session.AuthenticationForm, user)
	if err != nil {
		t.Fatal(err)
	}
	p := formPlan(100, 100, "/")
	load := newLoad(t, &p, server.Address(), Access{Credentials: own})
	if err := load.LogIn(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestHiddenFields(t *testing.T) {
	field := func(name, value string) session.FormField { return session.FormField{Name: name, Value: value} }
	for name, test := range map[string]struct {
		page string
		want []session.FormField
	}{
		"none":                  {"<html><input type=hidden value=x>", nil},
		"no form":               {`<input type="hidden" name="_csrf" value="a&quot;b">`, []session.FormField{field("_csrf", `a"b`)}},
		"that with a password":  {`<form><input type=hidden name=a></form><form><input type=HIDDEN name=b value=1 /><input type=password></form><form><input type=hidden name=c></form>`, []session.FormField{field("b", "1")}},
		"after the password":    {`<form><input type=password><input type=hidden name=b></form>`, []session.FormField{field("b", "")}},
		"of all, without one":   {`<form><input type=hidden name=a></form><input type=hidden name=b>`, []session.FormField{field("a", ""), field("b", "")}},
		"in a comment, or text": {`<!-- <input type=hidden name=a> --><script>"<input type=hidden name=b>"</script><textarea><input type=hidden name=c></textarea>`, nil},
		"cut off":               {`<form><input type=hidden name=a value=1><input type=password><inp`, []session.FormField{field("a", "1")}},
	} {
		if diff := cmp.Diff(test.want, hiddenFields(test.page)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if n := len(hiddenFields(strings.Repeat("<input type=hidden name=a>", 10_000))); n != maxHiddenFields {
		t.Errorf("%d fields", n)
	}
}

// TestFormsAreEncoded checks the precedence of a form's fields: username and
// password, then the plan's fields, then the page's.
func TestFormsAreEncoded(t *testing.T) {
	g := login{load: &Load{formCredentials: &request.Credentials{Username: "ä b", Password: "c&d="}}, form: &session.Form{
		UsernameField: "u", PasswordField: "p", Fields: []session.FormField{{Name: "x", Value: "mine"}, {Name: "u", Value: "no"}},
	}}
	got, err := url.ParseQuery(g.encode([]session.FormField{{Name: "x", Value: "page's"}, {Name: "t", Value: "1"}, {Name: "p", Value: ""}}))
	want := url.Values{"u": {"ä b"}, "p": {"c&d="}, "x": {"mine"}, "t": {"1"}}
	if !maps.EqualFunc(want, got, slices.Equal[[]string]) || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}
