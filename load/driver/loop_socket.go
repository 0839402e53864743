package driver

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"syscall"
	"time"
)

// loopSocket is a TCP connection of a task. Only the task uses it.
type loopSocket struct {
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
	limit  time.Time
	writeBuffer
}

// notReady is the error of a read or write in place of a task that would have to wait. Package crypto/tls reads on after temporary
// errors.
type notReady struct{}

var errNotReady net.Error = notReady{}

func (notReady) Error() string   { return "the socket isn't ready" }
func (notReady) Timeout() bool   { return false }
func (notReady) Temporary() bool { return true }

// dial opens the task's connection, at most until deadline.
func (t *task) dial(e *endpoint, deadline time.Time) (transport, error) {
	fd, err := e.open()
	if err != nil {
		return nil, err
	}
	t.generation++
	s := &t.socket
	*s = loopSocket{task: t, fd: fd, open: true, drained: true, limit: deadline, writeBuffer: writeBuffer{buffered: s.buffered}}
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
func (s *loopSocket) wait(what waits) error { return s.waitUntil(what, s.limit) }

func (s *loopSocket) waitUntil(what waits, limit time.Time) error {
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
	until := never
	if !limit.IsZero() {
		until = limit.Sub(s.task.loop.stage.start)
	}
	return s.task.wait(what, until)
}

// writeAndWait implements wire.
func (s *loopSocket) writeAndWait(p []byte, _, epoch, limit time.Time) (n int, written time.Duration, err error) {
	s.limit = limit
	n, err = s.Write(p)
	written = time.Since(epoch)
	if err != nil || s.readable || s.gone {
		return n, written, err
	}
	_ = s.waitUntil(forReading, limit) // the next read meets the error again
	return n, written, nil
}

// Read implements net.Conn.
func (s *loopSocket) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	return s.receive(p, 0)
}

// discard implements discarder, as socket.discard does.
func (s *loopSocket) discard(p []byte) (int, error) { return s.receive(p, syscall.MSG_TRUNC) }

func (s *loopSocket) receive(p []byte, flags int) (int, error) {
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
		if s.drained && !s.readable && !s.gone {
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

// poll reads from a TLS connection on the socket without waiting. It returns errNotReady if no record has arrived.
func (s *loopSocket) poll(conn *tls.Conn, p []byte) (int, error) {
	s.polled = true
	defer func() { s.polled = false }()
	return conn.Read(p)
}

// Write implements net.Conn.
func (s *loopSocket) Write(p []byte) (int, error) {
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

// flush sends what the buffer holds. Writes are buffered further.
func (s *loopSocket) flush() error {
	p := s.stopBuffering()
	_, err := s.Write(p)
	s.buffered, s.buffering = p[:0], true
	return err
}

// Close implements net.Conn.
func (s *loopSocket) Close() error {
	if s.open {
		s.open = false
		closeSocket(s.fd)
	}
	return nil
}

// SetLinger implements transport.
func (s *loopSocket) SetLinger(seconds int) error {
	if !s.open {
		return net.ErrClosed
	}
	return setLinger(s.fd, seconds)
}

func (s *loopSocket) hasEnded() bool           { return !s.open || hasEnded(s.fd) }
func (s *loopSocket) setLimit(limit time.Time) { s.limit = limit }

// SetDeadline implements net.Conn.
func (s *loopSocket) SetDeadline(t time.Time) error {
	s.limit = t
	return nil
}

// SetReadDeadline and SetWriteDeadline do nothing. crypto/tls sets a write deadline for
// close_notify, which the limit of the last request covers.
func (s *loopSocket) SetReadDeadline(time.Time) error  { return nil }
func (s *loopSocket) SetWriteDeadline(time.Time) error { return nil }

// LocalAddr and RemoteAddr satisfy net.Conn. crypto/tls doesn't call them.
func (s *loopSocket) LocalAddr() net.Addr  { return nil }
func (s *loopSocket) RemoteAddr() net.Addr { return nil }
