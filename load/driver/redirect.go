package driver

import (
	"net/url"
	"slices"
	"strings"

	"github.com/assay-dev/assay/internal/session"
)

// maxRedirects limits the redirects of one request.
const maxRedirects = 10

// isRedirect reports whether a response with the status and a Location field is a redirect.
func isRedirect(status int) bool {
	switch status {
	case 301, 302, 303, 307, 308:
		return true
	}
	return false
}

// redirected returns the request that a redirect leads to (RFC 9110, section 15.4). It
// returns false if the redirect leads to another server.
func (l *Load) redirected(r *request, status int, location string) (*request, bool) {
	to, err := url.Parse(location)
	if err != nil {
		return nil, false
	}
	from, err := url.Parse(r.planned.Path)
	if err != nil {
		return nil, false
	}
	scheme := "http"
	if l.tlsConfigs != nil {
		scheme = "https"
	}
	if to.Scheme != "" && to.Scheme != scheme ||
		to.Host != "" && session.HostHeader(to.Host, "", false) != r.host && !slices.Contains(l.hostNames, to.Host) {
		return nil, false
	}
	target := from.ResolveReference(to)
	planned := *r.planned
	if planned.Path = target.RequestURI(); planned.Path == "" || planned.Path[0] != '/' {
		return nil, false
	}
	if to.Host != "" {
		planned.Host = to.Host
	}
	if status == 303 && !r.noBody || (status == 301 || status == 302) && planned.Method == "POST" {
		planned.Method, planned.Body, planned.GeneratedBytes = "", nil, 0
		planned.Headers = slices.DeleteFunc(slices.Clone(planned.Headers), func(h session.Header) bool {
			return len(h.Name) >= len("Content-") && strings.EqualFold(h.Name[:len("Content-")], "Content-")
		})
	}
	next, err := newRequest(&planned, r.host, &l.common)
	return next, err == nil
}
