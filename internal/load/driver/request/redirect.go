package request

import (
	"net/url"
	"slices"
	"strings"

	"github.com/assay-dev/assay/internal/session"
)

// MaxRedirects limits the redirects of one request.
const MaxRedirects = 10

// IsRedirect reports whether a response with the status and a Location field is a redirect.
func IsRedirect(status int) bool {
	switch status {
	case 301, 302, 303, 307, 308:
		return true
	}
	return false
}

// Redirected returns the request that a redirect leads to (RFC 9110, section 15.4). It
// returns false if the redirect leads to another server.
func (s *Set) Redirected(r *Request, status int, location string) (*Request, bool) {
	to, err := url.Parse(location)
	if err != nil {
		return nil, false
	}
	from, err := url.ParseRequestURI(r.Planned.Path)
	if err != nil {
		return nil, false
	}
	host, own := s.ownHost(r, to)
	if !own {
		return nil, false
	}
	target := from.ResolveReference(to)
	planned := *r.Planned
	if planned.Path = target.RequestURI(); planned.Path == "" || planned.Path[0] != '/' {
		return nil, false
	}
	planned.Host = host
	if status == 303 && !r.NoBody || (status == 301 || status == 302) && planned.Method == "POST" {
		planned.Method, planned.Body, planned.GeneratedBytes = "", nil, 0
		planned.Headers = slices.DeleteFunc(slices.Clone(planned.Headers), func(h session.Header) bool {
			return len(h.Name) >= len("Content-") && strings.EqualFold(h.Name[:len("Content-")], "Content-")
		})
	}
	next, err := newRequest(&planned, r.Host, &s.common)
	return next, err == nil
}

// Page returns the request for a path of the target, which is never written.
func (s *Set) Page(path string) *Request {
	return &Request{Planned: &session.PlannedRequest{Path: path}, Host: s.host, hostname: hostname(s.host)}
}
