package targettls

import (
	"crypto/tls"
	"errors"
	"net"
	"strings"

	"github.com/assay-dev/assay/internal/session"
)

// Alert returns the alert with which the target closed TLS (RFC 8446, section 6.2), as crypto/tls
// names it, or an empty string for any other error. In TLS 1.3 a target rejects the client's
// certificate after the client's handshake is complete: the next read returns the error.
func Alert(err error) string {
	var operation *net.OpError
	if !errors.As(err, &operation) || operation.Op != "remote error" {
		return ""
	}
	return strings.TrimPrefix(operation.Err.Error(), "tls: ")
}

// Protocols returns the versions that config offers, named as in session.Protocols.
func Protocols(config *tls.Config) []string {
	var names []string
	for place, version := range versions {
		if config.MinVersion <= version && version <= config.MaxVersion {
			names = append(names, session.Protocols[place])
		}
	}
	return names
}
