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
	"github.com/assay-dev/assay/test/rawserver"
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

// onceTLS probes a server over TLS, with a pod's files.
func onceTLS(t *testing.T, at string, settings session.TLS, files tlstest.Files) (*session.ProbeResult, error) {
	t.Helper()
	if settings.ServerName == "" {
		settings.ServerName = tlstest.Name
	}
	config, err := targettls.Config(&settings, at, tlstest.Directory(t, files))
	if err != nil {
		t.Fatal(err)
	}
	q := requestTo(at, "/")
	q.TLS = config
	q.Timeout = 5 * time.Second
	return Once(t.Context(), q)
}

// TestEveryProtocolAndCipher negotiates each protocol and suite that the clients support.
func TestEveryProtocolAndCipher(t *testing.T) {
	authority := tlstest.NewCA(t, "authority")
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
					!strings.Contains(suite.Name, "ECDSA") && algorithm != "RSA" && !cipher.IsTLS13(suite.Name) {
					continue
				}
				tried++
				t.Run(protocol+","+suite.Name+","+algorithm, func(t *testing.T) {
					server := &tls.Config{
						Certificates: []tls.Certificate{own.Certificate}, MinVersion: version, MaxVersion: version,
						CipherSuites: []uint16{suite.ID},
					}
					settings := session.TLS{Protocols: []string{protocol}, Ciphers: []string{suite.Name}}
					got, err := onceTLS(t, secure(t, server), settings, tlstest.Files{CA: authority.PEM()})
					if err != nil {
						t.Fatal(err)
					}
					fingerprint := sha256.Sum256(own.Leaf.Raw)
					want := &session.ProbeResult{Software: "test/1", DocumentLength: 5, TLS: &result.Handshake{
						Protocol: protocol, Cipher: suite.Name, KeyAlgorithm: algorithm, KeySize: bits[algorithm],
						Subject: "CN=" + tlstest.Name + ",O=Assay", Issuer: "CN=authority",
						Fingerprint: hex.EncodeToString(fingerprint[:]), NotAfter: own.Leaf.NotAfter.UnixMicro(),
					}}
					if cipher.IsTLS13(suite.Name) || strings.HasPrefix(suite.Name, "ECDHE-") {
						want.TLS.Group = "X25519"
					}
					if cipher.IsTLS13(suite.Name) {
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

// supports reports whether a version of TLS has a suite.
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

// TestHandshakeErrors checks the error of each way in which a handshake can fail, twice:
// it must not differ.
func TestHandshakeErrors(t *testing.T) {
	authority, other := tlstest.NewCA(t, "authority"), tlstest.NewCA(t, "other")
	right, self := authority.ECDSA(t), tlstest.SelfSigned(t)
	at := func(day int) time.Time { return time.Date(2020, 1, day, 0, 0, 0, 0, time.UTC) }
	expired := authority.ECDSA(t, func(c *x509.Certificate) { c.NotBefore, c.NotAfter = at(1), at(2) })
	nameless := authority.ECDSA(t, func(c *x509.Certificate) { c.DNSNames, c.IPAddresses = nil, nil })
	clientOnly := authority.ECDSA(t, func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} })
	trusting := tlstest.Files{CA: authority.PEM()}
	presenting := tlstest.Files{CA: authority.PEM(), Client: other.ECDSA(t)}
	of := func(c *tlstest.Certificate) string {
		return secure(t, &tls.Config{Certificates: []tls.Certificate{c.Certificate}})
	}
	demanding := func(version uint16) string {
		return secure(t, &tls.Config{
			Certificates: []tls.Certificate{right.Certificate}, ClientAuth: tls.RequireAndVerifyClientCert,
			ClientCAs: authority.Pool(), MaxVersion: version,
		})
	}
	alert := func(number byte) string {
		return rawserver.Start(t, saying("\x15\x03\x03\x00\x02\x02"+string([]byte{number})))
	}
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	tests := map[string]struct {
		at       string
		settings session.TLS
		files    tlstest.Files
		want     string
	}{
		"unknown authority": {of(right), session.TLS{}, tlstest.Files{CA: other.PEM()},
			"the server's certificate was issued by an unknown CA, CN=authority: set the CA's certificate, or set tls.verification to None"},
		"self-signed": {of(self), session.TLS{}, trusting,
			"the server's certificate was issued by an unknown CA, CN=target.test,O=Assay: set the CA's certificate, or set tls.verification to None"},
		"wrong name": {of(right), session.TLS{ServerName: "other.test"}, trusting,
			"the server's certificate is not valid for other.test, only for target.test, 127.0.0.1: set tls.serverName to one of these"},
		"wrong address": {of(right), session.TLS{ServerName: "127.0.0.2"}, trusting,
			"the server's certificate is not valid for 127.0.0.2, only for target.test, 127.0.0.1: set tls.serverName to one of these"},
		"no name": {of(nameless), session.TLS{}, trusting,
			"the server's certificate has no names (subjectAltName), so it can't be verified for target.test: use one with names, or set tls.verification to None"},
		"expired": {of(expired), session.TLS{}, trusting,
			"the server's certificate is only valid from 2020-01-01T00:00Z to 2020-01-02T00:00Z: renew it, or set tls.verification to None"},
		"a client's": {of(clientOnly), session.TLS{}, trusting,
			"the server's certificate was rejected: certificate specifies an incompatible key usage"},
		"older protocols": {of(right), session.TLS{Protocols: []string{"TLSv1", "TLSv1.1"}}, trusting,
			"the server supports none of the TLS protocols TLSv1, TLSv1.1: change tls.protocols"},
		"newer protocols": {secure(t, &tls.Config{Certificates: []tls.Certificate{right.Certificate}, MaxVersion: tls.VersionTLS12}),
			session.TLS{Protocols: []string{"TLSv1.3"}}, trusting,
			"the server supports none of the TLS protocols TLSv1.3: change tls.protocols"},
		"no cipher": {of(right), session.TLS{Protocols: []string{"TLSv1.2"}, Ciphers: []string{"AES128-SHA"}}, trusting,
			`the server rejected the TLS handshake (alert "handshake failure"): it supports none of the cipher suites that were offered with TLSv1.2, or has no certificate for them: change tls.ciphers`},
		"no client certificate, TLSv1.3": {demanding(tls.VersionTLS13), session.TLS{}, trusting,
			"the server requires a client certificate: set tls.clientAuthentication"},
		"no client certificate, TLSv1.2": {demanding(tls.VersionTLS12), session.TLS{}, trusting,
			"the server requires a client certificate: set tls.clientAuthentication"},
		"wrong client certificate, TLSv1.3": {demanding(tls.VersionTLS13), session.TLS{ClientCertificate: true}, presenting,
			`the server rejected the client's certificate (alert "unknown certificate authority"): use one issued by a CA that the server trusts`},
		"wrong client certificate, TLSv1.2": {demanding(tls.VersionTLS12), session.TLS{ClientCertificate: true}, presenting,
			`the server rejected the client's certificate (alert "unknown certificate authority"): use one issued by a CA that the server trusts`},
		"unknown site":  {alert(112), session.TLS{}, trusting, "the server has no site named target.test: change tls.serverName"},
		"another alert": {alert(80), session.TLS{}, trusting, `the server closed TLS with the alert "internal error"`},
		"plain HTTP":    {address(plain), session.TLS{}, trusting, "the server speaks plain HTTP where TLS was expected"},
		"no TLS":        {rawserver.Start(t, saying("SSH-2.0-OpenSSH_9.2\r\n")), session.TLS{}, trusting, "the server doesn't speak TLS"},
		"closes":        {rawserver.Start(t, closing("")), session.TLS{}, trusting, "the server closed the connection in the TLS handshake"},
		"resets": {rawserver.Start(t, func(conn net.Conn) {
			_, _ = conn.Read(make([]byte, 4096))
			_ = conn.(*net.TCPConn).SetLinger(0)
		}), session.TLS{}, trusting, "the server reset the connection in the TLS handshake"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				got, err := onceTLS(t, test.at, test.settings, test.files)
				if err == nil || err.Error() != "GET /: "+test.want {
					t.Errorf("%+v, error\n%v, want\n%s", got, err, test.want)
				}
			}
		})
	}
}

func TestStalledHandshake(t *testing.T) {
	q := requestTo(rawserver.Start(t, saying("\x16")), "/")
	q.TLS, q.Timeout = &tls.Config{ServerName: tlstest.Name, MinVersion: tls.VersionTLS12}, 50*time.Millisecond
	if got, err := Once(t.Context(), q); err == nil || err.Error() != "GET /: no TLS handshake within 50ms" {
		t.Errorf("%+v, error %v", got, err)
	}
}

// TestRequestedCertificates checks whether a request for a client certificate is
// noticed, if the client has one or not.
func TestRequestedCertificates(t *testing.T) {
	authority := tlstest.NewCA(t, "authority")
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
				got, err := onceTLS(t, secure(t, server), session.TLS{ClientCertificate: presented}, files)
				if err != nil {
					t.Errorf("%s, requested %t, presented %t: %v", tls.VersionName(version), requested, presented, err)
				} else if got.TLS.CertificateRequested != requested {
					t.Errorf("%s, requested %t, presented %t: %+v", tls.VersionName(version), requested, presented, got.TLS)
				}
			}
		}
	}
}
