package request

import (
	"net/url"
	"strings"

	"github.com/assay-dev/assay/internal/session"
)

// origin is a server without its scheme (RFC 6454, section 4), so that two of them can be compared.
type origin struct{ host, port string }

// origin returns the origin of a host with or without a port.
func (s *Set) origin(authority string) origin {
	host, port := splitPort(authority)
	if port = strings.TrimLeft(port, "0"); port == "" {
		port = defaultPorts[s.scheme()]
	}
	return origin{session.CanonicalHost(host), port}
}

var defaultPorts = map[string]string{"http": "80", "https": "443"}

func (s *Set) scheme() string {
	if s.plan.TLS != nil {
		return "https"
	}
	return "http"
}

// ownHost returns the Host header of a request to a URL that the response to r refers to. It returns false if the URL isn't the target's. The
// target has the names of r and of the plan, with the port that they imply or with its own, and its address.
func (s *Set) ownHost(r *Request, to *url.URL) (host string, own bool) {
	if to.Scheme != "" && to.Scheme != s.scheme() {
		return "", false
	}
	if to.Host == "" {
		return r.Host, true
	}
	o, target := s.origin(to.Host), s.origin(s.target)
	for _, name := range []string{r.Host, s.host, session.HostHeader("", s.target, s.plan.TLS != nil)} {
		if o == s.origin(name) {
			return name, true
		}
		if o.port == target.port && o.host == s.origin(name).host {
			host, own = to.Host, true
		}
	}
	return host, own
}

// hostname returns the canonical name in a Host header.
func hostname(header string) string {
	host, _ := splitPort(header)
	return session.CanonicalHost(host)
}

// splitPort splits a host with or without a port.
func splitPort(authority string) (host, port string) {
	if i := strings.LastIndexByte(authority, ':'); i > strings.LastIndexByte(authority, ']') {
		return authority[:i], authority[i+1:]
	}
	return authority, ""
}
