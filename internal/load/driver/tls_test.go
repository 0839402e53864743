package driver

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/assay-dev/assay/internal/load/recorder"
	"github.com/assay-dev/assay/internal/load/testserver"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/targettls/tlstest"
	"github.com/assay-dev/assay/test/rawserver"
)

// driveTLS drives a plan over TLS with the given certificate files.
func driveTLS(t *testing.T, p session.Plan, address string, files tlstest.Files) stageResult {
	t.Helper()
	if p.TLS.ServerName == "" {
		p.TLS.ServerName = tlstest.Name
	}
	return driveWith(t, p, address, Access{TLS: tlsConfig(t, &p, address, tlstest.Directory(t, files))})
}

func planTLS(connections int, requests int64, settings session.TLS) session.Plan {
	p := plan(connections, requests, "/")
	p.TLS = &settings
	return p
}

func five(testserver.Request) testserver.Answer { return testserver.OK(5) }

// TestEveryProtocol checks that handshakes are counted and timed with every
// protocol version, with and without keep-alive.
func TestEveryProtocol(t *testing.T) { inBothModes(t, testEveryProtocol) }

func testEveryProtocol(t *testing.T) {
	authority := tlstest.NewCA(t, "authority")
	own := authority.RSA(t)
	for i, name := range session.Protocols {
		version := tls.VersionTLS10 + uint16(i)
		server := testserver.NewTLS(t, &tls.Config{
			Certificates: []tls.Certificate{own.Certificate}, MinVersion: version, MaxVersion: version,
		}, five)
		for _, keepAlive := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				before := server.Seen()
				p := planTLS(3, 30, session.TLS{Protocols: []string{name}})
				p.KeepAlive = keepAlive
				got := driveTLS(t, p, server.Address(), tlstest.Files{CA: authority.PEM()})
				eventually(t, func() bool { return server.Open() == 0 }, "the connections to be closed")
				seen := server.Seen()
				connections := seen.Connections - before.Connections
				if keepAlive != (connections <= 3) {
					t.Errorf("%d connections", connections)
				}
				want := result.Counts{
					Requests: 30, Connections: connections, KeepAlive: 30 - connections, BodyBytes: 150,
					BytesSent: seen.BytesReceived - before.BytesReceived, BytesReceived: seen.BytesSent - before.BytesSent,
				}
				if got.Counts != want || seen.Handshakes-before.Handshakes != connections {
					t.Errorf("counts\n%+v, want\n%+v after %d handshakes", got.Counts, want, seen.Handshakes-before.Handshakes)
				}
				for _, phase := range []result.Phase{result.Connect, result.TLS} {
					if n := got.Latencies.Get(phase).Count(); n != connections {
						t.Errorf("%s was timed %d times, want %d", phase, n, connections)
					}
				}
				for _, o := range got.outcomes {
					if sum := o.Connect + o.TLS + o.Processing; o.Secured != o.Opened || o.Secured && o.TLS <= 0 || sum != o.Total {
						t.Errorf("the phases of %+v don't add up", o)
					}
				}
			})
		}
	}
}

// TestResumption compares the resumed handshakes with those that the server
// counted.
func TestResumption(t *testing.T) { inBothModes(t, testResumption) }

func testResumption(t *testing.T) {
	authority := tlstest.NewCA(t, "authority")
	own := authority.ECDSA(t)
	for _, test := range []struct {
		protocol          string
		resume, forgetful bool
		want              int64
	}{
		{"TLSv1.2", true, false, 37}, // all but the first handshake of each connection
		{"TLSv1.3", true, false, 37},
		{"TLSv1.2", false, false, 0},
		{"TLSv1.3", false, false, 0},
		{"TLSv1.2", true, true, 0},
		{"TLSv1.3", true, true, 0},
	} {
		t.Run(test.protocol, func(t *testing.T) {
			server := testserver.NewTLS(t, &tls.Config{
				Certificates: []tls.Certificate{own.Certificate}, SessionTicketsDisabled: test.forgetful,
			}, five)
			p := planTLS(3, 40, session.TLS{Protocols: []string{test.protocol}, Resume: test.resume})
			p.KeepAlive = false
			got := driveTLS(t, p, server.Address(), tlstest.Files{CA: authority.PEM()})
			server.Stop()
			seen := server.Seen()
			if got.Succeeded() != 40 || got.TLSResumed != seen.Resumed || got.TLSResumed != test.want || seen.Handshakes != 40 {
				t.Errorf("%d of 40 requests succeeded, %d handshakes were resumed, by the server's count %d of %d, want %d",
					got.Succeeded(), got.TLSResumed, seen.Resumed, seen.Handshakes, test.want)
			}
		})
	}
}

