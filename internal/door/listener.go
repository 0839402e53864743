// Package door serves HTTP on ports that every pod of the cluster may reach: with bounds of the connections, of what a
// request may be, and of the time that it may take.
package door

import (
	"net"
	"sync"
)

// Bounds limit the connections of a port, and those of one IP address among them.
type Bounds struct{ All, Address int }

var (
	// Machines are the bounds of a port that the kubelet and scrapers use.
	Machines = Bounds{All: 256, Address: 32}
	// Browsers are those of a port that browsers use: all of them may come through one proxy.
	Browsers = Bounds{All: 1024, Address: 1024}
)

// listener closes the oldest connection of an address that has too many, or of the address that has most of all. So
// whoever keeps connections loses them, and whoever comes with a request, such as the kubelet, is answered: a proper
// request takes some milliseconds.
type listener struct {
	net.Listener
	bounds Bounds

	mu       sync.Mutex
	all      int
	accepted uint64
	open     map[string][]*conn // by IP address, the oldest first; never empty
}

// Listen returns a listener with bounds on its connections.
func Listen(l net.Listener, bounds Bounds) net.Listener {
	return &listener{Listener: l, bounds: bounds, open: map[string][]*conn{}}
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: accepted, listener: l, host: HostOf(accepted.RemoteAddr().String())}
	if oldest := l.add(c); oldest != nil {
		if tcp, ok := oldest.Conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // resets it, so that the kernel keeps nothing of it
		}
		_ = oldest.Close()
	}
	return c, nil
}

// add counts a connection. It returns the one that must be closed for it, or nil.
func (l *listener) add(c *conn) *conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all++
	l.accepted++
	c.number = l.accepted
	l.open[c.host] = append(l.open[c.host], c)
	if own := l.open[c.host]; len(own) > l.bounds.Address {
		return own[0]
	}
	if l.all <= l.bounds.All {
		return nil
	}
	var most []*conn
	for _, open := range l.open {
		if len(open) > len(most) || len(open) == len(most) && open[0].number < most[0].number {
			most = open
		}
	}
	return most[0]
}

func (l *listener) remove(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := l.open[c.host]
	for i := range own {
		if own[i] != c {
			continue
		}
		l.all--
		if own = append(own[:i:i], own[i+1:]...); len(own) == 0 {
			delete(l.open, c.host)
		} else {
			l.open[c.host] = own
		}
		return
	}
}

// conn is a connection that its listener counts until it is closed.
type conn struct {
	net.Conn
	listener *listener
	host     string
	// number counts the connections that the listener accepted.
	number uint64
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.listener.remove(c)
	return c.Conn.Close()
}

// HostOf returns the IP address of a host and port.
func HostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}
