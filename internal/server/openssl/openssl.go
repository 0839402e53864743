// Package openssl turns the declared TLS into the terms of servers that use
// OpenSSL.
package openssl

import (
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server/adapter"
)

const (
	// SessionCacheBytes is the size of a server's cache of TLS sessions.
	SessionCacheBytes = 10 << 20
	// VerifyDepth is the longest chain of certificates from a client's to one that
	// the server has.
	VerifyDepth = 10
)

// Settings are the TLS settings of a server that uses OpenSSL.
type Settings struct {
	// Protocols are the versions.
	Protocols []string
	// Ciphers are the suites up to TLS 1.2, as OpenSSL's cipher list, or empty for
	// the server's own.
	Ciphers string
	// TLS13Suites are those of TLS 1.3, as OpenSSL's list, or empty for all.
	TLS13Suites string
	// Resume reports whether sessions may be resumed.
	Resume bool
	// ClientCertificate reports whether clients need a certificate.
	ClientCertificate bool
}

// New returns the settings that t declares, or nil for no TLS. An error is the
// user's to fix, and names the field.
func New(t *v1alpha1.TLS) (*Settings, error) {
	if t == nil {
		return nil, nil
	}
	if err := adapter.CheckTLS(t); err != nil {
		return nil, err
	}
	old, suites := adapter.CipherSuites(t)
	// OpenSSL 3 supports the first versions only at its lowest security level.
	if adapter.AcceptsOldTLS(t) {
		if len(old) == 0 {
			old = []string{"DEFAULT"}
		}
		old = append(old, "@SECLEVEL=0")
	}
	return &Settings{
		Protocols:         adapter.Protocols(t),
		Ciphers:           strings.Join(old, ":"),
		TLS13Suites:       strings.Join(suites, ":"),
		Resume:            t.SessionResumption == v1alpha1.Enabled,
		ClientCertificate: t.ClientAuthentication != nil,
	}, nil
}
