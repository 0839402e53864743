// Package external is the adapter of servers that Assay doesn't start: they are found at a URL.
package external

import (
	"cmp"
	"errors"
	"net"
	"net/url"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server/adapter"
)

// Server is the adapter. Nothing is known of the server's log.
type Server struct{}

// Describe implements adapter.Server.
func (Server) Describe(in *adapter.Input) *adapter.Description {
	if in.Server.External == nil {
		return nil
	}
	return &adapter.Description{Name: "External", Detail: in.Server.External.URL}
}

// Render implements adapter.Server.
func (Server) Render(in *adapter.Input) (*adapter.Rendering, error) {
	return nil, errors.New(in.Field("external") + ": an external server isn't started")
}

// Address returns the host and port at which a server is found.
func Address(e *v1alpha1.ExternalServer) string {
	location, usual := parsed(e), "80"
	if location.Scheme == "https" {
		usual = "443"
	}
	return net.JoinHostPort(location.Hostname(), cmp.Or(location.Port(), usual))
}

// Host returns the Host header that requests to a server have.
func Host(e *v1alpha1.ExternalServer) string {
	_, host, _ := strings.Cut(e.URL, "://")
	return cmp.Or(e.Host, host)
}

// TLSServerName returns the name that a server's certificate must have, or an empty string if the
// server doesn't speak TLS.
func TLSServerName(e *v1alpha1.ExternalServer) string {
	if location := parsed(e); location.Scheme == "https" {
		return location.Hostname()
	}
	return ""
}

// parsed returns a server's URL. The API server rejects one that can't be parsed.
func parsed(e *v1alpha1.ExternalServer) *url.URL {
	location, err := url.Parse(e.URL)
	if err != nil {
		return &url.URL{}
	}
	return location
}
