package session

import (
	"fmt"
	"slices"
)

// Files with what a pod needs for TLS with the target. Each may be missing.
const (
	// TLSDirectory is where they are.
	TLSDirectory = "/assay/tls"
	// TLSCAPath has the certificates, in PEM, that vouch for the target.
	TLSCAPath = TLSDirectory + "/ca.crt"
	// TLSServerPath has the target's own certificate, in PEM, as its Secret has
	// it. Whoever presents it is the target, whatever vouches for it.
	TLSServerPath = TLSDirectory + "/server.crt"
	// TLSClientPath and TLSClientKeyPath are the client's certificate and key, in
	// PEM.
	TLSClientPath    = TLSDirectory + "/client.crt"
	TLSClientKeyPath = TLSDirectory + "/client.key"
)

// Protocols are the names of the TLS versions, the oldest first.
var Protocols = []string{"TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"}

// TLS says how a pod speaks TLS with the target. The certificates are in
// TLSDirectory.
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
