package targettls

import (
	"crypto/tls"
	"errors"
	"net"
	"strings"

	"github.com/assay-dev/assay/internal/session"
)

// Alert is the alert with which the target ended TLS (RFC 8446, section 6.2),
// in crypto/tls's words; empty for any other error. In TLS 1.3 a target that
// refuses the client's certificate says so when the client's handshake is over:
// what is read next has the error.
func Alert(err error) string {
	var operation *net.OpError
	if !errors.As(err, &operation) || operation.Op != "remote error" {
		return ""
	}
	return strings.TrimPrefix(operation.Err.Error(), "tls: ")
}

// Protocols are the versions that a configuration offers, of session.Protocols.
func Protocols(config *tls.Config) []string {
	var names []string
	for place, version := range versions {
		if config.MinVersion <= version && version <= config.MaxVersion {
			names = append(names, session.Protocols[place])
		}
	}
	return names
}
