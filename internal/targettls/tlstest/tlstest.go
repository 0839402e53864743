// Package tlstest makes valid and invalid certificates for tests, and the directory
// with a pod's files for TLS.
package tlstest

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
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/assay-dev/assay/internal/session"
)

// Name is the DNS name in certificates.
const Name = "target.test"

// CA issues certificates.
type CA struct {
	certificate *x509.Certificate
	key         crypto.Signer
}

// Certificate is a certificate with its key.
type Certificate struct {
	tls.Certificate
	key crypto.Signer
}

// NewCA returns a CA with the given common name.
func NewCA(tb testing.TB, name string) *CA {
	tb.Helper()
	key := ecdsaKey(tb)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	return &CA{certificate: sign(tb, template, template, key.Public(), key), key: key}
}

// PEM returns the CA's own certificate.
func (a *CA) PEM() []byte { return encode(a.certificate.Raw) }

// Pool returns a pool with the CA's own certificate.
func (a *CA) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return pool
}

// ECDSA issues a certificate for Name and 127.0.0.1 with an ECDSA key, after changes
// to its template.
func (a *CA) ECDSA(tb testing.TB, change ...func(*x509.Certificate)) *Certificate {
	tb.Helper()
	return a.issue(tb, ecdsaKey(tb), change)
}

// RSA issues a certificate for Name and 127.0.0.1 with an RSA key of 2048 bits.
func (a *CA) RSA(tb testing.TB, change ...func(*x509.Certificate)) *Certificate {
	tb.Helper()
	return a.issue(tb, rsaKey(tb), change)
}

// SelfSigned returns a self-signed certificate for Name and 127.0.0.1.
func SelfSigned(tb testing.TB, change ...func(*x509.Certificate)) *Certificate {
	tb.Helper()
	key := ecdsaKey(tb)
	template := leaf(change)
	return certificate(sign(tb, template, template, key.Public(), key), key)
}

// PEM returns the certificate without its key.
func (c *Certificate) PEM() []byte { return encode(c.Leaf.Raw) }

// KeyPEM returns the certificate's key.
func (c *Certificate) KeyPEM(tb testing.TB) []byte {
	tb.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(c.key)
	if err != nil {
		tb.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

// Files are the files of a pod. A nil file doesn't exist.
type Files struct {
	CA, Server []byte
	Client     *Certificate
}

// Directory writes files under the names that they have in a pod, and returns their directory.
func Directory(tb testing.TB, files Files) string {
	tb.Helper()
	directory := tb.TempDir()
	write := func(path string, data []byte) {
		if data == nil {
			return
		}
		if err := os.WriteFile(filepath.Join(directory, filepath.Base(path)), data, 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	write(session.TLSCAPath, files.CA)
	write(session.TLSServerPath, files.Server)
	if files.Client != nil {
		write(session.TLSClientPath, files.Client.PEM())
		write(session.TLSClientKeyPath, files.Client.KeyPEM(tb))
	}
	return directory
}

func (a *CA) issue(tb testing.TB, key crypto.Signer, change []func(*x509.Certificate)) *Certificate {
	tb.Helper()
	return certificate(sign(tb, leaf(change), a.certificate, key.Public(), a.key), key)
}

func leaf(change []func(*x509.Certificate)) *x509.Certificate {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: Name, Organization: []string{"Assay"}},
		DNSNames: []string{Name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
	}
	for _, c := range change {
		c(template)
	}
	return template
}

func sign(tb testing.TB, template, parent *x509.Certificate, public crypto.PublicKey, key crypto.Signer) *x509.Certificate {
	tb.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, key)
	if err != nil {
		tb.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		tb.Fatal(err)
	}
	return parsed
}

func certificate(c *x509.Certificate, key crypto.Signer) *Certificate {
	return &Certificate{Certificate: tls.Certificate{Certificate: [][]byte{c.Raw}, PrivateKey: key, Leaf: c}, key: key}
}

func encode(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func ecdsaKey(tb testing.TB) crypto.Signer {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	return key
}

// oneRSAKey returns the same key each time, because making one takes long.
var oneRSAKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

func rsaKey(tb testing.TB) crypto.Signer {
	tb.Helper()
	key, err := oneRSAKey()
	if err != nil {
		tb.Fatal(err)
	}
	return key
}
