package targettls

import (
	"crypto/tls"
	"sync"
)

// WithSession returns a copy of a configuration whose connections, which must
// come one after the other, each resume the session of the one before where the
// target lets them.
//
// crypto/tls keeps sessions by the server's name, one for all connections at
// once. Of those that are open at the same time each would offer the same
// ticket, but one of TLS 1.3 is good for one connection (RFC 8446, appendix
// C.4), and servers that keep their sessions do insist on it.
func WithSession(config *tls.Config) *tls.Config {
	config = config.Clone()
	config.ClientSessionCache = &slot{}
	return config
}

// slot keeps the last session.
type slot struct {
	mu      sync.Mutex
	session *tls.ClientSessionState
}

// Get is called before a handshake.
func (s *slot) Get(string) (*tls.ClientSessionState, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.session, s.session != nil
}

// Put is called with each ticket that comes, and with nil when the target has
// refused the last.
func (s *slot) Put(_ string, session *tls.ClientSessionState) {
	s.mu.Lock()
	s.session = session
	s.mu.Unlock()
}
