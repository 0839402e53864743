package manager

import (
	"net"
	"sync"

	"google.golang.org/grpc/credentials"
)

const (
	// MaxConnections is the default of Server.ConnectionsPerAddress. Where the pods of a node share an
	// address, it is twice as many as a node has pods.
	MaxConnections = 512
	// maxHandshakes bounds the connections of an address whose TLS handshake hasn't ended.
	maxHandshakes = 64
	// maxAllConnections bounds the connections of all addresses.
	maxAllConnections = 16_384
)

// limitedListener accepts the connections that an address may have, and closes further ones.
type limitedListener struct {
	net.Listener
	most int // connections of an address

	mu        sync.Mutex
	all       int
	addresses map[string]connections
}

// connections are the numbers of an address's connections. handshaking is among open.
type connections struct{ open, handshaking int }

func newLimitedListener(listener net.Listener, most int) *limitedListener {
	return &limitedListener{Listener: listener, most: most, addresses: map[string]connections{}}
}

// Accept returns the next connection that is within the limits.
func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		limited := &limitedConn{Conn: conn, listener: l, host: hostOf(conn.RemoteAddr()), handshaking: true}
		if l.admit(limited.host) {
			return limited, nil
		}
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // resets it, so that the kernel keeps nothing of it
		}
		_ = conn.Close()
	}
}

// admit counts a connection whose handshake begins, unless its address has as many as it may have.
func (l *limitedListener) admit(host string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.addresses[host]
	if l.all >= maxAllConnections || c.open >= l.most || c.handshaking >= maxHandshakes {
		return false
	}
	l.all++
	l.addresses[host] = connections{open: c.open + 1, handshaking: c.handshaking + 1}
	return true
}

// limitedConn is a connection that limitedListener counts. The fields from handshaking on are guarded
// by the listener's mutex.
type limitedConn struct {
	net.Conn
	listener *limitedListener
	host     string

	handshaking bool
	closed      bool
}

// endHandshake counts the connection as one whose handshake has ended.
func (c *limitedConn) endHandshake() {
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()
	if c.handshaking {
		c.handshaking = false
		counted := c.listener.addresses[c.host]
		counted.handshaking--
		c.listener.addresses[c.host] = counted
	}
}

// Close implements net.Conn.
func (c *limitedConn) Close() error {
	c.endHandshake()
	c.listener.remove(c)
	return c.Conn.Close()
}

func (l *limitedListener) remove(c *limitedConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.closed {
		return
	}
	c.closed = true
	l.all--
	counted := l.addresses[c.host]
	if counted.open--; counted.open == 0 {
		delete(l.addresses, c.host)
		return
	}
	l.addresses[c.host] = counted
}

// limitedCredentials tells a limitedConn when its handshake has ended.
type limitedCredentials struct {
	credentials.TransportCredentials
}

// ServerHandshake implements credentials.TransportCredentials.
func (c limitedCredentials) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn, info, err := c.TransportCredentials.ServerHandshake(raw)
	if limited, ok := raw.(*limitedConn); ok && err == nil {
		limited.endHandshake()
	}
	return conn, info, err
}

// Clone implements credentials.TransportCredentials.
func (c limitedCredentials) Clone() credentials.TransportCredentials {
	return limitedCredentials{c.TransportCredentials.Clone()}
}

// hostOf returns the host of an address, without its port.
func hostOf(address net.Addr) string {
	if address == nil {
		return ""
	}
	host, _, err := net.SplitHostPort(address.String())
	if err != nil {
		return address.String()
	}
	return host
}
