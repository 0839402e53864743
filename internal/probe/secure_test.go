package probe

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/cipher"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/targettls"
	"github.com/assay-dev/assay/internal/targettls/tlstest"
)

// secure starts a server that speaks TLS.
func secure(t *testing.T, config *tls.Config) string {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Server", "test/1")
		_, _ = io.WriteString(w, "hello")
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = config
	server.StartTLS()
	t.Cleanup(server.Close)
	return address(server)
}

// askTLS asks a server over TLS, with a pod's files.
func askTLS(t *testing.T, at string, settings session.TLS, files tlstest.Files) (*session.ProbeResult, error) {
	t.Helper()
	if settings.ServerName == "" {
		settings.ServerName = tlstest.Name
	}
	config, err := targettls.Config(&settings, at, tlstest.Folder(t, files))
	if err != nil {
		t.Fatal(err)
	}
	q := question(at, "/")
	q.TLS = config
	q.Timeout = 5 * time.Second
	return Ask(t.Context(), q)
}

// TestEveryProtocolAndCipher negotiates each that the clients have.
func TestEveryProtocolAndCipher(t *testing.T) {
	authority := tlstest.NewAuthority(t, "authority")
	certificates := map[string]*tlstest.Certificate{"RSA": authority.RSA(t), "ECDSA": authority.ECDSA(t)}
	bits := map[string]int{"RSA": 2048, "ECDSA": 256}
	tried := 0
	for _, suite := range cipher.Suites {
		for place, protocol := range session.Protocols {
			version := tls.VersionTLS10 + uint16(place)
			if !supports(suite.ID, version) {
				continue
			}
			for algorithm, own := range certificates {
				if strings.Contains(suite.Name, "ECDSA") && algorithm != "ECDSA" ||
					!strings.Contains(suite.Name, "ECDSA") && algorithm != "RSA" && !cipher.Modern(suite.Name) {
					continue
				}
				tried++
				t.Run(protocol+","+suite.Name+","+algorithm, func(t *testing.T) {
					server := &tls.Config{
						Certificates: []tls.Certificate{own.Certificate}, MinVersion: version, MaxVersion: version,
						CipherSuites: []uint16{suite.ID},
					}
					settings := session.TLS{Protocols: []string{protocol}, Ciphers: []string{suite.Name}}
					got, err := askTLS(t, secure(t, server), settings, tlstest.Files{Authority: authority.PEM()})
					if err != nil {
						t.Fatal(err)
					}
					fingerprint := sha256.Sum256(own.Leaf.Raw)
					want := &session.ProbeResult{Software: "test/1", DocumentLength: 5, TLS: &result.Handshake{
						Protocol: protocol, Cipher: suite.Name, KeyAlgorithm: algorithm, KeySize: bits[algorithm],
						Subject: "CN=" + tlstest.Name + ",O=Assay", Issuer: "CN=authority",
						Fingerprint: hex.EncodeToString(fingerprint[:]), NotAfter: own.Leaf.NotAfter.UnixMicro(),
					}}
					if cipher.Modern(suite.Name) {
						want.TLS.Cipher = got.TLS.Cipher // it is crypto/tls's choice
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("(-want +got):\n%s", diff)
					}
				})
			}
		}
	}
	if tried < len(cipher.Suites) {
		t.Errorf("%d suites were tried, of %d", tried, len(cipher.Suites))
	}
}

// supports is whether a suite belongs to a version.
func supports(id, version uint16) bool {
	for _, suite := range append(tls.CipherSuites(), tls.InsecureCipherSuites()...) {
		if suite.ID != id {
			continue
		}
		for _, v := range suite.SupportedVersions {
			if v == version {
				return true
			}
		}
	}
	return false
}

