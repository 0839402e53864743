package target

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/cipher"
	"github.com/assay-dev/assay/internal/session"
)

// DNSNames are the names in a certificate that is made for a run's target.
func DNSNames(run *v1alpha1.BenchmarkRun, c *v1alpha1.Certificate) []string {
	if len(c.DNSNames) > 0 {
		return c.DNSNames
	}
	return []string{run.Name + "-target." + run.Namespace + ".svc"}
}

// SpeaksTLS is whether clients and target speak TLS.
func SpeaksTLS(t *v1alpha1.Target) bool {
	return t.TLS != nil || t.Server.External != nil && strings.HasPrefix(t.Server.External.URL, "https:")
}

// SessionTLS is how the pods of a run speak TLS with its target; nil for not
// at all.
func SessionTLS(run *v1alpha1.BenchmarkRun) *session.TLS {
	t := &run.Spec.Target
	if !SpeaksTLS(t) {
		return nil
	}
	s := &session.TLS{}
	if t.Server.External != nil {
		if location, err := url.Parse(t.Server.External.URL); err == nil {
			s.ServerName = location.Hostname()
		}
	}
	if t.TLS == nil {
		return s
	}
	switch {
	case t.TLS.ServerName != "":
		s.ServerName = t.TLS.ServerName
	case t.TLS.Certificate != nil && t.TLS.Certificate.SecretName == "":
		s.ServerName = DNSNames(run, t.TLS.Certificate)[0]
	}
	for _, p := range t.TLS.Protocols {
		s.Protocols = append(s.Protocols, string(p))
	}
	for _, c := range t.TLS.Ciphers {
		s.Ciphers = append(s.Ciphers, string(c))
	}
	s.Unverified = t.TLS.Verification == v1alpha1.TLSVerifyNone
	s.Resume = t.TLS.SessionResumption == v1alpha1.Enabled
	s.ClientCertificate = t.TLS.ClientAuthentication != nil
	return s
}

// Host is the Host header of requests to a run's target; empty for its
// address. With TLS it is the name that the certificate is checked by.
func Host(run *v1alpha1.BenchmarkRun) string {
	t := &run.Spec.Target
	if e := t.Server.External; e != nil {
		if e.Host != "" {
			return e.Host
		}
		_, after, _ := strings.Cut(e.URL, "://")
		return after
	}
	if s := SessionTLS(run); s != nil && s.ServerName != "" {
		return s.ServerName + ":" + strconv.Itoa(int(Port(t)))
	}
	return ""
}

// ExternalAddress is the host and port of an external server.
func ExternalAddress(e *v1alpha1.ExternalServer) (string, error) {
	location, err := url.Parse(e.URL)
	if err != nil {
		return "", fmt.Errorf("spec.target.server.external.url: %w", err)
	}
	port := location.Port()
	switch {
	case port != "":
	case location.Scheme == "https":
		port = "443"
	default:
		port = "80"
	}
	host := location.Hostname()
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return host + ":" + port, nil
}

// TLSContradictions compares the TLS that was declared with what was
// negotiated.
func TLSContradictions(t *v1alpha1.Target, e *session.Evidence) []Contradiction {
	if t.TLS == nil || e.TLS == nil {
		return nil
	}
	var found []Contradiction
	contradict := func(field, declared, real, mend string) {
		found = append(found, Contradiction{Field: "spec.target.tls." + field, Declared: declared, Real: real, Mend: mend})
	}
	if protocols := t.TLS.Protocols; len(protocols) > 0 && !slices.Contains(protocols, v1alpha1.TLSProtocol(e.TLS.Protocol)) {
		contradict("protocols", fmt.Sprint(protocols), e.TLS.Protocol, "check the server's own configuration")
	}
	if accepted := sameVersion(t.TLS.Ciphers, e.TLS.Protocol == "TLSv1.3"); len(accepted) > 0 &&
		!slices.Contains(accepted, v1alpha1.CipherSuite(e.TLS.Cipher)) {
		contradict("ciphers", fmt.Sprint(accepted), e.TLS.Cipher, "this server can't be held to these suites: take others, or other protocols")
	}
	if c := t.TLS.Certificate; c != nil && c.SecretName == "" {
		algorithm, size := Key(c.PrivateKey)
		if string(algorithm) != e.TLS.KeyAlgorithm || size != e.TLS.KeySize {
			contradict("certificate.privateKey", fmt.Sprintf("%s with %d bits", algorithm, size),
				fmt.Sprintf("%s with %d bits", e.TLS.KeyAlgorithm, e.TLS.KeySize), "check the issuer, and the server's own configuration")
		}
	}
	if t.TLS.ClientAuthentication != nil && !e.TLS.CertificateRequested {
		contradict("clientAuthentication", "given", "it asked for no certificate", "check the server's own configuration")
	}
	return found
}

// sameVersion are the suites of TLS 1.3, or those of the versions before it.
func sameVersion(suites []v1alpha1.CipherSuite, modern bool) []v1alpha1.CipherSuite {
	var same []v1alpha1.CipherSuite
	for _, s := range suites {
		if cipher.Modern(string(s)) == modern {
			same = append(same, s)
		}
	}
	return same
}

// Key is a kind of key with its defaults, and its size in bits.
func Key(k *v1alpha1.PrivateKey) (v1alpha1.KeyAlgorithm, int) {
	algorithm, size := v1alpha1.KeyRSA, 0
	if k != nil {
		if k.Algorithm != "" {
			algorithm = k.Algorithm
		}
		if k.Size != nil {
			size = int(*k.Size)
		}
	}
	switch {
	case size != 0:
	case algorithm == v1alpha1.KeyECDSA:
		size = 256
	default:
		size = 2048
	}
	return algorithm, size
}
