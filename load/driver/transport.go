package driver

import (
	"context"
	"net"
	"time"
)

// transport is a connection that requests are written to and responses read from: the socket of a task, a goSocket, or a
// tlsTransport on one of them.
type transport interface {
	net.Conn
	// SetLinger is like the method of net.TCPConn.
	SetLinger(seconds int) error
	// hasEnded reports whether the server has closed or reset the connection, which must be idle.
	hasEnded() bool
}

// dialer opens a transport for a goroutine, at most until deadline.
type dialer func(ctx context.Context, deadline time.Time) (transport, error)

// dialTCP returns a dialer for an address.
func dialTCP(address string) dialer {
	return func(ctx context.Context, deadline time.Time) (transport, error) {
		conn, err := (&net.Dialer{Deadline: deadline, KeepAlive: -1}).DialContext(ctx, "tcp", address)
		if err != nil {
			return nil, err
		}
		return goSocket{conn.(*net.TCPConn)}, nil
	}
}

// goSocket is a TCP connection of a goroutine, which waits with Go's poller. It may be closed during reads and writes.
type goSocket struct{ *net.TCPConn }

func (s goSocket) hasEnded() (ended bool) {
	raw, err := s.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) { ended = hasEnded(int(fd)) })
	}
	return ended || err != nil
}
