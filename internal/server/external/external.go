// Package external is the adapter of servers that Assay doesn't start: they are
// found at a URL.
package external

import (
	"errors"
	"net"
	"net/url"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server/adapter"
)

// Server is the adapter. Nothing is known of the server's log.
type Server struct{}

var _ adapter.External = Server{}

// Declared implements adapter.Server.
func (Server) Declared(spec *v1alpha1.Server) bool { return spec.External != nil }

// Describe implements adapter.Server.
func (Server) Describe(in *adapter.Input) (name, detail string) {
	return "External", in.Server.External.URL
}

// Port implements adapter.Server.
func (Server) Port(*v1alpha1.Server, bool) int32 { return 0 }

// Configuration implements adapter.Server.
func (Server) Configuration(*v1alpha1.Server) *v1alpha1.Configuration { return nil }

// Render implements adapter.Server.
func (Server) Render(in *adapter.Input) (*adapter.Rendering, error) {
	return nil, errors.New(in.Field("external") + ": an external server isn't started")
}

// URL implements adapter.External.
func (Server) URL(spec *v1alpha1.Server) string { return spec.External.URL }

// Address implements adapter.External. The port is the usual one of the URL's scheme if the URL has
// none.
func (Server) Address(spec *v1alpha1.Server) string {
	location := parsed(spec)
	port := location.Port()
	switch {
	case port != "":
	case location.Scheme == "https":
		port = "443"
	default:
		port = "80"
	}
	return net.JoinHostPort(location.Hostname(), port)
}

// Host implements adapter.External.
func (Server) Host(spec *v1alpha1.Server) string {
	if host := spec.External.Host; host != "" {
		return host
	}
	_, host, _ := strings.Cut(spec.External.URL, "://")
	return host
}

// TLSServerName implements adapter.External.
func (Server) TLSServerName(spec *v1alpha1.Server) string {
	if location := parsed(spec); location.Scheme == "https" {
		return location.Hostname()
	}
	return ""
}

// CertificateAuthority implements adapter.External.
func (Server) CertificateAuthority(spec *v1alpha1.Server) *v1alpha1.CertificateAuthority {
	return spec.External.CertificateAuthority
}

// parsed returns the server's URL. The API server rejects one that can't be parsed.
func parsed(spec *v1alpha1.Server) *url.URL {
	location, err := url.Parse(spec.External.URL)
	if err != nil {
		return &url.URL{}
	}
	return location
}
