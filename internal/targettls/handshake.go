package targettls

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/assay-dev/assay/internal/cipher"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
)

// Handshake describes the complete handshake of a connection. The state doesn't show
// whether a client certificate was requested; see Requested.
func Handshake(state *tls.ConnectionState) *result.Handshake {
	h := &result.Handshake{Protocol: protocol(state.Version), Cipher: cipher.Name(state.CipherSuite), Group: cipher.GroupName(state.CurveID)}
	if len(state.PeerCertificates) == 0 {
		return h
	}
	c := state.PeerCertificates[0]
	fingerprint := sha256.Sum256(c.Raw)
	h.KeyAlgorithm, h.KeySize = key(c)
	h.Subject, h.Issuer = c.Subject.String(), c.Issuer.String()
	h.Fingerprint = hex.EncodeToString(fingerprint[:])
	h.NotAfter = c.NotAfter.UnixMicro()
	return h
}

// Requested returns a copy of config that sets *requested when the target requests a
// client certificate. It can be used for one connection.
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

// protocol returns the name of a TLS version, or its number if it is unknown.
func protocol(version uint16) string {
	if place := slices.Index(versions, version); place >= 0 {
		return session.Protocols[place]
	}
	return fmt.Sprintf("0x%04X", version)
}

// key returns the algorithm of a certificate's key, and its size in bits.
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

// Alert returns the alert with which the target closed TLS (RFC 8446, section 6.2), as crypto/tls
// names it, or an empty string for any other error. In TLS 1.3 a target rejects the client's
// certificate after the client's handshake is complete: the next read returns the error.
func Alert(err error) string {
	var operation *net.OpError
	if !errors.As(err, &operation) || operation.Op != "remote error" {
		return ""
	}
	return strings.TrimPrefix(operation.Err.Error(), "tls: ")
}

// Protocols returns the versions that config offers, named as in session.Protocols.
func Protocols(config *tls.Config) []string {
	var names []string
	for place, version := range versions {
		if config.MinVersion <= version && version <= config.MaxVersion {
			names = append(names, session.Protocols[place])
		}
	}
	return names
}
