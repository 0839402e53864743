// Package certificate makes the certificates of a run whose user has none: an
// authority for the run alone, and a certificate that it signed.
package certificate

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"time"
)

// Request says what certificate is wanted.
type Request struct {
	// Algorithm is RSA or ECDSA, Size the key's size in bits.
	Algorithm string
	Size      int
	// DNSNames are the names in it.
	DNSNames []string
	// Client is whether it is a client's; else it is a server's.
	Client bool
	// Lifetime is how long it is good for, from a minute ago on.
	Lifetime time.Duration
}

// Bundle is a certificate with its key and the authority that signed it, all
// in PEM. The authority's key is gone: it signs nothing else.
type Bundle struct {
	Certificate, Key, Authority []byte
}

// clockTolerance is how far a pod's clock may be behind the manager's.
const clockTolerance = time.Minute

// Make makes a certificate and its authority.
func Make(request Request, now time.Time) (*Bundle, error) {
	key, err := newKey(request.Algorithm, request.Size)
	if err != nil {
		return nil, err
	}
	authorityKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	authority := &x509.Certificate{
		SerialNumber:          serial(),
		Subject:               pkix.Name{CommonName: "Assay, for one run"},
		NotBefore:             now.Add(-clockTolerance),
		NotAfter:              now.Add(request.Lifetime),
		KeyUsage:              x509.KeyUsageCertSign,
		IsCA:                  true,
		BasicConstraintsValid: true,
		MaxPathLenZero:        true,
	}
	authorityDER, err := x509.CreateCertificate(rand.Reader, authority, authority, authorityKey.Public(), authorityKey)
	if err != nil {
		return nil, fmt.Errorf("sign the authority: %w", err)
	}
	leaf := &x509.Certificate{
		SerialNumber: serial(),
		Subject:      pkix.Name{CommonName: commonName(request.DNSNames)},
		DNSNames:     request.DNSNames,
		NotBefore:    authority.NotBefore,
		NotAfter:     authority.NotAfter,
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if request.Client {
		leaf.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	}
	if request.Algorithm == "RSA" {
		leaf.KeyUsage |= x509.KeyUsageKeyEncipherment // for suites without (EC)DHE
	}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, authority, key.Public(), authorityKey)
	if err != nil {
		return nil, fmt.Errorf("sign the certificate: %w", err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode the key: %w", err)
	}
	return &Bundle{
		Certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leafDER}),
		Key:         pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}),
		Authority:   pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authorityDER}),
	}, nil
}

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
		return nil, fmt.Errorf("there is no key of %s with %d bits: take RSA with 2048, 3072 or 4096, or ECDSA with 256 or 384", algorithm, size)
	}
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	return key, nil
}

// commonName is the first name, which some servers log; it has at most 64
// characters (RFC 5280, appendix A.1).
func commonName(names []string) string {
	if len(names) == 0 || len(names[0]) > 64 {
		return ""
	}
	return names[0]
}

func serial() *big.Int {
	n, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		panic(err) // crypto/rand never fails on Linux
	}
	return n
}
