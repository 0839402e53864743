package wrapper

import (
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// TLS has target and clients speak TLS by these versions, or by the default
// ones. The target's certificate is one of SelfSigned, Issuer and Secret.
func (r *Run) TLS(certificate v1alpha1.Certificate, protocols ...v1alpha1.TLSProtocol) *Run {
	r.tls().Certificate = &certificate
	r.tls().Protocols = protocols
	return r
}

// SelfSigned is a certificate that the operator makes.
func SelfSigned() v1alpha1.Certificate {
	return v1alpha1.Certificate{SelfSigned: &v1alpha1.SelfSigned{}}
}

// Issuer is a certificate that cert-manager issues.
func Issuer(kind, name string) v1alpha1.Certificate {
	return v1alpha1.Certificate{IssuerRef: &v1alpha1.IssuerReference{Kind: kind, Name: name}}
}

// Secret is a certificate that is there already. The target's needs a ServerName.
func Secret(name string) v1alpha1.Certificate {
	return v1alpha1.Certificate{SecretName: name}
}

// WithKey gives a certificate another kind of key; a size of 0 is the default.
func WithKey(certificate v1alpha1.Certificate, algorithm v1alpha1.KeyAlgorithm, size int32) v1alpha1.Certificate {
	certificate.PrivateKey = &v1alpha1.PrivateKey{Algorithm: algorithm}
	if size != 0 {
		certificate.PrivateKey.Size = ptr.To(size)
	}
	return certificate
}

// ClientAuth makes the clients present a certificate.
func (r *Run) ClientAuth(certificate v1alpha1.Certificate) *Run {
	r.tls().ClientAuthentication = &v1alpha1.ClientAuthentication{Certificate: certificate}
	return r
}

// Implementation sets Tomcat's TLS implementation.
func (r *Run) Implementation(implementation v1alpha1.TLSImplementation) *Run {
	r.Spec.Target.Server.Tomcat.Connector.TLSImplementation = implementation
	return r
}

// Ciphers sets the cipher suites that server and clients accept.
func (r *Run) Ciphers(ciphers ...v1alpha1.CipherSuite) *Run {
	r.tls().Ciphers = ciphers
	return r
}

// Groups sets the groups for the key exchange that the clients offer.
func (r *Run) Groups(groups ...v1alpha1.KeyExchangeGroup) *Run {
	r.tls().Groups = groups
	return r
}

// ServerName sets the name that the clients send and verify the certificate by.
func (r *Run) ServerName(name string) *Run {
	r.tls().ServerName = name
	return r
}

// Unverified makes the clients accept any certificate.
func (r *Run) Unverified() *Run {
	r.tls().Verification = v1alpha1.TLSVerifyNone
	return r
}

// Resumed makes new connections resume earlier sessions.
func (r *Run) Resumed() *Run {
	r.tls().SessionResumption = v1alpha1.Enabled
	return r
}

// CertificateAuthority names a ConfigMap with the CA bundle for an external server.
func (r *Run) CertificateAuthority(configMap string) *Run {
	r.Spec.Target.Server.External.CertificateAuthority = &v1alpha1.CertificateAuthority{ConfigMapName: configMap}
	return r
}

func (r *Run) tls() *v1alpha1.TLS {
	if r.Spec.Target.TLS == nil {
		r.Spec.Target.TLS = &v1alpha1.TLS{}
	}
	return r.Spec.Target.TLS
}
