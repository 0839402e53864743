package driver

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/targettls/tlstest"
)

// readCounter counts the reads of a connection. Each returns everything that one write of the client has sent, as long as the server
// writes between two of them.
type readCounter struct {
	net.Conn
	reads  int
	buffer [1 << 16]byte
	rest   []byte // of the last read
}

func (c *readCounter) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		n, err := c.Conn.Read(c.buffer[:])
		if n == 0 {
			return 0, err
		}
		c.reads++
		c.rest = c.buffer[:n]
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// TestLastFlightWithRequest checks how many times the client writes until its first request has arrived: once for each flight that the
// server responds to, and once for the last flight and the request together if it doesn't.
func TestLastFlightWithRequest(t *testing.T) {
	own := tlstest.SelfSigned(t)
	for name, test := range map[string]struct {
		server *tls.Config
		resume bool
		first  int // number of writes on the first connection
		next   int // on each other one
	}{
		"TLS 1.2":              {&tls.Config{MaxVersion: tls.VersionTLS12}, false, 3, 3},
		"TLS 1.2, resumed":     {&tls.Config{MaxVersion: tls.VersionTLS12}, true, 3, 2},
		"TLS 1.3":              {&tls.Config{}, false, 2, 2},
		"TLS 1.3, resumed":     {&tls.Config{}, true, 2, 2},
		"TLS 1.3, other group": {&tls.Config{CurvePreferences: []tls.CurveID{tls.CurveP384}}, false, 3, 3},
	} {
		t.Run(name, func(t *testing.T) {
			test.server.Certificates = []tls.Certificate{own.Certificate}
			writes, broken := make(chan int, 4), make(chan error, 4)
			server := misbehave(t, func(conn net.Conn) {
				counter := &readCounter{Conn: conn}
				secure := tls.Server(counter, test.server)
				_, err := http.ReadRequest(bufio.NewReader(secure))
				writes <- counter.reads
				if err == nil {
					_, err = io.WriteString(secure, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
				}
				_ = secure.Close()
				broken <- err
			})
			p := planTLS(1, 4, session.TLS{Resume: test.resume})
			p.KeepAlive = false
			got := driveTLS(t, p, server.address, tlstest.Files{Server: own.PEM()})
			resumed := int64(0)
			if test.resume {
				resumed = 3
			}
			if got.Succeeded() != 4 || got.TLSResumed != resumed {
				t.Errorf("counts %+v", got.Counts)
			}
			for i := range 4 {
				want := test.next
				if i == 0 {
					want = test.first
				}
				if n, err := <-writes, <-broken; n != want || err != nil {
					t.Errorf("connection %d: %d writes and error %v, want %d", i, n, err, want)
				}
			}
		})
	}
}

// TestAlertIsSent checks that the server learns why the client gives up a handshake.
func TestAlertIsSent(t *testing.T) { inBothModes(t, testAlertIsSent) }

func testAlertIsSent(t *testing.T) {
	own, other := tlstest.SelfSigned(t), tlstest.SelfSigned(t)
	ends := make(chan error, 1)
	server := misbehave(t, func(conn net.Conn) {
		ends <- tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{own.Certificate}}).Handshake()
	})
	got := driveTLS(t, planTLS(1, 1, session.TLS{}), server.address, tlstest.Files{Server: other.PEM()})
	if got.Errors[result.ErrorTLS] != 1 {
		t.Errorf("counts %+v", got.Counts)
	}
	if err := <-ends; err == nil || err.Error() != "remote error: tls: bad certificate" {
		t.Errorf("the server's handshake ended with %v", err)
	}
}
