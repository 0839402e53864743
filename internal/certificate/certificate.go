// Package certificate signs certificates. It issues those of runs whose spec asks for a self-signed
// one: each is signed by a CA of its own.
package certificate

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"time"
)

// Request describes a certificate to issue.
type Request struct {
	// Algorithm is RSA or ECDSA, Size the size of the key in bits.
	Algorithm string
	Size      int
	// DNSNames are its subject alternative names.
	DNSNames []string
	// Client reports whether it is a client certificate, not a server certificate.
	Client bool
	// Lifetime is its validity from now on. It is backdated by a minute.
	Lifetime time.Duration
}

// Bundle holds a certificate, its key and the certificate of the CA that signed it, all in PEM. The
// CA's key is dropped: it signs nothing else.
type Bundle struct {
	Certificate, Key, CA []byte
}

// clockTolerance is the time that a pod's clock may be behind the manager's.
const clockTolerance = time.Minute

// Issue issues a certificate and its CA certificate.
func Issue(request Request, now time.Time) (*Bundle, error) {
	key, err := newKey(request.Algorithm, request.Size)
	if err != nil {
		return nil, err
	}
	caKey, err := NewKey()
	if err != nil {
		return nil, err
	}
	from, until := now.Add(-clockTolerance), now.Add(request.Lifetime)
	ca := CA("Assay, for one run", from, until)
	caPEM, _, err := Sign(ca, caKey, nil)
	if err != nil {
		return nil, err
	}
	leaf := Leaf(request.DNSNames, x509.ExtKeyUsageServerAuth, from, until)
	if request.Client {
		leaf.ExtKeyUsage[0] = x509.ExtKeyUsageClientAuth
	}
	if request.Algorithm == "RSA" {
		leaf.KeyUsage |= x509.KeyUsageKeyEncipherment // for suites without (EC)DHE
	}
	leafPEM, keyPEM, err := Sign(leaf, key, &tls.Certificate{Leaf: ca, PrivateKey: caKey})
	if err != nil {
		return nil, err
	}
	return &Bundle{Certificate: leafPEM, Key: keyPEM, CA: caPEM}, nil
}

// CA returns the template of a certificate that signs no other CA.
func CA(name string, from, until time.Time) *x509.Certificate {
	return &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, NotBefore: from, NotAfter: until,
		KeyUsage: x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
	}
}

// Leaf returns the template of a certificate for TLS.
func Leaf(names []string, usage x509.ExtKeyUsage, from, until time.Time) *x509.Certificate {
	return &x509.Certificate{
		Subject: pkix.Name{CommonName: commonName(names)}, DNSNames: names, NotBefore: from, NotAfter: until,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{usage},
	}
}

// Sign returns a certificate for a key, and the key, in PEM. It is signed by ca, or self-signed if
// ca is nil. The serial number is set in the template.
func Sign(template *x509.Certificate, key crypto.Signer, ca *tls.Certificate) (certificate, privateKey []byte, err error) {
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)); err != nil {
		return nil, nil, fmt.Errorf("generate a serial number: %w", err)
	}
	parent, signer := template, any(key)
	if ca != nil {
		parent, signer = ca.Leaf, ca.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return nil, nil, fmt.Errorf("sign the certificate of %s: %w", template.Subject.CommonName, err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, nil, fmt.Errorf("encode the key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), nil
}

// NewKey generates an ECDSA key with the curve P-256.
func NewKey() (crypto.Signer, error) { return newKey("ECDSA", 256) }

func newKey(algorithm string, size int) (crypto.Signer, error) {
	var key crypto.Signer
	var err error
	switch {
	case algorithm == "RSA" && size >= 2048:
		key, err = rsa.GenerateKey(rand.Reader, size)
	case algorithm == "ECDSA" && size == 256:
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case algorithm == "ECDSA" && size == 384:
		key, err = ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	default:
		return nil, fmt.Errorf("unknown key %s with %d bits: use RSA with 2048, 3072 or 4096, or ECDSA with 256 or 384", algorithm, size)
	}
	if err != nil {
		return nil, fmt.Errorf("generate a key: %w", err)
	}
	return key, nil
}

// commonName returns the first name, which some servers log. It returns "" if that has more than 64
// characters (RFC 5280, appendix A.1).
func commonName(names []string) string {
	if len(names) == 0 || len(names[0]) > 64 {
		return ""
	}
	return names[0]
}
