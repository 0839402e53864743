package driver

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"
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
		s := &goSocket{TCPConn: conn.(*net.TCPConn)}
		s.readNow, s.writeNow = s.tryRead, s.tryWrite
		if s.raw, err = s.SyscallConn(); err != nil {
			return nil, errors.Join(err, s.Close())
		}
		return s, nil
	}
}

// goSocket is a TCP connection of a goroutine, which waits with Go's poller. It may be closed during reads and writes, of which
// there must be at most one each at a time. Its system calls are those of a socket: package net notifies the scheduler of each, which
// costs a quarter more CPU time with HTTP/2.
type goSocket struct {
	*net.TCPConn
	raw syscall.RawConn
	// readNow and writeNow are tryRead and tryWrite as function values. in and out are their current transfers.
	readNow, writeNow func(fd uintptr) bool
	in, out           transfer
}

// transfer is a read or write in progress.
type transfer struct {
	buffer []byte
	n      int
	err    error
}

func (s *goSocket) tryRead(fd uintptr) bool {
	s.in.n, s.in.err = receive(int(fd), s.in.buffer, 0)
	return !errors.Is(s.in.err, syscall.EAGAIN)
}

func (s *goSocket) tryWrite(fd uintptr) bool {
	n, err := send(int(fd), s.out.buffer[s.out.n:])
	s.out.n, s.out.err = s.out.n+n, err
	return !errors.Is(err, syscall.EAGAIN)
}

// Read implements net.Conn.
func (s *goSocket) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	s.in = transfer{buffer: p}
	err := s.raw.Read(s.readNow)
	switch {
	case err != nil:
		return 0, err
	case s.in.err == nil && s.in.n == 0:
		return 0, io.EOF
	}
	return s.in.n, s.in.err
}

// Write implements net.Conn.
func (s *goSocket) Write(p []byte) (int, error) {
	s.out = transfer{buffer: p}
	if err := s.raw.Write(s.writeNow); err != nil {
		return s.out.n, err
	}
	return s.out.n, s.out.err
}

func (s *goSocket) hasEnded() (ended bool) {
	err := s.raw.Control(func(fd uintptr) { ended = hasEnded(int(fd)) })
	return ended || err != nil
}
