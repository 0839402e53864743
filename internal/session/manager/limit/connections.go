package limit

import (
	"net"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/assay-dev/assay/internal/door"
)

const (
	// MaxConnections is the default of what NewListener is called with. Where the pods of a node share an
	// address, it is twice as many as a node has pods.
	MaxConnections = 512
	// maxWaiting bounds the connections of an address without the session of a pod that is identified:
	// those in a TLS handshake, those without a call, those whose token is reviewed.
	maxWaiting = 64
	// maxAllWaiting bounds those of all addresses, but an address may always have fewWaiting.
	maxAllWaiting = 1024
	fewWaiting    = 4
	// maxAllConnections bounds the connections of all addresses.
	maxAllConnections = 16_384
	// refill is the time in seconds within which an address may open as many connections again as it may have: each costs a TLS handshake.
	refill = 16
)

type limitedListener struct {
	net.Listener
	most    int // connections of an address
	callers *door.Callers

	mu         sync.Mutex
	all        int
	allWaiting int
	addresses  map[string]connections
}

// connections are the numbers of an address's connections. waiting are among open.
type connections struct{ open, waiting int }

// NewListener returns a listener that accepts the connections that an address may have: most of them, and as many new ones within
// 16 s. It closes further ones.
func NewListener(listener net.Listener, most int) net.Listener {
	return &limitedListener{Listener: listener, most: most, callers: door.NewCallers(rate.Limit(most)/refill, 2*most), addresses: map[string]connections{}}
}

// Accept returns the next connection that is within the limits.
func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		limited := &limitedConn{Conn: conn, listener: l, host: HostOf(conn.RemoteAddr()), waiting: true}
		if l.callers.Allow(limited.host, time.Now()) && l.admit(limited.host) {
			return limited, nil
		}
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // resets it, so that the kernel keeps nothing of it
		}
		_ = conn.Close()
	}
}

// admit counts a connection that begins, unless its address has as many as it may have.
func (l *limitedListener) admit(host string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.addresses[host]
	if l.all >= maxAllConnections || c.open >= l.most || c.waiting >= maxWaiting || l.allWaiting >= maxAllWaiting && c.waiting >= fewWaiting {
		return false
	}
	l.all++
	l.allWaiting++
	l.addresses[host] = connections{open: c.open + 1, waiting: c.waiting + 1}
	return true
}

// limitedConn is a connection that limitedListener counts. The fields from waiting on are guarded by
// the listener's mutex.
type limitedConn struct {
	net.Conn
	listener *limitedListener
	host     string

	waiting bool
	closed  bool
}

// setWaiting counts the connection among those without a session, or doesn't any more.
func (c *limitedConn) setWaiting(waiting bool) {
	if c == nil {
		return // no network connection, as in tests
	}
	l := c.listener
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.waiting == waiting || c.closed {
		return
	}
	n := -1
	if waiting {
		n = 1
	}
	c.waiting = waiting
	l.allWaiting += n
	counted := l.addresses[c.host]
	counted.waiting += n
	l.addresses[c.host] = counted
}

// Close implements net.Conn.
func (c *limitedConn) Close() error {
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
	if c.waiting {
		l.allWaiting--
		counted.waiting--
	}
	if counted.open--; counted.open == 0 {
		delete(l.addresses, c.host)
		return
	}
	l.addresses[c.host] = counted
}

// HostOf returns the host of an address, without its port.
func HostOf(address net.Addr) string {
	if address == nil {
		return ""
	}
	return door.HostOf(address.String())
}
