package request

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assay-dev/assay/internal/session"
)

// TestRedirectsToTheTarget checks which URLs are the target's, and under which Host header they are requested.
func TestRedirectsToTheTarget(t *testing.T) {
	const no = "another server"
	for _, test := range []struct {
		host, target   string
		secure         bool
		location       string
		path, nextHost string // or no
	}{
		{"", "10.0.0.1:80", false, "/b?c=d#e", "/b?c=d", "10.0.0.1"},
		{"", "10.0.0.1:80", false, "b", "/a/b", "10.0.0.1"},
		{"", "10.0.0.1:80", false, "?b", "/a/?b", "10.0.0.1"},
		{"", "10.0.0.1:80", false, "http://10.0.0.1:80/b", "/b", "10.0.0.1"},
		{"", "10.0.0.1:80", false, "http://10.0.0.1:/b", "/b", "10.0.0.1"},
		{"", "10.0.0.1:80", false, "http://10.0.0.1", "/", "10.0.0.1"},
		{"", "10.0.0.1:80", false, "//10.0.0.1:0080/b", "/b", "10.0.0.1"},
		{"", "10.0.0.1:80", false, "http://10.0.0.1:81/b", no, ""},
		{"", "10.0.0.1:80", false, "https://10.0.0.1:80/b", no, ""},
		{"", "10.0.0.1:443", true, "https://10.0.0.1/b", "/b", "10.0.0.1"},
		{"", "10.0.0.1:443", true, "HTTPS://10.0.0.1:443/b", "/b", "10.0.0.1"},
		{"", "10.0.0.1:443", true, "http://10.0.0.1:443/b", no, ""},
		{"", "10.0.0.1:443", true, "https://10.0.0.1:80/b", no, ""},
		{"", "10.0.0.1:8443", true, "https://10.0.0.1/b", no, ""},
		{"", "10.0.0.1:8443", true, "https://10.0.0.1:8443/b", "/b", "10.0.0.1:8443"},
		{"www.test", "10.0.0.1:443", true, "https://WWW.Test:443/b", "/b", "www.test"},
		{"www.test", "10.0.0.1:443", true, "https://www.test./b", "/b", "www.test"},
		{"WWW.test:443", "10.0.0.1:443", true, "https://www.test/b", "/b", "WWW.test:443"},
		{"www.test", "10.0.0.1:443", true, "https://10.0.0.1:443/b", "/b", "10.0.0.1"},
		{"www.test", "10.0.0.1:8443", true, "https://www.test:8443/b", "/b", "www.test:8443"},
		{"www.test", "10.0.0.1:8443", true, "https://www.test/b", "/b", "www.test"},
		{"www.test", "10.0.0.1:443", true, "https://test/b", no, ""},
		{"www.test", "10.0.0.1:443", true, "https://www.test.evil/b", no, ""},
		{"www.test", "10.0.0.1:443", true, "https://www.test@evil/b", no, ""},
		{"a_b.test", "10.0.0.1:80", false, "http://A_B.test/b", "/b", "a_b.test"},
		{"xn--bcher-kva.test", "10.0.0.1:80", false, "http://BÜCHER.test/b", "/b", "xn--bcher-kva.test"},
		{"xn--bcher-kva.test", "10.0.0.1:80", false, "http://b%C3%BCcher.test./b", "/b", "xn--bcher-kva.test"},
		{"", "[::1]:80", false, "http://[0:0::1]/b", "/b", "[::1]"},
		{"", "[fe80::1%eth0]:81", false, "http://[FE80::1]:81/b", "/b", "[fe80::1]:81"},
		{"", "[::1]:80", false, "http://[::2]/b", no, ""},
		{"", "10.0.0.1:80", false, "http://10.0.0.1:x/b", no, ""},
	} {
		p := planOfSet(session.PlannedRequest{Path: "/a/"})
		if p.Host = test.host; test.secure {
			p.TLS = &session.TLS{}
		}
		s, err := NewSet(p, test.target, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		next, ok := s.Redirected(s.Requests[0], 302, test.location)
		switch {
		case !ok && test.path != no:
			t.Errorf("%s from %q at %s: not followed", test.location, test.host, test.target)
		case ok && (next.Planned.Path != test.path || next.Host != test.nextHost):
			t.Errorf("%s from %q at %s leads to %s of %s", test.location, test.host, test.target, next.Planned.Path, next.Host)
		}
	}
}

// TestCookies checks which cookies are sent, and in which order (RFC 6265, section 5.4).
func TestCookies(t *testing.T) {
	many := make([]string, maxCookies+1)
	for i := range many {
		many[i] = "n" + strings.Repeat("x", i) + "=; Path=/" + strings.Repeat("a/", i%3)
	}
	for name, test := range map[string]struct {
		host, path string
		set        []string
		want       string
	}{
		"creation":          {"h", "/", []string{"b=1", "a=2"}, "b=1; a=2"},
		"longer paths":      {"h", "/a/b", []string{"r=0; Path=/", "ab=2; Path=/a/b", "a=1; Path=/a", "c=3; Path=/a"}, "ab=2; a=1; c=3; r=0"},
		"replaced":          {"h", "/", []string{"a=1", "b=2", "a=3"}, "a=3; b=2"},
		"deleted and again": {"h", "/", []string{"a=1", "b=2", "a=; Max-Age=0", "a=3"}, "b=2; a=3"},
		"JSON":              {"h", "/", []string{`prefs={"a":1, "b": [2]}`}, `prefs={"a":1, "b": [2]}`},
		"expired, by dates of each form": {"h", "/", []string{
			"a=1; Expires=Mon, 03 Jan 2000 10:00:00 GMT", "b=1; Expires=Mon, 03-Jan-2000 10:00:00 GMT", "c=1; Expires=Mon, 03-Jan-00 10:00:00 GMT",
			"d=1; Expires=Monday, 03-Jan-00 10:00:00 GMT", "e=1; Expires=Mon Jan  3 10:00:00 2000", "f=1; Expires=Sun, 03-Jan-99 10:00:00 GMT",
			"g=1; Expires=Sun, 03 Jan 99 10:00:00 GMT",
		}, ""},
		"not yet expired":   {"h", "/", []string{"a=1; Expires=Thu, 03-Jan-60 10:00:00 GMT", "b=1; Expires=soon"}, "a=1; b=1"},
		"quotes":            {"h", "/", []string{`a="b c"; Path=/`}, `a="b c"`},
		"spaces and equals": {"h", "/", []string{" a = b=c\t; path=/"}, "a=b=c"},
		"no value":          {"h", "/", []string{"a=", "=b", "c", ""}, "a="},
		"a name in a domain": {"www.Shop.test:81", "/", []string{"a=1; Domain=.SHOP.test", "b=2; Domain=shop.test.", "c=3; domain=other.test", "d=4; Domain=www.shop.TEST"},
			"a=1; b=2; d=4"},
		"an address":            {"10.0.0.1", "/", []string{"a=1; Domain=0.0.1", "b=2; Domain=10.0.0.1"}, "b=2"},
		"the other paths":       {"h", "/ab?c=/a", []string{"a=1; Path=/a", "b=2; Path=/ab", "c=3; Path=x"}, "b=2; c=3"},
		"secure":                {"h", "/", []string{"a=1; Secure", "b=2"}, "b=2"},
		"the oldest is evicted": {"h", "/a/a/a/", many, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := newRequest(&session.PlannedRequest{Path: test.path}, test.host, &commonHeaders{})
			if err != nil {
				t.Fatal(err)
			}
			var jar Jar
			jar.Store(test.set, r, time.Now())
			got := strings.TrimSuffix(strings.TrimPrefix(string(jar.AppendField(nil, r, false)), "Cookie: "), "\r\n")
			if len(test.set) <= maxCookies {
				if got != test.want {
					t.Errorf("sent %q, want %q", got, test.want)
				}
			} else if all := strings.Split(got, "; "); len(all) != maxCookies || slices.Contains(all, "n=") {
				t.Errorf("%d cookies: %s", len(all), got)
			}
		})
	}
}
