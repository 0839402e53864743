package targettls

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/assay-dev/assay/internal/cipher"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
)

// Evidence is what was negotiated on a connection whose handshake is complete.
// Whether a certificate was asked for isn't to be seen from there: see
// Requested.
func Evidence(state *tls.ConnectionState) *result.Handshake {
	e := &result.Handshake{Protocol: protocol(state.Version), Cipher: cipher.Name(state.CipherSuite)}
	if len(state.PeerCertificates) == 0 {
		return e
	}
	c := state.PeerCertificates[0]
	fingerprint := sha256.Sum256(c.Raw)
	e.KeyAlgorithm, e.KeySize = key(c)
	e.Subject, e.Issuer = c.Subject.String(), c.Issuer.String()
	e.Fingerprint = hex.EncodeToString(fingerprint[:])
	e.NotAfter = c.NotAfter.UnixMicro()
	return e
}

// Requested returns a copy of a configuration that sets what requested points
// to when the target asks for a certificate of the client. It may be used for
// one connection.
func Requested(config *tls.Config, requested *bool) *tls.Config {
	config = config.Clone()
	present := config.GetClientCertificate
	config.GetClientCertificate = func(info *tls.CertificateRequestInfo) (*tls.Certificate, error) {
		*requested = true
		if present != nil {
			return present(info)
		}
		return &tls.Certificate{}, nil // presents none
	}
	return config
}

func protocol(version uint16) string {
	if place := slices.Index(versions, version); place >= 0 {
		return session.Protocols[place]
	}
	return fmt.Sprintf("0x%04X", version)
}

// key is the algorithm of a certificate's key, and its size in bits.
func key(c *x509.Certificate) (algorithm string, bits int) {
	switch k := c.PublicKey.(type) {
	case *rsa.PublicKey:
		return "RSA", k.N.BitLen()
	case *ecdsa.PublicKey:
		return "ECDSA", k.Params().BitSize
	case ed25519.PublicKey:
		return "Ed25519", 8 * ed25519.PublicKeySize
	}
	return c.PublicKeyAlgorithm.String(), 0
}
