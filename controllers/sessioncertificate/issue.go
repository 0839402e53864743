package sessioncertificate

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"time"

	"github.com/assay-dev/assay/internal/session"
)

const (
	// authorityLifetime is long, since the pods of a run keep the authority that
	// they were started with; servingLifetime is short, since nobody does.
	authorityLifetime = 10 * 365 * 24 * time.Hour
	servingLifetime   = 90 * 24 * time.Hour
	// authorityReserve and servingReserve are what must be left of them.
	authorityReserve = 365 * 24 * time.Hour
	servingReserve   = 30 * 24 * time.Hour
	// clockTolerance dates certificates back, for pods whose clock is behind.
	clockTolerance = time.Hour
)

// Keys of the Secret that holds a bundle.
const (
	authorityCertKey = "ca.crt"
	authorityKeyKey  = "ca.key"
	servingCertKey   = "tls.crt"
	servingKeyKey    = "tls.key"
)

// bundle is a serving certificate and what vouches for it.
type bundle struct {
	// data is what the Secret has.
	data map[string][]byte
	// authority is the certificates, in PEM, by which pods check serving.
	authority []byte
	// signers is the same, of a certificate that a Loader took.
	signers *x509.CertPool
	serving tls.Certificate
}

// parse reads a bundle from a Secret's data. It is an error if any part is
// missing, doesn't fit the others, or has too little time left.
func parse(data map[string][]byte, now time.Time) (*bundle, error) {
	authority, err := parseAuthority(data, now)
	if err != nil {
		return nil, err
	}
	serving, err := tls.X509KeyPair(data[servingCertKey], data[servingKeyKey])
	if err != nil {
		return nil, fmt.Errorf("read the serving certificate: %w", err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(authority.Leaf)
	if _, err := serving.Leaf.Verify(x509.VerifyOptions{
		DNSName: session.ServerName, Roots: roots, CurrentTime: now.Add(servingReserve),
	}); err != nil {
		return nil, fmt.Errorf("check the serving certificate: %w", err)
	}
	return &bundle{data: data, authority: data[authorityCertKey], serving: serving}, nil
}

func parseAuthority(data map[string][]byte, now time.Time) (*tls.Certificate, error) {
	authority, err := tls.X509KeyPair(data[authorityCertKey], data[authorityKeyKey])
	if err != nil {
		return nil, fmt.Errorf("read the certificate authority: %w", err)
	}
	if !authority.Leaf.IsCA || now.Add(authorityReserve).After(authority.Leaf.NotAfter) {
		return nil, fmt.Errorf("the certificate authority is good until %s only", authority.Leaf.NotAfter)
	}
	return &authority, nil
}

// issue makes a bundle. It keeps the certificate authority of the old data
// when that is still good, so that running pods go on trusting the manager.
func issue(old map[string][]byte, now time.Time) (*bundle, error) {
	data := map[string][]byte{}
	authority, err := parseAuthority(old, now)
	if err == nil {
		data[authorityCertKey], data[authorityKeyKey] = old[authorityCertKey], old[authorityKeyKey]
	} else {
		template := &x509.Certificate{
			Subject:               pkix.Name{CommonName: "assay session authority"},
			NotAfter:              now.Add(authorityLifetime),
			KeyUsage:              x509.KeyUsageCertSign,
			IsCA:                  true,
			BasicConstraintsValid: true,
			MaxPathLenZero:        true,
		}
		if data[authorityCertKey], data[authorityKeyKey], err = sign(template, nil, now); err != nil {
			return nil, err
		}
		if authority, err = parseAuthority(data, now); err != nil {
			return nil, err
		}
	}
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: session.ServerName},
		DNSNames:    []string{session.ServerName},
		NotAfter:    now.Add(servingLifetime),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if data[servingCertKey], data[servingKeyKey], err = sign(template, authority, now); err != nil {
		return nil, err
	}
	return parse(data, now)
}

// sign returns a certificate and its key in PEM, signed by the authority or,
// without one, by itself.
func sign(template *x509.Certificate, authority *tls.Certificate, now time.Time) (certificate, privateKey []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("make a key: %w", err)
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)); err != nil {
		return nil, nil, fmt.Errorf("make a serial number: %w", err)
	}
	template.NotBefore = now.Add(-clockTolerance)
	parent, signer := template, any(key)
	if authority != nil {
		parent, signer = authority.Leaf, authority.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		return nil, nil, fmt.Errorf("sign a certificate: %w", err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, nil, fmt.Errorf("encode a key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), nil
}
