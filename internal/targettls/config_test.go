package targettls

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/targettls/tlstest"
)

// TestConfig checks what is offered. Packages probe and driver test that it works.
func TestConfig(t *testing.T) {
	type offer struct {
		Name     string
		Min, Max uint16
		Ciphers  []uint16
	}
	for name, test := range map[string]struct {
		settings session.TLS
		want     offer
	}{
		"nothing said":    {session.TLS{}, offer{"10.0.0.1", tls.VersionTLS12, tls.VersionTLS13, nil}},
		"a name":          {session.TLS{ServerName: "www.test"}, offer{"www.test", tls.VersionTLS12, tls.VersionTLS13, nil}},
		"one protocol":    {session.TLS{Protocols: []string{"TLSv1"}}, offer{"10.0.0.1", tls.VersionTLS10, tls.VersionTLS10, nil}},
		"protocols":       {session.TLS{Protocols: []string{"TLSv1.3", "TLSv1.1", "TLSv1.2"}}, offer{"10.0.0.1", tls.VersionTLS11, tls.VersionTLS13, nil}},
		"ciphers":         {session.TLS{Ciphers: []string{"TLS_AES_128_GCM_SHA256", "AES128-SHA", "AES256-SHA"}}, offer{"10.0.0.1", tls.VersionTLS12, tls.VersionTLS13, []uint16{tls.TLS_RSA_WITH_AES_128_CBC_SHA, tls.TLS_RSA_WITH_AES_256_CBC_SHA}}},
		"TLS 1.3's alone": {session.TLS{Ciphers: []string{"TLS_AES_128_GCM_SHA256"}}, offer{"10.0.0.1", tls.VersionTLS13, tls.VersionTLS13, nil}},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := Config(&test.settings, "10.0.0.1:443", t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, offer{c.ServerName, c.MinVersion, c.MaxVersion, c.CipherSuites}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if c.InsecureSkipVerify || c.ClientSessionCache != nil || c.GetClientCertificate != nil {
				t.Errorf("more than was asked for: %+v", c)
			}
		})
	}
}

// TestGroups negotiates with a server that has all groups.
func TestGroups(t *testing.T) {
	ca := tlstest.NewCA(t, "ca")
	for _, test := range []struct {
		groups []string
		want   string
	}{
		{nil, "X25519"}, {[]string{"P-384"}, "P-384"}, {[]string{"P-521", "P-256"}, "P-256"}, {[]string{"P-256", "X25519MLKEM768"}, "X25519MLKEM768"},
	} {
		config, err := Config(&session.TLS{Groups: test.groups, Unverified: true}, "10.0.0.1:443", t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		ours, theirs := net.Pipe()
		client, server := tls.Client(ours, config), tls.Server(theirs, &tls.Config{Certificates: []tls.Certificate{ca.ECDSA(t).Certificate}})
		served := make(chan error, 1)
		go func() { served <- server.HandshakeContext(t.Context()) }()
		if err := errors.Join(client.HandshakeContext(t.Context()), <-served); err != nil {
			t.Fatalf("%v: %v", test.groups, err)
		}
		state := client.ConnectionState()
		if got := Handshake(&state).Group; got != test.want {
			t.Errorf("%v: %s, want %s", test.groups, got, test.want)
		}
	}
}

func TestConfigErrors(t *testing.T) {
	authority := tlstest.NewCA(t, "authority")
	own := authority.ECDSA(t)
	halved := t.TempDir()
	if err := os.WriteFile(filepath.Join(halved, "client.crt"), own.PEM(), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := tlstest.Files{}
	for name, test := range map[string]struct {
		settings  session.TLS
		address   string
		directory string
		want      string
	}{
		"an unknown protocol":  {session.TLS{Protocols: []string{"SSLv3"}}, "a:1", t.TempDir(), "unknown TLS protocol SSLv3: use TLSv1, "},
		"an unknown cipher":    {session.TLS{Ciphers: []string{"RC4-SHA"}}, "a:1", t.TempDir(), "RC4-SHA: use TLS_AES_128_GCM_SHA256, "},
		"ciphers of another":   {session.TLS{Protocols: []string{"TLSv1.2"}, Ciphers: []string{"TLS_AES_128_GCM_SHA256"}}, "a:1", t.TempDir(), "which the protocols don't include"},
		"no port":              {session.TLS{}, "a", t.TempDir(), "the target's address"},
		"no certificate":       {session.TLS{ClientCertificate: true}, "a:1", tlstest.Directory(t, empty), "load the client certificate: open "},
		"a certificate's half": {session.TLS{ClientCertificate: true}, "a:1", halved, "load the client certificate: open "},
		"no PEM for authority": {session.TLS{}, "a:1", tlstest.Directory(t, tlstest.Files{CA: []byte("certificate")}), "ca.crt has no certificate in PEM"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Config(&test.settings, test.address, test.directory); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

// TestRoots checks that the pod's CA bundle and the target's own certificate are trusted,
// and Mozilla's CAs only if there are neither.
func TestRoots(t *testing.T) {
	authority, other := tlstest.NewCA(t, "authority"), tlstest.NewCA(t, "other")
	self := tlstest.SelfSigned(t)
	pool := func(pems ...[]byte) *x509.CertPool {
		p := x509.NewCertPool()
		for _, pem := range pems {
			p.AppendCertsFromPEM(pem)
		}
		return p
	}
	for name, test := range map[string]struct {
		files tlstest.Files
		want  *x509.CertPool
	}{
		"an authority":       {tlstest.Files{CA: authority.PEM()}, pool(authority.PEM())},
		"two of them":        {tlstest.Files{CA: slices.Concat(authority.PEM(), other.PEM())}, pool(authority.PEM(), other.PEM())},
		"the target's own":   {tlstest.Files{Server: self.PEM()}, pool(self.PEM())},
		"both":               {tlstest.Files{CA: authority.PEM(), Server: self.PEM()}, pool(authority.PEM(), self.PEM())},
		"an empty authority": {tlstest.Files{CA: []byte("\n"), Server: self.PEM()}, pool(self.PEM())},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := Config(&session.TLS{}, "a:1", tlstest.Directory(t, test.files))
			if err != nil {
				t.Fatal(err)
			}
			if !c.RootCAs.Equal(test.want) {
				t.Error("others are trusted than those that were given")
			}
		})
	}
	c, err := Config(&session.TLS{}, "a:1", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if c.RootCAs == nil || c.RootCAs.Equal(x509.NewCertPool()) || c.RootCAs.Equal(pool(authority.PEM())) {
		t.Error("Mozilla's authorities aren't trusted where none is given")
	}
}

func TestSlotKeepsTheLastSession(t *testing.T) {
	shared := &tls.Config{ServerName: "a"}
	one, two := WithSession(shared), WithSession(shared)
	first, last := &tls.ClientSessionState{}, &tls.ClientSessionState{}
	one.ClientSessionCache.Put("a", first)
	one.ClientSessionCache.Put("a", last)
	for range 2 {
		if got, ok := one.ClientSessionCache.Get("a"); got != last || !ok {
			t.Error("the last session isn't kept")
		}
	}
	if got, ok := two.ClientSessionCache.Get("a"); got != nil || ok || shared.ClientSessionCache != nil {
		t.Error("connections share a session")
	}
	one.ClientSessionCache.Put("a", nil)
	if got, ok := one.ClientSessionCache.Get("a"); got != nil || ok {
		t.Error("a refused session is kept")
	}
}