// TestTLSErrorKinds checks servers that misbehave within TLS.
func TestTLSErrorKinds(t *testing.T) { inBothModes(t, testTLSErrorKinds) }

func testTLSErrorKinds(t *testing.T) {
	authority := tlstest.NewCA(t, "authority")
	own := authority.ECDSA(t)
	for name, test := range faults {
		t.Run(name, func(t *testing.T) {
			server := testserver.NewTLS(t, &tls.Config{Certificates: []tls.Certificate{own.Certificate}},
				func(testserver.Request) testserver.Answer { return test.answer })
			const requests = 3
			got := driveTLS(t, planTLS(1, requests, session.TLS{}), server.Address(), tlstest.Files{CA: authority.PEM()})
			var want result.ErrorCounts
			if test.want != recorder.NoError {
				want[test.want] = requests
			}
			connections := int64(requests)
			if test.kept {
				connections = 1
			}
			checkCause(t, "HTTP/1.1", name, got)
			if got.Errors != want || got.Connections != connections {
				t.Errorf("errors %v on %d connections, want %v on %d", got.Errors, got.Connections, want, connections)
			}
			eventually(t, func() bool { return server.Open() == 0 }, "the connections to be closed")
		})
	}
}

// TestHandshakes checks handshakes that succeed, and that fail for every reason
// on either side.
func TestHandshakes(t *testing.T) { inBothModes(t, testHandshakes) }

