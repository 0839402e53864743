package sessioncertificate

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"time"

	"github.com/assay-dev/assay/internal/certificate"
	"github.com/assay-dev/assay/internal/session"
)

const (
	// caLifetime is long, since the pods of a run keep the CA that they were started with.
	// servingLifetime is short, since no pod keeps the serving certificate.
	caLifetime      = 10 * 365 * 24 * time.Hour
	servingLifetime = 90 * 24 * time.Hour
	// caMargin and servingMargin are the minimum remaining lifetimes.
	caMargin      = 365 * 24 * time.Hour
	servingMargin = 30 * 24 * time.Hour
	// clockTolerance is the time by which certificates are backdated, for pods whose clock is
	// behind.
	clockTolerance = time.Hour
)

// Keys of the Secret that holds a bundle.
const (
	caCertKey      = "ca.crt"
	caKeyKey       = "ca.key"
	servingCertKey = "tls.crt"
	servingKeyKey  = "tls.key"
)

// bundle is a serving certificate with the CA bundle that verifies it.
type bundle struct {
	// data is the data of the Secret.
	data map[string][]byte
	// ca is the CA bundle, in PEM, that verifies serving. roots is the same for a Loader.
	ca      []byte
	roots   *x509.CertPool
	serving tls.Certificate
}

// parse reads a bundle from a Secret's data. It returns an error if a part is missing, doesn't
// match the others, or has too little remaining lifetime.
func parse(data map[string][]byte, now time.Time) (*bundle, error) {
	ca, err := parseCA(data, now)
	if err != nil {
		return nil, err
	}
	serving, err := tls.X509KeyPair(data[servingCertKey], data[servingKeyKey])
	if err != nil {
		return nil, fmt.Errorf("read the serving certificate: %w", err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(ca.Leaf)
	if _, err := serving.Leaf.Verify(x509.VerifyOptions{
		DNSName: session.ServerName, Roots: roots, CurrentTime: now.Add(servingMargin),
	}); err != nil {
		return nil, fmt.Errorf("verify the serving certificate: %w", err)
	}
	return &bundle{data: data, ca: data[caCertKey], serving: serving}, nil
}

func parseCA(data map[string][]byte, now time.Time) (*tls.Certificate, error) {
	ca, err := tls.X509KeyPair(data[caCertKey], data[caKeyKey])
	if err != nil {
		return nil, fmt.Errorf("read the CA certificate: %w", err)
	}
	if !ca.Leaf.IsCA || now.Add(caMargin).After(ca.Leaf.NotAfter) {
		return nil, fmt.Errorf("the CA certificate expires at %s", ca.Leaf.NotAfter)
	}
	return &ca, nil
}

// issue creates a bundle. It keeps the CA of old data while that is valid: running pods trust it.
func issue(old map[string][]byte, now time.Time) (*bundle, error) {
	data := map[string][]byte{}
	ca, err := parseCA(old, now)
	if err == nil {
		data[caCertKey], data[caKeyKey] = old[caCertKey], old[caKeyKey]
	} else {
		template := certificate.CA("assay session CA", now.Add(-clockTolerance), now.Add(caLifetime))
		if data[caCertKey], data[caKeyKey], err = sign(template, nil); err != nil {
			return nil, err
		}
		if ca, err = parseCA(data, now); err != nil {
			return nil, err
		}
	}
	template := certificate.Leaf([]string{session.ServerName}, x509.ExtKeyUsageServerAuth, now.Add(-clockTolerance), now.Add(servingLifetime))
	if data[servingCertKey], data[servingKeyKey], err = sign(template, ca); err != nil {
		return nil, err
	}
	return parse(data, now)
}

// sign returns a certificate with a new key, in PEM, self-signed if ca is nil.
func sign(template *x509.Certificate, ca *tls.Certificate) (signed, privateKey []byte, err error) {
	key, err := certificate.NewKey()
	if err != nil {
		return nil, nil, err
	}
	return certificate.Sign(template, key, ca)
}
