package server

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server/adapter"
	"github.com/assay-dev/assay/internal/server/external"
	"github.com/assay-dev/assay/internal/session"
)

// DNSNames returns the names in a certificate that is made for a run's target.
func DNSNames(run *v1alpha1.BenchmarkRun, c *v1alpha1.Certificate) []string {
	if len(c.DNSNames) > 0 {
		return c.DNSNames
	}
	return []string{run.Name + "-target." + run.Namespace + ".svc"}
}

// Host returns the Host header of requests to a run's target, or an empty string for the target's
// address. With TLS it is the name that the certificate is checked by.
func Host(run *v1alpha1.BenchmarkRun) string {
	t := &run.Spec.Target
	if IsExternal(t) {
		return external.Host(t.Server.External)
	}
	if s := SessionTLS(run); s != nil && s.ServerName != "" {
		return s.ServerName + ":" + strconv.Itoa(int(Port(t)))
	}
	return ""
}

// SessionTLS returns how the pods of a run speak TLS with its target, or nil if they don't.
func SessionTLS(run *v1alpha1.BenchmarkRun) *session.TLS {
	t := &run.Spec.Target
	s := &session.TLS{}
	if IsExternal(t) {
		s.ServerName = external.TLSServerName(t.Server.External)
	}
	switch {
	case t.TLS == nil && s.ServerName == "":
		return nil
	case t.TLS == nil:
		return s
	}
	switch {
	case t.TLS.ServerName != "":
		s.ServerName = t.TLS.ServerName
	case t.TLS.Certificate != nil && t.TLS.Certificate.SecretName == "":
		s.ServerName = DNSNames(run, t.TLS.Certificate)[0]
	}
	s.Protocols, s.Ciphers = adapter.Texts(t.TLS.Protocols), adapter.Texts(t.TLS.Ciphers)
	s.Groups = adapter.Texts(t.TLS.Groups)
	s.Unverified = t.TLS.Verification == v1alpha1.TLSVerifyNone
	s.Resume = adapter.Resumes(t.TLS)
	s.ClientCertificate = t.TLS.ClientAuthentication != nil
	return s
}

// TLSMismatches returns where the TLS that was negotiated differs from what was declared.
func TLSMismatches(t *v1alpha1.Target, e *session.ProbeResult) []Mismatch {
	if t.TLS == nil || e.TLS == nil {
		return nil
	}
	found := adapter.Mismatches{In: &adapter.Input{TLS: t.TLS}}
	if protocols := t.TLS.Protocols; len(protocols) > 0 && !slices.Contains(protocols, v1alpha1.TLSProtocol(e.TLS.Protocol)) {
		found.Differs("tls.protocols", fmt.Sprint(protocols), e.TLS.Protocol, "check the server's own configuration")
	}
	accepted, tls13 := adapter.CipherSuites(t.TLS)
	if e.TLS.Protocol == "TLSv1.3" {
		accepted = tls13
	}
	if len(accepted) > 0 && !slices.Contains(accepted, e.TLS.Cipher) {
		found.Differs("tls.ciphers", fmt.Sprint(accepted), e.TLS.Cipher, "this server can't be limited to these suites: use others, or other protocols")
	}
	if c := t.TLS.Certificate; c != nil && c.SecretName == "" {
		algorithm, size := Key(c.PrivateKey)
		if string(algorithm) != e.TLS.KeyAlgorithm || size != e.TLS.KeySize {
			found.Differs("tls.certificate.privateKey", fmt.Sprintf("%s with %d bits", algorithm, size),
				fmt.Sprintf("%s with %d bits", e.TLS.KeyAlgorithm, e.TLS.KeySize), "check the issuer, and the server's own configuration")
		}
	}
	if t.TLS.ClientAuthentication != nil && !e.TLS.CertificateRequested {
		found.Differs("tls.clientAuthentication", "set", "it requested no certificate", "check the server's own configuration")
	}
	return found.All
}

// Key returns the kind of key that k declares, with its defaults, and its size in bits.
func Key(k *v1alpha1.PrivateKey) (v1alpha1.KeyAlgorithm, int) {
	key := ptr.Deref(k, v1alpha1.PrivateKey{})
	usual := int32(2048)
	if key.Algorithm == v1alpha1.KeyECDSA {
		usual = 256
	}
	return cmp.Or(key.Algorithm, v1alpha1.KeyRSA), int(ptr.Deref(key.Size, usual))
}
