package driver

import (
	"net"
	"net/http"
	"strings"
	"time"
)

// mostCookies bounds the cookies of a connection; the oldest make room (RFC
// 6265, section 6.1).
const mostCookies = 50

// jar has the cookies of one connection, of one user as it were (RFC 6265).
type jar struct{ cookies []cookie }

type cookie struct {
	// pair is "name=value", name its first part.
	pair, name string
	// host is who set it; others in whose domain it is have it too where shared.
	host   string
	shared bool
	path   string
	secure bool
	// expires is when it ends; zero for never.
	expires time.Time
}

// take takes up what a response to a request had in its Set-Cookie fields.
func (j *jar) take(fields []string, r *request, now time.Time) {
	for _, field := range fields {
		given, err := http.ParseSetCookie(field)
		if err != nil {
			continue
		}
		c := cookie{
			pair: given.Name + "=" + given.Value, name: given.Name, host: hostOf(r.host), path: given.Path, secure: given.Secure,
			expires: given.Expires,
		}
		if given.Quoted {
			c.pair = given.Name + `="` + given.Value + `"`
		}
		if domain := strings.ToLower(strings.TrimPrefix(given.Domain, ".")); domain != "" {
			if !within(c.host, domain) {
				continue
			}
			c.host, c.shared = domain, true
		}
		if !strings.HasPrefix(c.path, "/") {
			c.path = folderOf(r.planned.Path)
		}
		if given.MaxAge != 0 {
			c.expires = now.Add(time.Duration(given.MaxAge) * time.Second)
		}
		j.put(c, now)
	}
}

// put replaces the cookie of the same name, host and path.
func (j *jar) put(c cookie, now time.Time) {
	kept := j.cookies[:0]
	for _, old := range j.cookies {
		if old.name != c.name || old.host != c.host || old.path != c.path {
			kept = append(kept, old)
		}
	}
	if c.expires.IsZero() || c.expires.After(now) {
		kept = append(kept, c)
	}
	j.cookies = kept[max(0, len(kept)-mostCookies):]
}

// appendField appends the header Cookie of a request, if it has one.
func (j *jar) appendField(text []byte, r *request, secure bool) []byte {
	begun := false
	for i := range j.cookies {
		c := &j.cookies[i]
		if c.secure && !secure || !c.covers(r) || !c.expires.IsZero() && !c.expires.After(time.Now()) {
			continue
		}
		if begun {
			text = append(text, "; "...)
		} else {
			text, begun = append(text, "Cookie: "...), true
		}
		text = append(text, c.pair...)
	}
	if begun {
		text = append(text, "\r\n"...)
	}
	return text
}

// covers is whether a request is one that the cookie goes with (sections 5.1.3
// and 5.1.4).
func (c *cookie) covers(r *request) bool {
	host := hostOf(r.host)
	if host != c.host && (!c.shared || !within(host, c.host)) {
		return false
	}
	path, _, _ := strings.Cut(r.planned.Path, "?")
	rest, below := strings.CutPrefix(path, c.path)
	return below && (rest == "" || rest[0] == '/' || strings.HasSuffix(c.path, "/"))
}

// within is whether a host is a domain or in it.
func within(host, domain string) bool {
	return host == domain || strings.HasSuffix(host, "."+domain) && net.ParseIP(host) == nil
}

// hostOf is a Host header without its port, in small letters.
func hostOf(header string) string {
	host := header
	if i := strings.LastIndexByte(header, ':'); i > strings.LastIndexByte(header, ']') {
		host = header[:i]
	}
	return strings.ToLower(host)
}

// folderOf is a cookie's path where it has none of its own (section 5.1.4).
func folderOf(path string) string {
	path, _, _ = strings.Cut(path, "?")
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	return "/"
}