// TestWhatIsWrongIsSaid has handshakes fail for all that can be wrong with
// either side, twice each: what is said mustn't differ.
func TestWhatIsWrongIsSaid(t *testing.T) {
	authority, other := tlstest.NewAuthority(t, "authority"), tlstest.NewAuthority(t, "other")
	right, self := authority.ECDSA(t), tlstest.SelfSigned(t)
	at := func(day int) time.Time { return time.Date(2020, 1, day, 0, 0, 0, 0, time.UTC) }
	expired := authority.ECDSA(t, func(c *x509.Certificate) { c.NotBefore, c.NotAfter = at(1), at(2) })
	nameless := authority.ECDSA(t, func(c *x509.Certificate) { c.DNSNames, c.IPAddresses = nil, nil })
	clientOnly := authority.ECDSA(t, func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} })
	trusting := tlstest.Files{Authority: authority.PEM()}
	presenting := tlstest.Files{Authority: authority.PEM(), Client: other.ECDSA(t)}
	of := func(c *tlstest.Certificate) string {
		return secure(t, &tls.Config{Certificates: []tls.Certificate{c.Certificate}})
	}
	demanding := func(version uint16) string {
		return secure(t, &tls.Config{
			Certificates: []tls.Certificate{right.Certificate}, ClientAuth: tls.RequireAndVerifyClientCert,
			ClientCAs: authority.Pool(), MaxVersion: version,
		})
	}
	alert := func(number byte) string { return raw(t, saying("\x15\x03\x03\x00\x02\x02"+string([]byte{number}))) }
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	tests := map[string]struct {
		at       string
		settings session.TLS
		files    tlstest.Files
		want     string
	}{
		"unknown authority": {of(right), session.TLS{}, tlstest.Files{Authority: other.PEM()},
			"the server's certificate is from an authority that isn't known, CN=authority: give the authority's certificate, or set tls.verification to None"},
		"self-signed": {of(self), session.TLS{}, trusting,
			"the server's certificate is from an authority that isn't known, CN=target.test,O=Assay: give the authority's certificate, or set tls.verification to None"},
		"wrong name": {of(right), session.TLS{ServerName: "other.test"}, trusting,
			"the server's certificate isn't other.test's, but for target.test, 127.0.0.1: set tls.serverName to one of these"},
		"wrong address": {of(right), session.TLS{ServerName: "127.0.0.2"}, trusting,
			"the server's certificate isn't 127.0.0.2's, but for target.test, 127.0.0.1: set tls.serverName to one of these"},
		"no name": {of(nameless), session.TLS{}, trusting,
			"the server's certificate has no names (subjectAltName) to be checked, and can't be target.test's: have one issued with names, or set tls.verification to None"},
		"expired": {of(expired), session.TLS{}, trusting,
			"the server's certificate is valid from 2020-01-01T00:00Z to 2020-01-02T00:00Z alone: renew it, or set tls.verification to None"},
		"a client's": {of(clientOnly), session.TLS{}, trusting,
			"the server's certificate isn't accepted: certificate specifies an incompatible key usage"},
		"older protocols": {of(right), session.TLS{Protocols: []string{"TLSv1", "TLSv1.1"}}, trusting,
			"the server has none of the TLS protocols TLSv1, TLSv1.1: change tls.protocols"},
		"newer protocols": {secure(t, &tls.Config{Certificates: []tls.Certificate{right.Certificate}, MaxVersion: tls.VersionTLS12}),
			session.TLS{Protocols: []string{"TLSv1.3"}}, trusting,
			"the server has none of the TLS protocols TLSv1.3: change tls.protocols"},
		"no cipher": {of(right), session.TLS{Protocols: []string{"TLSv1.2"}, Ciphers: []string{"AES128-SHA"}}, trusting,
			`the server refuses the TLS handshake (alert "handshake failure"): it has none of the cipher suites that were offered with TLSv1.2, or no certificate that goes with them: change tls.ciphers`},
		"no client certificate, TLSv1.3": {demanding(tls.VersionTLS13), session.TLS{}, trusting,
			"the server demands a client certificate: give tls.clientAuthentication"},
		"no client certificate, TLSv1.2": {demanding(tls.VersionTLS12), session.TLS{}, trusting,
			"the server demands a client certificate: give tls.clientAuthentication"},
		"wrong client certificate, TLSv1.3": {demanding(tls.VersionTLS13), session.TLS{ClientCertificate: true}, presenting,
			`the server refuses the client's certificate (alert "unknown certificate authority"): have one issued by an authority that the server trusts`},
		"wrong client certificate, TLSv1.2": {demanding(tls.VersionTLS12), session.TLS{ClientCertificate: true}, presenting,
			`the server refuses the client's certificate (alert "unknown certificate authority"): have one issued by an authority that the server trusts`},
		"unknown site":  {alert(112), session.TLS{}, trusting, "the server has no site of the name target.test: change tls.serverName"},
		"another alert": {alert(80), session.TLS{}, trusting, `the server ended TLS with the alert "internal error"`},
		"plain HTTP":    {address(plain), session.TLS{}, trusting, "the server speaks plain HTTP where TLS was expected"},
		"no TLS":        {raw(t, saying("SSH-2.0-OpenSSH_9.2\r\n")), session.TLS{}, trusting, "the server doesn't speak TLS"},
		"closes":        {raw(t, closing("")), session.TLS{}, trusting, "the server closed the connection in the TLS handshake"},
		"resets": {raw(t, func(conn net.Conn) {
			_, _ = conn.Read(make([]byte, 4096))
			_ = conn.(*net.TCPConn).SetLinger(0)
		}), session.TLS{}, trusting, "the server reset the connection in the TLS handshake"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				got, err := askTLS(t, test.at, test.settings, test.files)
				if err == nil || err.Error() != "GET /: "+test.want {
					t.Errorf("%+v, error\n%v, want\n%s", got, err, test.want)
				}
			}
		})
	}
}

func TestStalledHandshake(t *testing.T) {
	q := question(raw(t, saying("\x16")), "/")
	q.TLS, q.Timeout = &tls.Config{ServerName: tlstest.Name, MinVersion: tls.VersionTLS12}, 50*time.Millisecond
	if got, err := Ask(t.Context(), q); err == nil || err.Error() != "GET /: no TLS handshake within 50ms" {
		t.Errorf("%+v, error %v", got, err)
	}
}

// TestRequestedCertificates tells a server that wants a certificate from one
// that doesn't, whether the client has one or not.
func TestRequestedCertificates(t *testing.T) {
	authority := tlstest.NewAuthority(t, "authority")
	own := authority.ECDSA(t)
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		for _, requested := range []bool{false, true} {
			for _, presented := range []bool{false, true} {
				server := &tls.Config{Certificates: []tls.Certificate{own.Certificate}, MaxVersion: version}
				files := tlstest.Files{Server: own.PEM()}
				if requested {
					server.ClientAuth, server.ClientCAs = tls.VerifyClientCertIfGiven, authority.Pool()
				}
				if presented {
					files.Client = authority.ECDSA(t, func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} })
				}
				got, err := askTLS(t, secure(t, server), session.TLS{ClientCertificate: presented}, files)
				if err != nil {
					t.Errorf("%s, requested %t, presented %t: %v", tls.VersionName(version), requested, presented, err)
				} else if got.TLS.CertificateRequested != requested {
					t.Errorf("%s, requested %t, presented %t: %+v", tls.VersionName(version), requested, presented, got.TLS)
				}
			}
		}
	}
}
