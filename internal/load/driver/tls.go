package driver

import (
	"crypto/tls"
	"errors"

	"github.com/assay-dev/assay/internal/targettls"
)

// tlsTransport is TLS on a transport.
type tlsTransport struct {
	*tls.Conn
	inner socketTransport
	// unrequested reports whether idle has read a byte that responds to no request.
	unrequested bool
}

// Close closes the connection without close_notify. It never blocks and may be called
// during reads and writes.
func (s *tlsTransport) Close() error { return s.inner.Close() }

// SetLinger implements transport.
func (s *tlsTransport) SetLinger(seconds int) error { return s.inner.SetLinger(seconds) }

// idle reads, since most records that arrive on an idle connection are about TLS: new session tickets, key updates,
// and close_notify, which only ends the connection.
func (s *tlsTransport) idle() idleState {
	var next [1]byte
	n, err := s.inner.poll(s.Conn, next[:])
	s.unrequested = s.unrequested || n > 0
	switch {
	case s.unrequested:
		return unrequested
	case errors.Is(err, errNotReady):
		return usable
	}
	return ended
}

// handshake starts TLS on a transport that was opened. It reports whether an earlier session was resumed.
//
// In a loop, the client's last flight is sent together with the first request if the server doesn't respond to it, as with TLS 1.3.
// That saves a segment, and the server a wake-up.
func (c *connection) handshake(opened socketTransport, config *tls.Config) (resumed bool, err error) {
	s := &tlsTransport{Conn: tls.Client(opened, config), inner: opened}
	if c.socket != nil {
		c.socket.startBuffering() // until the first request is encrypted
	}
	if err := s.Handshake(); err != nil {
		if c.socket != nil {
			_ = c.socket.flush() // an alert, if anything; it doesn't change the outcome
		}
		return false, err
	}
	c.setTransport(s)
	return s.ConnectionState().DidResume, nil
}

// tlsConfigs returns the TLS configurations of all connections, or nil without TLS.
func tlsConfigs(config *tls.Config, resume bool, connections int) []*tls.Config {
	if config == nil {
		return nil
	}
	all := make([]*tls.Config, connections)
	for i := range all {
		all[i] = config
		if resume {
			all[i] = targettls.WithSession(config)
		}
	}
	return all
}
