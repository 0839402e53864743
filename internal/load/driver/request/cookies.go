package request

import (
	"cmp"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/assay-dev/assay/internal/session"
)

// maxCookies limits the cookies of a connection. The oldest are evicted first (RFC 6265,
// section 6.1).
const maxCookies = 50

// Jar holds the cookies of one connection, which acts as one user (RFC 6265).
type Jar struct {
	// cookies are in the order in which they are sent.
	cookies []cookie
	// created is the number of cookies that were created.
	created int64
}

type cookie struct {
	// created is the cookie's number. A cookie that replaces another has that one's.
	created int64
	// pair is "name=value" as sent in the Cookie header.
	pair, name string
	// host is the host that set the cookie, or the cookie's domain if shared is true. A
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
		c, parsed, ok := parseCookie(field)
		if !ok {
			continue
		}
		c.host = r.hostname
		if domain := session.CanonicalHost(strings.TrimPrefix(parsed.Domain, ".")); domain != "" {
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

// parseCookie parses a Set-Cookie field as browsers do (section 5.2): the value may have any characters.
func parseCookie(field string) (c cookie, attributes *http.Cookie, ok bool) {
	pair, rest, _ := strings.Cut(field, ";")
	name, value, ok := strings.Cut(pair, "=")
	name, value = strings.Trim(name, " \t"), strings.Trim(value, " \t")
	attributes, err := http.ParseSetCookie("name=;" + rest)
	if !ok || name == "" || err != nil {
		return cookie{}, nil, false
	}
	expires := attributes.Expires
	for _, layout := range dates {
		if date, err := time.Parse(layout, attributes.RawExpires); err == nil {
			expires = date
		}
	}
	return cookie{pair: name + "=" + value, name: name, path: attributes.Path, secure: attributes.Secure, expires: expires}, attributes, true
}

// dates are the forms of an expiry time that net/http doesn't read: with a year of two digits, and as C's asctime() writes it.
var dates = []string{"Mon, 02-Jan-06 15:04:05 MST", "Mon, 02 Jan 06 15:04:05 MST", time.RFC850, time.ANSIC}

// put adds c, or removes the cookie if c has expired. It replaces the cookie with the
// same name, host and path.
func (j *Jar) put(c cookie, now time.Time) {
	j.created++
	c.created = j.created
	j.cookies = slices.DeleteFunc(j.cookies, func(old cookie) bool {
		same := old.name == c.name && old.host == c.host && old.path == c.path
		if same {
			c.created = old.created
		}
		return same
	})
	if !c.expires.IsZero() && !c.expires.After(now) {
		return
	}
	if len(j.cookies) == maxCookies {
		oldest := slices.MinFunc(j.cookies, func(a, b cookie) int { return cmp.Compare(a.created, b.created) })
		j.cookies = slices.DeleteFunc(j.cookies, func(other cookie) bool { return other.created == oldest.created })
	}
	j.cookies = append(j.cookies, c)
	// Longer paths come first, then earlier cookies (section 5.4).
	slices.SortFunc(j.cookies, func(a, b cookie) int { return cmp.Or(len(b.path)-len(a.path), cmp.Compare(a.created, b.created)) })
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
	if r.hostname != c.host && (!c.shared || !domainMatches(r.hostname, c.host)) {
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

// defaultPath returns the path of a cookie that doesn't set one (section 5.1.4).
func defaultPath(path string) string {
	path, _, _ = strings.Cut(path, "?")
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	return "/"
}
