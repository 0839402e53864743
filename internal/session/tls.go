package session

import (
	"fmt"
	"slices"
)

// Files that a pod needs for TLS with the target. Each may be missing.
const (
	// TLSDirectory is the directory of the files.
	TLSDirectory = "/assay/tls"
	// TLSCAPath holds the CA bundle, in PEM, that the target's certificate must be issued by.
	TLSCAPath = TLSDirectory + "/ca.crt"
	// TLSServerPath holds the target's own certificate, in PEM, from its Secret. A
	// server that presents it is the target, whatever CA issued it.
	TLSServerPath = TLSDirectory + "/server.crt"
	// TLSClientPath and TLSClientKeyPath are the client's certificate and key, in PEM.
	TLSClientPath    = TLSDirectory + "/client.crt"
	TLSClientKeyPath = TLSDirectory + "/client.key"
)

// Protocols are the names of the TLS versions, oldest first.
var Protocols = []string{"TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"}

// TLS holds a pod's settings of TLS with the target. The certificates are in TLSDirectory.
type TLS struct {
	// ServerName is the name in SNI (RFC 6066, section 3) and the one for which the target's
	// certificate must be valid. If it is empty, it is the host of the target's address.
	ServerName string `json:"serverName,omitempty"`
	// Protocols are the versions that are offered, by their names in the variable Protocols: all
	// from the oldest to the newest of them. If empty, they are TLSv1.2 and TLSv1.3.
	Protocols []string `json:"protocols,omitempty"`
	// Ciphers are the cipher suites that are offered up to TLSv1.2, by their OpenSSL
	// names in package cipher. If empty, they are the secure ones.
	Ciphers []string `json:"ciphers,omitempty"`
	// Groups are the groups for the key exchange that are offered, by their OpenSSL names
	// in package cipher. If empty, they are those of OpenSSL 3.0.
	Groups []string `json:"groups,omitempty"`
	// Unverified accepts any certificate.
	Unverified bool `json:"unverified,omitempty"`
	// Resume resumes TLS sessions on new connections if the target allows it.
	Resume bool `json:"resume,omitempty"`
	// ClientCertificate presents a certificate of the pod.
	ClientCertificate bool `json:"clientCertificate,omitempty"`
}

// check returns an error for settings that no pod could use. t may be nil.
func (t *TLS) check() error {
	if t == nil {
		return nil
	}
	for _, name := range t.Protocols {
		if !slices.Contains(Protocols, name) {
			return fmt.Errorf("TLS protocol %q", name)
		}
	}
	return nil
}
