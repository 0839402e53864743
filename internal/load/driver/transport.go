package driver

import (
	"context"
	"crypto/tls"
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
	// idle returns the state of the connection, which must have no request in flight. It doesn't wait.
	idle() idleState
}

// socketTransport is a transport without TLS.
type socketTransport interface {
	transport
	// poll reads from a TLS connection on the transport without waiting. It returns errNotReady if no record has arrived.
	poll(conn *tls.Conn, p []byte) (int, error)
}

// dialer opens a transport for a goroutine, at most until deadline.
type dialer func(ctx context.Context, deadline time.Time) (socketTransport, error)

// dialTCP returns a dialer for an address.
func dialTCP(address string) dialer {
	return func(ctx context.Context, deadline time.Time) (socketTransport, error) {
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
	// polled reports whether reads and writes don't wait.
	polled bool
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
	var err error
	if s.polled {
		err = s.once(s.readNow)
	} else {
		err = s.raw.Read(s.readNow)
	}
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
	var err error
	if s.polled {
		err = s.once(s.writeNow)
	} else {
		err = s.raw.Write(s.writeNow)
	}
	if err != nil {
		return s.out.n, err
	}
	return s.out.n, s.out.err
}

// once calls a function of a transfer once. It returns errNotReady if the function would have to wait.
func (s *goSocket) once(transfer func(fd uintptr) bool) error {
	done := false
	if err := s.raw.Control(func(fd uintptr) { done = transfer(fd) }); err != nil {
		return err
	}
	if !done {
		return errNotReady
	}
	return nil
}

func (s *goSocket) idle() idleState {
	state := ended
	if s.raw.Control(func(fd uintptr) { state = peek(int(fd)) }) != nil {
		return ended
	}
	return state
}

func (s *goSocket) poll(conn *tls.Conn, p []byte) (int, error) {
	s.polled = true
	defer func() { s.polled = false }()
	return conn.Read(p)
}
