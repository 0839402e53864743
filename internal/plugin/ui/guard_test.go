package ui

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// TestGuard checks who is kept out: who has no cookie, who comes by another name (DNS rebinding), and who comes from
// another site.
func TestGuard(t *testing.T) {
	s := newSite(t, interceptor.Funcs{}, newRun("demo")).synced()
	stranger := &http.Client{}
	for name, test := range map[string]struct {
		method  string
		path    string
		change  func(*http.Request)
		without bool // the cookie
		want    int
	}{
		"own page": {path: "/", want: http.StatusOK},
		"by the name localhost": {path: "/", change: func(r *http.Request) {
			r.Host = strings.Replace(r.URL.Host, "127.0.0.1", "localhost", 1)
			r.AddCookie(s.cookie())
		}, want: http.StatusOK},
		"from the address bar":     {path: "/", change: header("Sec-Fetch-Site", "none"), want: http.StatusOK},
		"from a link of a page":    {path: "/", change: header("Sec-Fetch-Site", "same-origin"), want: http.StatusOK},
		"without a cookie":         {path: "/", without: true, want: http.StatusUnauthorized},
		"a wrong token":            {path: "/?token=wrong", without: true, want: http.StatusUnauthorized},
		"the style too":            {path: "/assets/ui.css", without: true, want: http.StatusUnauthorized},
		"rebound name":             {path: "/", change: func(r *http.Request) { r.Host = "evil.example:80" }, want: http.StatusMisdirectedRequest},
		"rebound name, with token": {path: "/?token=" + s.guard.token, change: func(r *http.Request) { r.Host = "evil.example" }, without: true, want: http.StatusMisdirectedRequest},
		"another port":             {path: "/", change: func(r *http.Request) { r.Host = "127.0.0.1:1" }, want: http.StatusMisdirectedRequest},
		"from another site":        {path: "/", change: header("Sec-Fetch-Site", "cross-site"), want: http.StatusForbidden},
		"from another port":        {path: "/", change: header("Sec-Fetch-Site", "same-site"), want: http.StatusForbidden},
		"another origin":           {path: "/events", change: header("Origin", "http://evil.example"), want: http.StatusForbidden},
		"a null origin":            {path: "/events", change: header("Origin", "null"), want: http.StatusForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			r := s.request(http.MethodGet, test.path, nil)
			if test.change != nil {
				test.change(r)
			}
			browser := s.browser
			if test.without {
				browser = stranger
			}
			response, err := browser.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if response.StatusCode != test.want {
				t.Errorf("%s, want %d", response.Status, test.want)
			}
			if csp := response.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
				t.Errorf("Content-Security-Policy %q", csp)
			}
			if test.want != http.StatusOK && len(response.Cookies()) > 0 {
				t.Errorf("a cookie for who is kept out: %v", response.Cookies())
			}
		})
	}
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func (s *site) cookie() *http.Cookie {
	return &http.Cookie{Name: s.guard.cookie, Value: s.guard.session}
}

// TestCookie checks that the cookie is for this program alone, and isn't the token.
func TestCookie(t *testing.T) {
	s := newSite(t, interceptor.Funcs{})
	response, err := http.DefaultClient.Do(s.request(http.MethodGet, "/?token="+s.guard.token, nil))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if len(response.Cookies()) != 1 {
		t.Fatalf("cookies %v", response.Cookies())
	}
	c := response.Cookies()[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Value == s.guard.token || len(c.Value) < 26 {
		t.Errorf("%+v", c)
	}
}

// TestCSRF checks that no change is made without the token of the forms, from another site, or by a GET.
func TestCSRF(t *testing.T) {
	s := newSite(t, interceptor.Funcs{}, newRun("demo")).synced()
	const path = "/runs/shop/demo/suspend"
	with := func(token string, change func(*http.Request)) *http.Request {
		r := s.request(http.MethodPost, path, url.Values{csrfField: {token}})
		if change != nil {
			change(r)
		}
		return r
	}
	token := s.server.csrf
	for name, r := range map[string]*http.Request{
		"without the token": with("", nil), "with a wrong one": with("wrong", nil),
		"from another site": with(token, header("Sec-Fetch-Site", "cross-site")),
		"another origin": with(token, func(r *http.Request) {
			r.Header.Del("Sec-Fetch-Site")
			r.Header.Set("Origin", "http://127.0.0.1:1")
		}),
		"by GET":               s.request(http.MethodGet, path+"?csrf="+token, nil),
		"the token in the URL": s.request(http.MethodPost, path+"?csrf="+token, nil),
		"too much":             s.request(http.MethodPost, "/new", url.Values{csrfField: {token}, "manifest": {strings.Repeat("x", maxBody)}}),
	} {
		if status, _, _ := s.do(r); status < 400 {
			t.Errorf("%s: status %d", name, status)
		}
	}
	if s.stored("demo").Spec.Suspend != nil {
		t.Error("the run was changed")
	}
	if status, body, _ := s.do(with(token, nil)); status != http.StatusSeeOther {
		t.Errorf("the form itself: %d %s", status, body)
	}
	if suspended := s.stored("demo").Spec.Suspend; suspended == nil || !*suspended {
		t.Error("the run wasn't suspended")
	}
}
