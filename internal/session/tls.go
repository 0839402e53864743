package session

import (
	"fmt"
	"slices"
)

// Files with what a pod needs for TLS with the target. Each may be missing.
const (
	// TLSFolder is where they are.
	TLSFolder = "/assay/tls"
	// TLSAuthorityPath has the certificates, in PEM, that vouch for the target.
	TLSAuthorityPath = TLSFolder + "/ca.crt"
	// TLSServerPath has the target's own certificate, in PEM, as its Secret has
	// it. Whoever presents it is the target, whatever vouches for it.
	TLSServerPath = TLSFolder + "/server.crt"
	// TLSClientPath and TLSClientKeyPath are the client's certificate and key, in
	// PEM.
	TLSClientPath    = TLSFolder + "/client.crt"
	TLSClientKeyPath = TLSFolder + "/client.key"
)

// Protocols are the names of the TLS versions, the oldest first.
var Protocols = []string{"TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"}

// TLS says how a pod speaks TLS with the target. The certificates are in
// TLSFolder.
type TLS struct {
	// ServerName is the name that is asked for (RFC 6066, section 3) and that the
	// target's certificate must have. Empty for the host of the target's address.
	ServerName string `json:"serverName,omitempty"`
	// Protocols are the versions that are offered, of Protocols: all from the
	// oldest of them to the newest. Empty for TLSv1.2 and TLSv1.3.
	Protocols []string `json:"protocols,omitempty"`
	// Ciphers are the cipher suites that are offered up to TLSv1.2, by their
	// OpenSSL names, as package cipher has them. Empty for those that are secure.
	Ciphers []string `json:"ciphers,omitempty"`
	// Unverified is whether any certificate is accepted.
	Unverified bool `json:"unverified,omitempty"`
	// Resume is whether a new connection resumes an earlier session where the
	// target lets it.
	Resume bool `json:"resume,omitempty"`
	// ClientCertificate is whether the pod presents a certificate of its own.
	ClientCertificate bool `json:"clientCertificate,omitempty"`
}

func (t *TLS) check() error {
	for _, name := range t.Protocols {
		if !slices.Contains(Protocols, name) {
			return fmt.Errorf("TLS protocol %q", name)
		}
	}
	return nil
}

// Evidence is what the target itself showed when it was asked once, before the
// load.
type Evidence struct {
	// Software is the response's Server header.
	Software string `json:"software,omitempty"`
	// DocumentLength is the length of the response's body in bytes; -1 when it is
	// long and the server doesn't say how long.
	DocumentLength int64 `json:"documentLength"`
	// TLS is what was negotiated; nil without TLS.
	TLS *TLSEvidence `json:"tls,omitempty"`
}

// TLSEvidence is what a TLS handshake with the target came to.
type TLSEvidence struct {
	// Protocol is the version, of Protocols.
	Protocol string `json:"protocol"`
	// Cipher is the cipher suite by its OpenSSL name.
	Cipher string `json:"cipher"`
	// KeyAlgorithm is RSA, ECDSA or Ed25519, and KeySize its size in bits: of the
	// key in the target's certificate.
	KeyAlgorithm string `json:"keyAlgorithm"`
	KeySize      int    `json:"keySize"`
	// Subject and Issuer are the certificate's, as RFC 2253 writes them.
	Subject string `json:"subject"`
	Issuer  string `json:"issuer"`
	// Fingerprint is the SHA-256 of the certificate, in hexadecimal.
	Fingerprint string `json:"fingerprint"`
	// NotAfter is when the certificate expires, in microseconds since the Unix
	// epoch.
	NotAfter int64 `json:"notAfter"`
	// CertificateRequested is whether the target asked for a certificate of the
	// client.
	CertificateRequested bool `json:"certificateRequested"`
}
