// Package targettls is TLS as a run's pods speak it with the target: a plan's
// settings and the pod's files made into a configuration, and what was
// negotiated read from a connection.
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

	"golang.org/x/crypto/x509roots/fallback/bundle"

	"github.com/assay-dev/assay/internal/cipher"
	"github.com/assay-dev/assay/internal/session"
)

// versions are the numbers of session.Protocols.
var versions = []uint16{tls.VersionTLS10, tls.VersionTLS11, tls.VersionTLS12, tls.VersionTLS13}

// groups are what keys are exchanged by: those of OpenSSL 3.0, by which wrk, ab
// and their like are built. Go would offer X25519MLKEM768 beside, whose key takes
// the client longer than all the rest of a handshake of TLS 1.3 that doesn't use
// it.
var groups = []tls.CurveID{tls.X25519, tls.CurveP256, tls.CurveP384, tls.CurveP521}

// Config returns the configuration of connections to the target at an address,
// host and port. The pod's files are in a folder, session.TLSDirectory but in
// tests, under their names there. Sessions are not resumed; see WithSession. An
// error says what in the plan or the files can't be used.
func Config(t *session.TLS, address, folder string) (*tls.Config, error) {
	config := &tls.Config{InsecureSkipVerify: t.Unverified, ServerName: t.ServerName, CurvePreferences: groups}
	if config.ServerName == "" {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, fmt.Errorf("the target's address: %w", err)
		}
		config.ServerName = host
	}
	var err error
	if config.MinVersion, config.MaxVersion, err = span(t.Protocols); err != nil {
		return nil, err
	}
	if err := offer(config, t.Ciphers); err != nil {
		return nil, err
	}
	if !t.Unverified {
		if config.RootCAs, err = roots(folder); err != nil {
			return nil, err
		}
	}
	if t.ClientCertificate {
		own, err := tls.LoadX509KeyPair(inFolder(folder, session.TLSClientPath), inFolder(folder, session.TLSClientKeyPath))
		if err != nil {
			return nil, fmt.Errorf("the client's certificate: %w", err)
		}
		// Presented whatever authorities the target names, as OpenSSL's clients do:
		// what is wrong with it is the target's to say.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &own, nil }
	}
	return config, nil
}

// span returns the oldest and the newest of some versions; TLS 1.2 and 1.3 for
// none.
func span(names []string) (oldest, newest uint16, err error) {
	if len(names) == 0 {
		return tls.VersionTLS12, tls.VersionTLS13, nil
	}
	var places []int
	for _, name := range names {
		place := slices.Index(session.Protocols, name)
		if place < 0 {
			return 0, 0, fmt.Errorf("there is no TLS protocol %s: take some of %s", name, strings.Join(session.Protocols, ", "))
		}
		places = append(places, place)
	}
	return versions[slices.Min(places)], versions[slices.Max(places)], nil
}

// offer sets the cipher suites that are offered. Those of TLS 1.3 are fixed in
// crypto/tls; where no others are named, older versions can't be offered.
func offer(config *tls.Config, names []string) error {
	for _, name := range names {
		id, err := cipher.ID(name)
		if err != nil {
			return err
		}
		if !cipher.Modern(name) {
			config.CipherSuites = append(config.CipherSuites, id)
		}
	}
	if len(names) == 0 || len(config.CipherSuites) > 0 {
		return nil
	}
	if config.MaxVersion < tls.VersionTLS13 {
		return fmt.Errorf("the cipher suites %s are of TLSv1.3, which the protocols leave out", strings.Join(names, ", "))
	}
	config.MinVersion = tls.VersionTLS13
	return nil
}

// roots are the certificates that vouch for the target: the authorities that
// were given and the target's own certificate, else those of Mozilla's root
// program.
func roots(folder string) (*x509.CertPool, error) {
	pool := x509.NewCertPool()
	given := false
	for _, path := range []string{session.TLSCAPath, session.TLSServerPath} {
		data, err := os.ReadFile(inFolder(folder, path))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("the certificates that vouch for the target: %w", err)
		}
		// A Secret may have the key with nothing in it, where its issuer names no
		// authority.
		if len(strings.TrimSpace(string(data))) == 0 {
			continue
		}
		// What is wrong with the target's own certificate is the target's to say.
		if !pool.AppendCertsFromPEM(data) && path != session.TLSServerPath {
			return nil, fmt.Errorf("the certificates that vouch for the target: %s has none in PEM", filepath.Base(path))
		}
		given = true
	}
	if given {
		return pool, nil
	}
	for root := range bundle.Roots() {
		certificate, err := x509.ParseCertificate(root.Certificate)
		if err != nil {
			return nil, fmt.Errorf("a certificate of Mozilla's root program: %w", err)
		}
		if root.Constraint == nil {
			pool.AddCert(certificate)
		} else {
			pool.AddCertWithConstraint(certificate, root.Constraint)
		}
	}
	return pool, nil
}

// inFolder is a path of session.TLSDirectory in another folder.
func inFolder(folder, path string) string { return filepath.Join(folder, filepath.Base(path)) }
