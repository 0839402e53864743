package driver

import (
	"crypto/tls"

	"github.com/assay-dev/assay/internal/targettls"
)

// secured is TLS on a transport.
type secured struct {
	*tls.Conn
	beneath transport
}

// Close closes the connection without telling the server so in TLS. It never
// waits, and may be called while others read and write.
func (s *secured) Close() error { return s.beneath.Close() }

// SetLinger is as net.TCPConn's.
func (s *secured) SetLinger(seconds int) error { return s.beneath.SetLinger(seconds) }

// handshake speaks TLS on the open transport. It returns whether that resumed
// an earlier session.
func (c *connection) handshake(config *tls.Config) (resumed bool, err error) {
	s := &secured{Conn: tls.Client(c.transport, config), beneath: c.transport}
	if err := s.Handshake(); err != nil {
		return false, err
	}
	c.hold(s)
	return s.ConnectionState().DidResume, nil
}

// security returns the configurations of connections, by their numbers; nil
// without TLS.
func security(config *tls.Config, resume bool, connections int) []*tls.Config {
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
