package driver

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"syscall"
	"time"

	"github.com/assay-dev/assay/internal/load/driver/response"
)

// socket is the TCP connection of a task. Only the task uses it.
type socket struct {
	task *task
	fd   int
	open bool
	// registered are the events that the socket is registered for, or 0 if it isn't.
	registered uint32
	// readable reports whether bytes have arrived since the last read, as far as the loop
	// has seen. gone reports whether the server has closed its side, finished whether it did so
	// without an error.
	readable, gone, finished bool
	// drained reports whether the last read took all bytes that had arrived, and ended whether the
	// server had finished before that read, so that the next one would find the end.
	drained, ended bool
	// polled reports whether the loop reads in place of the task. Then neither reads wait nor writes, which TLS 1.3
	// makes for a key update.
	polled bool
	// failed is an error that the loop has met when it read in place of the task, which has to meet it.
	failed error
	// limit is the time at which reads and writes fail, from the stage's start, or 0 for none.
	limit time.Duration
	// buffering reports whether writes append to buffered, so that what several of them write is sent together.
	buffering bool
	buffered  []byte
}

var _ response.Discarder = (*socket)(nil)

// notReady is the error of a read or write in place of a task that would have to wait. Package crypto/tls reads on after temporary
// errors.
type notReady struct{}

var errNotReady net.Error = notReady{}

func (notReady) Error() string   { return "the socket isn't ready" }
func (notReady) Timeout() bool   { return false }
func (notReady) Temporary() bool { return true }

// dial opens the task's connection, at most until deadline, from the stage's start.
func (t *task) dial(e *endpoint, deadline time.Duration) (socketTransport, error) {
	fd, err := e.open()
	if err != nil {
		return nil, err
	}
	t.generation++
	s := &t.socket
	*s = socket{task: t, fd: fd, open: true, drained: true, limit: deadline, buffered: s.buffered}
	for {
		// Over loopback and within a node the socket is connected already.
		var done bool
		if done, err = connected(fd); done {
			break
		}
		if err = s.wait(forWriting); err != nil {
			break
		}
	}
	if err != nil {
		_ = s.Close() // the socket isn't connected
		return nil, err
	}
	return s, nil
}

// wait waits until the socket is readable or writable, or until the limit.
func (s *socket) wait(what waits) error {
	events := s.registered | syscall.EPOLLIN | syscall.EPOLLRDHUP
	if what == forWriting {
		events |= syscall.EPOLLOUT
	}
	if events != s.registered {
		operation := syscall.EPOLL_CTL_MOD
		if s.registered == 0 {
			operation = syscall.EPOLL_CTL_ADD
		}
		if err := s.task.loop.register(operation, s.fd, events, s.task.index, s.task.generation); err != nil {
			return err
		}
		s.registered = events
	}
	until := s.limit
	if until == 0 {
		until = never
	}
	return s.task.wait(what, until)
}

// writeAndWait writes a request and waits until there is something to read, or until the limit. A read right after the write
// would nearly always be too early and have to be repeated. It returns the number of bytes written and the time at which they were.
func (s *socket) writeAndWait(p []byte) (n int, written time.Duration, err error) {
	n, err = s.Write(p)
	written = s.task.loop.stage.now()
	if err == nil && !s.readable && !s.gone {
		_ = s.wait(forReading) // the next read meets the error again
	}
	return n, written, err
}

// Read implements net.Conn.
func (s *socket) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	return s.receive(p, 0)
}

// Discard implements response.Discarder. The kernel discards the bytes without copying them
// (tcp(7), MSG_TRUNC).
func (s *socket) Discard(p []byte) (int, error) { return s.receive(p, syscall.MSG_TRUNC) }

func (s *socket) receive(p []byte, flags int) (int, error) {
	if s.buffering {
		if err := s.flush(); err != nil {
			return 0, err
		}
	}
	for s.open {
		if err := s.failed; err != nil {
			s.failed = nil
			return 0, err
		}
		if s.ended {
			return 0, io.EOF
		}
		if !s.mayRead() {
			if s.polled {
				return 0, errNotReady
			}
			if err := s.wait(forReading); err != nil {
				return 0, err
			}
		}
		s.readable = false
		n, err := receive(s.fd, p, flags)
		s.drained = n < len(p)
		s.ended = s.drained && s.finished && n > 0
		switch {
		case errors.Is(err, syscall.EAGAIN):
			s.gone = false // the end of the connection would have been returned instead
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
	return 0, net.ErrClosed
}

func (s *socket) poll(conn *tls.Conn, p []byte) (int, error) {
	s.polled = true
	defer func() { s.polled = false }()
	return conn.Read(p)
}

// Write implements net.Conn.
func (s *socket) Write(p []byte) (int, error) {
	if s.buffering {
		s.buffered = append(s.buffered, p...)
		return len(p), nil
	}
	sent := 0
	for s.open {
		n, err := send(s.fd, p[sent:])
		sent += n
		if !errors.Is(err, syscall.EAGAIN) {
			return sent, err
		}
		if s.polled {
			return sent, errNotReady
		}
		if err := s.wait(forWriting); err != nil {
			return sent, err
		}
	}
	return sent, net.ErrClosed
}

// startBuffering makes writes append to a buffer until stopBuffering returns it. It keeps what is buffered already.
func (s *socket) startBuffering() {
	if !s.buffering {
		s.buffered, s.buffering = s.buffered[:0], true
	}
}

func (s *socket) stopBuffering() []byte {
	s.buffering = false
	return s.buffered
}

// flush sends what the buffer holds. Writes are buffered further.
func (s *socket) flush() error {
	p := s.stopBuffering()
	_, err := s.Write(p)
	s.buffered, s.buffering = p[:0], true
	return err
}

// Close implements net.Conn.
func (s *socket) Close() error {
	if s.open {
		s.open = false
		closeSocket(s.fd)
	}
	return nil
}

// SetLinger implements transport.
func (s *socket) SetLinger(seconds int) error {
	if !s.open {
		return net.ErrClosed
	}
	return setLinger(s.fd, seconds)
}

// mayRead reports whether a read might return something, as far as the loop has seen.
func (s *socket) mayRead() bool { return !s.drained || s.readable || s.gone }

func (s *socket) idle() idleState {
	if !s.open {
		return ended
	}
	if !s.mayRead() {
		return usable
	}
	state := peek(s.fd)
	if state == usable {
		s.drained, s.readable, s.gone = true, false, false
	}
	return state
}

// SetDeadline implements net.Conn. The connection sets the limit itself, which costs less.
func (s *socket) SetDeadline(t time.Time) error {
	s.limit = 0
	if !t.IsZero() {
		s.limit = t.Sub(s.task.loop.stage.start)
	}
	return nil
}

// SetReadDeadline and SetWriteDeadline do nothing. crypto/tls sets a write deadline for
// close_notify, which the limit of the last request covers.
func (s *socket) SetReadDeadline(time.Time) error  { return nil }
func (s *socket) SetWriteDeadline(time.Time) error { return nil }

// LocalAddr and RemoteAddr satisfy net.Conn. crypto/tls doesn't call them.
func (s *socket) LocalAddr() net.Addr  { return nil }
func (s *socket) RemoteAddr() net.Addr { return nil }
