package adapter

import (
	"slices"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/cipher"
)

// KnownProtocols are the versions of TLS that a run can declare.
var KnownProtocols = []v1alpha1.TLSProtocol{v1alpha1.TLSv10, v1alpha1.TLSv11, v1alpha1.TLSv12, v1alpha1.TLSv13}

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

// DeclaredProtocols returns the versions of TLS, for a message.
func DeclaredProtocols(tls *v1alpha1.TLS) string {
	if tls == nil {
		return "left out"
	}
	return strings.Join(Protocols(tls), ", ")
}

// DeclaredCiphers returns the declared cipher suites, for a message.
func DeclaredCiphers(tls *v1alpha1.TLS) string {
	if tls == nil || len(tls.Ciphers) == 0 {
		return "left out"
	}
	old, tls13 := CipherSuites(tls)
	return strings.Join(append(tls13, old...), ", ")
}

// Texts returns values of a string type as strings.
func Texts[T ~string](all []T) []string {
	var texts []string
	for _, one := range all {
		texts = append(texts, string(one))
	}
	return texts
}
