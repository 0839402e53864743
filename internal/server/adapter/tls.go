package adapter

import (
	"fmt"
	"slices"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/cipher"
)

const (
	// SessionCacheBytes is the size of a server's cache of TLS sessions.
	SessionCacheBytes = 10 << 20
	// VerifyDepth is the longest chain of certificates from a client's to one that the server has.
	VerifyDepth = 10
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

// AcceptsOldTLS reports whether a server accepts a version of TLS that libraries no longer enable.
func AcceptsOldTLS(tls *v1alpha1.TLS) bool {
	return slices.Contains(tls.Protocols, v1alpha1.TLSv10) || slices.Contains(tls.Protocols, v1alpha1.TLSv11)
}

// Resumes reports whether a server lets clients resume sessions.
func Resumes(tls *v1alpha1.TLS) bool { return tls.SessionResumption == v1alpha1.Enabled }

// CipherSuites returns the declared cipher suites up to TLS 1.2, and those of TLS 1.3.
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

// OpenSSLCiphers returns the declared cipher suites as OpenSSL's lists, which are empty for those
// that the server has by default. usual is that default up to TLS 1.2.
func OpenSSLCiphers(tls *v1alpha1.TLS, usual string) (old, tls13 string) {
	suites, suites13 := CipherSuites(tls)
	// OpenSSL 3 supports the first versions only at its lowest security level.
	if AcceptsOldTLS(tls) {
		if len(suites) == 0 {
			suites = []string{usual}
		}
		suites = append(suites, "@SECLEVEL=0")
	}
	return strings.Join(suites, ":"), strings.Join(suites13, ":")
}

// DeclaredProtocols returns the versions of TLS for a message.
func DeclaredProtocols(in *Input) string {
	if in.TLS == nil {
		return "not set"
	}
	return strings.Join(Protocols(in.TLS), ", ")
}

// DeclaredCiphers returns the declared cipher suites for a message.
func DeclaredCiphers(in *Input) string {
	if in.TLS == nil || len(in.TLS.Ciphers) == 0 {
		return "not set"
	}
	old, tls13 := CipherSuites(in.TLS)
	return strings.Join(append(tls13, old...), ", ")
}

// CheckTLS returns an error if TLS has a protocol or a cipher suite that the clients don't support.
func (in *Input) CheckTLS() error {
	if in.TLS == nil {
		return nil
	}
	for _, p := range in.TLS.Protocols {
		if !slices.Contains(knownProtocols, p) {
			return fmt.Errorf("spec.target.tls.protocols: %q must be one of %v", p, knownProtocols)
		}
	}
	for _, c := range in.TLS.Ciphers {
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