func testHandshakes(t *testing.T) {
	authority, other := tlstest.NewCA(t, "authority"), tlstest.NewCA(t, "other")
	right := authority.ECDSA(t)
	self := tlstest.SelfSigned(t)
	expired := authority.ECDSA(t, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) })
	trusting := tlstest.Files{CA: authority.PEM()}
	demanding := func(version uint16) *tls.Config {
		return &tls.Config{
			Certificates: []tls.Certificate{right.Certificate}, ClientAuth: tls.RequireAndVerifyClientCert,
			ClientCAs: authority.Pool(), MaxVersion: version,
		}
	}
	presenting := func(c *tlstest.Certificate) tlstest.Files {
		return tlstest.Files{CA: authority.PEM(), Client: c}
	}
	of := func(c *tlstest.Certificate) *tls.Config {
		return &tls.Config{Certificates: []tls.Certificate{c.Certificate}}
	}
	for name, test := range map[string]struct {
		server *tls.Config
		client session.TLS
		files  tlstest.Files
		want   result.ErrorKind
	}{
		"all right":             {of(right), session.TLS{}, trusting, recorder.NoError},
		"an address for a name": {of(right), session.TLS{ServerName: "127.0.0.1"}, trusting, recorder.NoError},
		"wrong name":            {of(right), session.TLS{ServerName: "other.test"}, trusting, result.ErrorTLS},
		"expired":               {of(expired), session.TLS{}, trusting, result.ErrorTLS},
		"unknown authority":     {of(right), session.TLS{}, tlstest.Files{CA: other.PEM()}, result.ErrorTLS},
		"unknown to Mozilla":    {of(right), session.TLS{}, tlstest.Files{}, result.ErrorTLS},
		"unverified":            {of(expired), session.TLS{ServerName: "other.test", Unverified: true}, tlstest.Files{}, recorder.NoError},
		"the target's own":      {of(self), session.TLS{}, tlstest.Files{CA: other.PEM(), Server: self.PEM()}, recorder.NoError},
		"another's own":         {of(self), session.TLS{}, tlstest.Files{Server: right.PEM()}, result.ErrorTLS},
		"no protocol in common": {&tls.Config{Certificates: of(right).Certificates, MinVersion: tls.VersionTLS13}, session.TLS{Protocols: []string{"TLSv1.2"}}, trusting, result.ErrorTLS},
		"no cipher in common": {of(right), session.TLS{Protocols: []string{"TLSv1.2"}, Ciphers: []string{"ECDHE-RSA-AES128-GCM-SHA256"}},
			trusting, result.ErrorTLS},
		"client certificate, TLSv1.2":       {demanding(tls.VersionTLS12), session.TLS{ClientCertificate: true}, presenting(authority.ECDSA(t)), recorder.NoError},
		"client certificate, TLSv1.3":       {demanding(tls.VersionTLS13), session.TLS{ClientCertificate: true}, presenting(authority.ECDSA(t)), recorder.NoError},
		"wrong client certificate, TLSv1.2": {demanding(tls.VersionTLS12), session.TLS{ClientCertificate: true}, presenting(other.ECDSA(t)), result.ErrorTLS},
		"wrong client certificate, TLSv1.3": {demanding(tls.VersionTLS13), session.TLS{ClientCertificate: true}, presenting(other.ECDSA(t)), result.ErrorTLS},
		"no client certificate, TLSv1.2":    {demanding(tls.VersionTLS12), session.TLS{}, trusting, result.ErrorTLS},
		"no client certificate, TLSv1.3":    {demanding(tls.VersionTLS13), session.TLS{}, trusting, result.ErrorTLS},
	} {
		t.Run(name, func(t *testing.T) {
			server := testserver.NewTLS(t, test.server, five)
			got := driveTLS(t, planTLS(2, 6, test.client), server.Address(), test.files)
			var want result.ErrorCounts
			if test.want != recorder.NoError {
				want[test.want] = 6
			}
			if got.Errors != want {
				t.Errorf("errors %v, want %v", got.Errors, want)
			}
			checkCause(t, "handshake", name, got)
			eventually(t, func() bool { return server.Open() == 0 }, "the connections to be closed")
			server.Stop()
			if seen := server.Seen(); got.Connections != seen.Connections {
				t.Errorf("%d connections, by the server's count %d", got.Connections, seen.Connections)
			}
		})
	}
}

// misbehaving is a server that calls a function for each connection and counts
// open connections.
type misbehaving struct {
	address string
	mu      sync.Mutex
	open    int
	begun   chan struct{} // receives once for each connection
}

func misbehave(t *testing.T, do func(net.Conn)) *misbehaving {
	t.Helper()
	m := &misbehaving{begun: make(chan struct{}, 1000)}
	m.address = rawserver.Start(t, func(conn net.Conn) {
		m.count(1)
		m.begun <- struct{}{}
		do(conn)
		_ = conn.Close()
		m.count(-1)
	})
	return m
}

func (m *misbehaving) count(n int) {
	m.mu.Lock()
	m.open += n
	m.mu.Unlock()
}

func (m *misbehaving) closed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.open == 0
}

// untilClosed reads until the client closes the connection.
func untilClosed(conn net.Conn) {
	buffer := make([]byte, 4096)
	for {
		if _, err := conn.Read(buffer); err != nil {
			return
		}
	}
}

func saying(text string) func(net.Conn) {
	return func(conn net.Conn) {
		_, _ = conn.Read(make([]byte, 4096))
		_, _ = conn.Write([]byte(text))
		untilClosed(conn)
	}
}

func TestServersWithoutTLS(t *testing.T) { inBothModes(t, testServersWithoutTLS) }

