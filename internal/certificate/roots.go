package certificate

import (
	"crypto/x509"
	"fmt"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// AddPublicRoots adds the CAs of Mozilla's root program to a pool. Assay's images have no others.
func AddPublicRoots(pool *x509.CertPool) error {
	for root := range bundle.Roots() {
		certificate, err := x509.ParseCertificate(root.Certificate)
		if err != nil {
			return fmt.Errorf("parse a certificate of Mozilla's root program: %w", err)
		}
		if root.Constraint == nil {
			pool.AddCert(certificate)
		} else {
			pool.AddCertWithConstraint(certificate, root.Constraint)
		}
	}
	return nil
}
