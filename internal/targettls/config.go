// Package targettls makes the TLS configuration of a run's pods for connections to the target, from
// the settings of a plan and the pod's files. It also describes the handshake of a connection.
package targettls

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/assay-dev/assay/internal/certificate"
	"github.com/assay-dev/assay/internal/cipher"
	"github.com/assay-dev/assay/internal/session"
)

// versions are the TLS version numbers of session.Protocols, in the same order.
var versions = []uint16{tls.VersionTLS10, tls.VersionTLS11, tls.VersionTLS12, tls.VersionTLS13}

// groups are the groups for the key exchange that are offered by default: those of OpenSSL 3.0, which wrk, ab
// and similar tools use. Go would also offer X25519MLKEM768. Its key takes the client
// longer than the rest of a TLS 1.3 handshake, even if the server doesn't use it.
var groups = []tls.CurveID{tls.X25519, tls.CurveP256, tls.CurveP384, tls.CurveP521}

// Config returns the TLS configuration for connections to the target at address,
// which is host and port. directory has the pod's files under the names of
// session.TLSDirectory, which it is except in tests. Sessions are not resumed; see
// WithSession. An error names the setting or file that can't be used.
func Config(t *session.TLS, address, directory string) (*tls.Config, error) {
	config := &tls.Config{InsecureSkipVerify: t.Unverified, ServerName: t.ServerName, CurvePreferences: groups}
	if config.ServerName == "" {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, fmt.Errorf("the target's address: %w", err)
		}
		config.ServerName = host
	}
	config.ServerName = session.CanonicalHost(config.ServerName)
	var err error
	if config.MinVersion, config.MaxVersion, err = span(t.Protocols); err != nil {
		return nil, err
	}
	if err := offer(config, t.Ciphers); err != nil {
		return nil, err
	}
	if len(t.Groups) > 0 {
		config.CurvePreferences = nil
	}
	for _, name := range t.Groups {
		id, err := cipher.GroupID(name)
		if err != nil {
			return nil, err
		}
		config.CurvePreferences = append(config.CurvePreferences, id)
	}
	if !t.Unverified {
		if config.RootCAs, err = roots(directory); err != nil {
			return nil, err
		}
	}
	if t.ClientCertificate {
		own, err := tls.LoadX509KeyPair(inDirectory(directory, session.TLSClientPath), inDirectory(directory, session.TLSClientKeyPath))
		if err != nil {
			return nil, fmt.Errorf("load the client certificate: %w", err)
		}
		// Present it whatever CAs the target names, as OpenSSL's clients do: the target
		// decides whether to accept it.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &own, nil }
	}
	return config, nil
}

// span returns the oldest and the newest of the named versions, or TLS 1.2 and 1.3 if
// there are none.
func span(names []string) (oldest, newest uint16, err error) {
	if len(names) == 0 {
		return tls.VersionTLS12, tls.VersionTLS13, nil
	}
	var places []int
	for _, name := range names {
		place := slices.Index(session.Protocols, name)
		if place < 0 {
			return 0, 0, fmt.Errorf("unknown TLS protocol %s: use %s", name, strings.Join(session.Protocols, ", "))
		}
		places = append(places, place)
	}
	return versions[slices.Min(places)], versions[slices.Max(places)], nil
}

// offer sets the cipher suites that are offered. Those of TLS 1.3 are fixed in
// crypto/tls. If only suites of TLS 1.3 are named, older versions are not offered.
func offer(config *tls.Config, names []string) error {
	for _, name := range names {
		id, err := cipher.ID(name)
		if err != nil {
			return err
		}
		if !cipher.IsTLS13(name) {
			config.CipherSuites = append(config.CipherSuites, id)
		}
	}
	if len(names) == 0 || len(config.CipherSuites) > 0 {
		return nil
	}
	if config.MaxVersion < tls.VersionTLS13 {
		return fmt.Errorf("the cipher suites %s are for TLSv1.3, which the protocols don't include", strings.Join(names, ", "))
	}
	config.MinVersion = tls.VersionTLS13
	return nil
}

// roots returns the certificates that the target's certificate is verified against:
// the CA bundle of the run and the target's own certificate or, if there are neither,
// the CAs of Mozilla's root program.
func roots(directory string) (*x509.CertPool, error) {
	pool := x509.NewCertPool()
	found := false
	for _, path := range []string{session.TLSCAPath, session.TLSServerPath} {
		data, err := os.ReadFile(inDirectory(directory, path))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("read the target's CA bundle: %w", err)
		}
		// A Secret may have an empty key, if its issuer publishes no CA.
		if len(strings.TrimSpace(string(data))) == 0 {
			continue
		}
		// Errors in the target's own certificate appear in the handshake.
		if !pool.AppendCertsFromPEM(data) && path != session.TLSServerPath {
			return nil, fmt.Errorf("read the target's CA bundle: %s has no certificate in PEM", filepath.Base(path))
		}
		found = true
	}
	if found {
		return pool, nil
	}
	if err := certificate.AddPublicRoots(pool); err != nil {
		return nil, err
	}
	return pool, nil
}

// inDirectory returns where directory has a file of session.TLSDirectory.
func inDirectory(directory, path string) string { return filepath.Join(directory, filepath.Base(path)) }

// ProtocolHTTP2 is the ALPN protocol name of HTTP/2 over TLS (RFC 9113, section 3.2).
const ProtocolHTTP2 = "h2"

// HTTP2 returns a copy of config that offers only HTTP/2, or nil if config is nil.
func HTTP2(config *tls.Config) *tls.Config {
	if config == nil {
		return nil
	}
	config = config.Clone()
	config.NextProtos = []string{ProtocolHTTP2}
	return config
}

// WithSession returns a copy of config for consecutive connections. Each resumes the
// session of the previous one if the target allows it.
//
// crypto/tls keeps one session per server name for all connections. Concurrent connections would
// then offer the same ticket, but a TLS 1.3 ticket must be used for one connection only (RFC 8446,
// appendix C.4), and servers with a session cache enforce that.
func WithSession(config *tls.Config) *tls.Config {
	config = config.Clone()
	config.ClientSessionCache = &slot{}
	return config
}

// slot keeps the latest session.
type slot struct {
	mu      sync.Mutex
	session *tls.ClientSessionState
}

// Get implements tls.ClientSessionCache. It is called before a handshake.
func (s *slot) Get(string) (*tls.ClientSessionState, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.session, s.session != nil
}

// Put implements tls.ClientSessionCache. It is called with each ticket, and with nil if
// the target rejected the latest one.
func (s *slot) Put(_ string, session *tls.ClientSessionState) {
	s.mu.Lock()
	s.session = session
	s.mu.Unlock()
}