func testServersWithoutTLS(t *testing.T) {
	const alertHandshakeFailure = "\x15\x03\x03\x00\x02\x02\x28"
	for name, test := range map[string]struct {
		serve func(net.Conn)
		want  result.ErrorKind
	}{
		"plain HTTP":      {saying("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"), result.ErrorTLS},
		"garbage":         {saying("\x00\x01\x02"), result.ErrorTimeout}, // a record header has five bytes
		"an alert":        {saying(alertHandshakeFailure), result.ErrorTLS},
		"closes":          {func(net.Conn) {}, result.ErrorTLS},
		"closes later":    {func(conn net.Conn) { _, _ = conn.Read(make([]byte, 4096)) }, result.ErrorTLS},
		"stalls":          {untilClosed, result.ErrorTimeout},
		"stalls later":    {saying("\x16\x03\x03\x01\x00" + strings.Repeat("x", 10)), result.ErrorTimeout},
		"endless records": {saying(strings.Repeat("\x16\x03\x03\x40\x00"+strings.Repeat("\x00", 1<<14), 8)), result.ErrorTLS},
	} {
		t.Run(name, func(t *testing.T) {
			server := misbehave(t, test.serve)
			p := planTLS(2, 4, session.TLS{Unverified: true})
			if test.want == result.ErrorTimeout {
				p.TimeoutMicroseconds = 100_000
			}
			got := driveTLS(t, p, server.address, tlstest.Files{})
			checkCause(t, "no TLS", name, got)
			if got.Errors[test.want] != 4 || got.Errors.Total() != 4 || got.Connections != 4 || got.BytesSent != 0 {
				t.Errorf("counts %+v", got.Counts)
			}
			for _, o := range got.outcomes {
				if o.Error == result.ErrorTimeout && o.Total < 100*time.Millisecond {
					t.Errorf("timed out after %v", o.Total)
				}
			}
			eventually(t, server.closed, "the connections to be closed")
		})
	}
}

// TestRefusedHandshakesArePaced checks the backoff if the server rejects the
// client certificate, which it does after the handshake in TLS 1.3.
func TestRefusedHandshakesArePaced(t *testing.T) { inBothModes(t, testRefusedHandshakesArePaced) }

func testRefusedHandshakesArePaced(t *testing.T) {
	authority := tlstest.NewCA(t, "authority")
	own := authority.ECDSA(t)
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		t.Run(tls.VersionName(version), func(t *testing.T) {
			server := testserver.NewTLS(t, &tls.Config{
				Certificates: []tls.Certificate{own.Certificate}, ClientAuth: tls.RequireAnyClientCert, MaxVersion: version,
			}, five)
			got := driveTLS(t, planTLS(1, 6, session.TLS{}), server.Address(), tlstest.Files{CA: authority.PEM()})
			if got.Errors[result.ErrorTLS] != 6 {
				t.Errorf("errors %v", got.Errors)
			}
			if atLeast := 5 * minBackoff; got.elapsed < atLeast {
				t.Errorf("6 refused handshakes within %v, want at least %v", got.elapsed, atLeast)
			}
		})
	}
}

func TestTLSNeedsItsConfiguration(t *testing.T) {
	p := plan(1, 1, "/")
	if _, err := New(t.Context(), &p, "127.0.0.1:443", Access{TLS: &tls.Config{}}); err == nil {
		t.Error("a TLS configuration was accepted for a plan without TLS")
	}
	p.TLS = &session.TLS{}
	if _, err := New(t.Context(), &p, "127.0.0.1:443", Access{}); err == nil {
		t.Error("a plan with TLS was accepted without a configuration")
	}
	for _, test := range []struct{ host, address, want string }{
		{"", "target.test:443", "target.test"},
		{"", "target.test:80", "target.test:80"},
		{"www.test:443", "target.test:443", "www.test:443"},
	} {
		p.Host = test.host
		load := newLoad(t, &p, strings.Replace(test.address, "target.test", "localhost", 1), Access{TLS: &tls.Config{}})
		want := "\r\nHost: " + strings.Replace(test.want, "target.test", "localhost", 1) + "\r\n"
		if got := string(load.requests.Requests[0].Bytes); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
