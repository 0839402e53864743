package request

import (
	"net"
	"net/http"
	"strings"
	"time"
)

// maxCookies limits the cookies of a connection. The oldest are evicted first (RFC 6265,
// section 6.1).
const maxCookies = 50

// Jar holds the cookies of one connection, which acts as one user (RFC 6265).
type Jar struct{ cookies []cookie }

type cookie struct {
	// pair is "name=value" as sent in the Cookie header.
	pair, name string
	// Host is the host that set the cookie, or the cookie's domain if shared is true. A
	// shared cookie also goes to the hosts of its domain.
	host   string
	shared bool
	path   string
	secure bool
	// expires is the expiry time. The zero time means that the cookie doesn't expire.
	expires time.Time
}

// Store stores the cookies of the Set-Cookie fields in the response to r.
func (j *Jar) Store(fields []string, r *Request, now time.Time) {
	for _, field := range fields {
		parsed, err := http.ParseSetCookie(field)
		if err != nil {
			continue
		}
		c := cookie{
			pair: parsed.Name + "=" + parsed.Value, name: parsed.Name, host: hostOf(r.Host), path: parsed.Path, secure: parsed.Secure,
			expires: parsed.Expires,
		}
		if parsed.Quoted {
			c.pair = parsed.Name + `="` + parsed.Value + `"`
		}
		if domain := strings.ToLower(strings.TrimPrefix(parsed.Domain, ".")); domain != "" {
			if !domainMatches(c.host, domain) {
				continue
			}
			c.host, c.shared = domain, true
		}
		if !strings.HasPrefix(c.path, "/") {
			c.path = defaultPath(r.Planned.Path)
		}
		if parsed.MaxAge != 0 {
			c.expires = now.Add(time.Duration(parsed.MaxAge) * time.Second)
		}
		j.put(c, now)
	}
}

// put adds c, or removes the cookie if c has expired. It replaces the cookie with the
// same name, host and path.
func (j *Jar) put(c cookie, now time.Time) {
	kept := j.cookies[:0]
	for _, old := range j.cookies {
		if old.name != c.name || old.host != c.host || old.path != c.path {
			kept = append(kept, old)
		}
	}
	if c.expires.IsZero() || c.expires.After(now) {
		kept = append(kept, c)
	}
	j.cookies = kept[max(0, len(kept)-maxCookies):]
}

// AppendField appends the Cookie header of a request, if any cookie matches.
func (j *Jar) AppendField(text []byte, r *Request, secure bool) []byte {
	begun := false
	for i := range j.cookies {
		c := &j.cookies[i]
		if c.secure && !secure || !c.matches(r) || !c.expires.IsZero() && !c.expires.After(time.Now()) {
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

// matches reports whether the cookie's host and path match a request (sections 5.1.3 and 5.1.4).
func (c *cookie) matches(r *Request) bool {
	host := hostOf(r.Host)
	if host != c.host && (!c.shared || !domainMatches(host, c.host)) {
		return false
	}
	path, _, _ := strings.Cut(r.Planned.Path, "?")
	rest, below := strings.CutPrefix(path, c.path)
	return below && (rest == "" || rest[0] == '/' || strings.HasSuffix(c.path, "/"))
}

// domainMatches reports whether host is domain or one of its subdomains.
func domainMatches(host, domain string) bool {
	return host == domain || strings.HasSuffix(host, "."+domain) && net.ParseIP(host) == nil
}

// hostOf returns the host of a Host header without its port, in lowercase.
func hostOf(header string) string {
	host := header
	if i := strings.LastIndexByte(header, ':'); i > strings.LastIndexByte(header, ']') {
		host = header[:i]
	}
	return strings.ToLower(host)
}

// defaultPath returns the path of a cookie that doesn't set one (section 5.1.4).
func defaultPath(path string) string {
	path, _, _ = strings.Cut(path, "?")
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	return "/"
}
