package server

import (
	"fmt"
	"slices"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server/adapter"
	"github.com/assay-dev/assay/internal/session"
)

// DNSNames returns the names in a certificate that is made for a run's target.
func DNSNames(run *v1alpha1.BenchmarkRun, c *v1alpha1.Certificate) []string {
	if len(c.DNSNames) > 0 {
		return c.DNSNames
	}
	return []string{run.Name + "-target." + run.Namespace + ".svc"}
}

// SessionTLS returns how the pods of a run speak TLS with its target, or nil if
// they don't.
func SessionTLS(run *v1alpha1.BenchmarkRun) *session.TLS {
	t := &run.Spec.Target
	s := &session.TLS{}
	if e := externalOf(t); e != nil {
		s.ServerName = e.TLSServerName(&t.Server)
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
	s.Unverified = t.TLS.Verification == v1alpha1.TLSVerifyNone
	s.Resume = t.TLS.SessionResumption == v1alpha1.Enabled
	s.ClientCertificate = t.TLS.ClientAuthentication != nil
	return s
}

// TLSMismatches returns where the TLS that was negotiated differs from what was
// declared.
func TLSMismatches(t *v1alpha1.Target, e *session.ProbeResult) []Mismatch {
	if t.TLS == nil || e.TLS == nil {
		return nil
	}
	var found []Mismatch
	mismatch := func(field, declared, real, remedy string) {
		found = append(found, Mismatch{Field: "spec.target.tls." + field, Declared: declared, Real: real, Remedy: remedy})
	}
	if protocols := t.TLS.Protocols; len(protocols) > 0 && !slices.Contains(protocols, v1alpha1.TLSProtocol(e.TLS.Protocol)) {
		mismatch("protocols", fmt.Sprint(protocols), e.TLS.Protocol, "check the server's own configuration")
	}
	accepted, tls13 := adapter.CipherSuites(t.TLS)
	if e.TLS.Protocol == "TLSv1.3" {
		accepted = tls13
	}
	if len(accepted) > 0 && !slices.Contains(accepted, e.TLS.Cipher) {
		mismatch("ciphers", fmt.Sprint(accepted), e.TLS.Cipher, "this server can't be limited to these suites: use others, or other protocols")
	}
	if c := t.TLS.Certificate; c != nil && c.SecretName == "" {
		algorithm, size := Key(c.PrivateKey)
		if string(algorithm) != e.TLS.KeyAlgorithm || size != e.TLS.KeySize {
			mismatch("certificate.privateKey", fmt.Sprintf("%s with %d bits", algorithm, size),
				fmt.Sprintf("%s with %d bits", e.TLS.KeyAlgorithm, e.TLS.KeySize), "check the issuer, and the server's own configuration")
		}
	}
	if t.TLS.ClientAuthentication != nil && !e.TLS.CertificateRequested {
		mismatch("clientAuthentication", "set", "it requested no certificate", "check the server's own configuration")
	}
	return found
}

// Key returns the kind of key that k declares, with its defaults, and its size in
// bits.
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
