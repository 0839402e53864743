package driver

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"syscall"
	"time"
)

// socket is a TCP connection for goroutines, which wait with Go's poller as for any file.
type socket struct {
	file *os.File
	raw  syscall.RawConn
	// readNow and writeNow are tryRead and tryWrite as function values. in and out are their
	// current transfers, one in each direction.
	readNow, writeNow func(fd uintptr) bool
	in, out           transfer
	waitState
	writeBuffer
}

// transfer is a read or write in progress.
type transfer struct {
	buffer []byte
	n      int
	err    error
	flags  int // of recv
}

// dialTCP returns a dialer for an endpoint.
func dialTCP(e *endpoint) dialer {
	return func(ctx context.Context, deadline time.Time) (transport, error) {
		fd, err := e.open()
		if err != nil {
			return nil, err
		}
		return newSocket(ctx, fd, deadline)
	}
}

// newSocket waits until a socket is connected, at most until the deadline or the end of ctx.
func newSocket(ctx context.Context, fd int, deadline time.Time) (*socket, error) {
	s := &socket{file: os.NewFile(uintptr(fd), "")}
	s.readNow, s.writeNow, s.writeAndWaitNow = s.tryRead, s.tryWrite, s.tryWriteAndWait
	var err error
	if s.raw, err = s.file.SyscallConn(); err == nil {
		// Over loopback and within a node the socket is connected already.
		var done bool
		if done, err = connected(fd); !done {
			err = s.await(ctx, deadline)
		}
	}
	if err != nil {
		_ = s.file.Close() // the socket isn't connected
		return nil, err
	}
	return s, nil
}

// await waits until the socket is connected.
func (s *socket) await(ctx context.Context, deadline time.Time) error {
	stop := context.AfterFunc(ctx, func() { _ = s.file.Close() })
	defer stop()
	if err := s.file.SetDeadline(deadline); err != nil {
		return err
	}
	s.pollAt = deadline
	var refused error
	err := s.raw.Write(func(fd uintptr) (done bool) {
		done, refused = connected(int(fd))
		return done
	})
	if err != nil {
		return err
	}
	return refused
}

func (s *socket) tryRead(fd uintptr) bool {
	s.in.n, s.in.err = receive(int(fd), s.in.buffer, s.in.flags)
	if errors.Is(s.in.err, syscall.EAGAIN) {
		s.in.err = nil
		s.bound()
		return false
	}
	return true
}

func (s *socket) tryWrite(fd uintptr) bool {
	n, err := send(int(fd), s.out.buffer[s.out.n:])
	s.out.n += n
	if errors.Is(err, syscall.EAGAIN) {
		return false
	}
	s.out.err = err
	return true
}

// Read implements net.Conn.
func (s *socket) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	return s.receive(p, 0)
}

// discard implements discarder. The kernel discards the bytes without copying them
// (tcp(7), MSG_TRUNC).
func (s *socket) discard(p []byte) (int, error) { return s.receive(p, syscall.MSG_TRUNC) }

func (s *socket) receive(p []byte, flags int) (int, error) {
	s.in = transfer{buffer: p, flags: flags}
	err := s.raw.Read(s.readNow)
	for err != nil && s.extendWait(err) {
		err = s.raw.Read(s.readNow)
	}
	runtime.KeepAlive(p)
	switch {
	case err != nil:
		return 0, err
	case s.in.err == nil && s.in.n == 0:
		return 0, io.EOF
	}
	return s.in.n, s.in.err
}

// Write implements net.Conn.
func (s *socket) Write(p []byte) (int, error) {
	switch {
	case s.buffering:
		s.buffered = append(s.buffered, p...)
		return len(p), nil
	case len(p) == 0:
		return 0, nil
	}
	if !s.limit.IsZero() {
		// This fails only on a closed connection, and then the write fails too.
		_ = s.file.SetWriteDeadline(s.limit)
	}
	s.out = transfer{buffer: p}
	err := s.raw.Write(s.writeNow)
	runtime.KeepAlive(p)
	if err == nil {
		err = s.out.err
	}
	return s.out.n, err
}

// Close implements net.Conn. It may be called during reads and writes.
func (s *socket) Close() error { return s.file.Close() }

// SetLinger implements transport.
func (s *socket) SetLinger(seconds int) error {
	var failed error
	if err := s.raw.Control(func(fd uintptr) { failed = setLinger(int(fd), seconds) }); err != nil {
		return err
	}
	return failed
}

func (s *socket) hasEnded() bool {
	ended := false
	err := s.raw.Control(func(fd uintptr) { ended = hasEnded(int(fd)) })
	return ended || err != nil
}

func (s *socket) setLimit(limit time.Time) { s.limit = limit }

// SetDeadline implements net.Conn. It clears the limit. It must not be called during
// reads and writes.
func (s *socket) SetDeadline(t time.Time) error {
	s.limit, s.pollAt = time.Time{}, time.Time{}
	return s.file.SetDeadline(t)
}

// SetReadDeadline and SetWriteDeadline implement net.Conn.
func (s *socket) SetReadDeadline(t time.Time) error  { return s.file.SetReadDeadline(t) }
func (s *socket) SetWriteDeadline(t time.Time) error { return s.file.SetWriteDeadline(t) }

// LocalAddr and RemoteAddr satisfy net.Conn. crypto/tls doesn't call them.
func (s *socket) LocalAddr() net.Addr  { return nil }
func (s *socket) RemoteAddr() net.Addr { return nil }
