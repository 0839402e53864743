package targettls

import (
	"crypto/tls"
	"sync"
)

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
