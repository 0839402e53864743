package adapter

import (
	"fmt"
	"slices"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/cipher"
)

// knownProtocols are the versions of TLS that a run can declare.
var knownProtocols = []v1alpha1.TLSProtocol{v1alpha1.TLSv10, v1alpha1.TLSv11, v1alpha1.TLSv12, v1alpha1.TLSv13}

// Protocols returns the versions of TLS that a server accepts.
func Protocols(tls *v1alpha1.TLS) []string {
	if len(tls.Protocols) == 0 {
		return []string{string(v1alpha1.TLSv12), string(v1alpha1.TLSv13)}
	}
	return Texts(tls.Protocols)
}

// AcceptsOldTLS reports whether a server accepts a version of TLS that libraries
// no longer enable.
func AcceptsOldTLS(tls *v1alpha1.TLS) bool {
	return slices.Contains(tls.Protocols, v1alpha1.TLSv10) || slices.Contains(tls.Protocols, v1alpha1.TLSv11)
}

// CipherSuites returns the declared cipher suites up to TLS 1.2, and those of
// TLS 1.3.
func CipherSuites(tls *v1alpha1.TLS) (old, tls13 []string) {
	for _, c := range tls.Ciphers {
		if cipher.IsTLS13(string(c)) {
			tls13 = append(tls13, string(c))
		} else {
			old = append(old, string(c))
		}
	}
	return old, tls13
}

// DeclaredProtocols returns the versions of TLS for a message.
func DeclaredProtocols(tls *v1alpha1.TLS) string {
	if tls == nil {
		return "not set"
	}
	return strings.Join(Protocols(tls), ", ")
}

// DeclaredCiphers returns the declared cipher suites for a message.
func DeclaredCiphers(tls *v1alpha1.TLS) string {
	if tls == nil || len(tls.Ciphers) == 0 {
		return "not set"
	}
	old, tls13 := CipherSuites(tls)
	return strings.Join(append(tls13, old...), ", ")
}

// CheckTLS returns an error if t has a protocol or a cipher suite that the clients
// don't support.
func CheckTLS(t *v1alpha1.TLS) error {
	for _, p := range t.Protocols {
		if !slices.Contains(knownProtocols, p) {
			return fmt.Errorf("spec.target.tls.protocols: %q must be one of %v", p, knownProtocols)
		}
	}
	for _, c := range t.Ciphers {
		if _, err := cipher.ID(string(c)); err != nil {
			return fmt.Errorf("spec.target.tls.ciphers: %q is not a cipher suite that the clients support: "+
				"use those that kubectl explain benchmarkrun.spec.target.tls.ciphers lists", c)
		}
	}
	return nil
}

// Texts returns values of a string type as strings.
func Texts[T ~string](all []T) []string {
	var texts []string
	for _, one := range all {
		texts = append(texts, string(one))
	}
	return texts
}
