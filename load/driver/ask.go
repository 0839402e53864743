package driver

import (
	"errors"
	"os"
	"runtime"
	"syscall"
	"time"
)

// asking is what a socket keeps for ask. It is for one goroutine, unlike the
// rest of a socket; who asks sets no other deadlines.
type asking struct {
	// askNow is tryAsk; asked is whether it has been called for this request,
	// written when that was written, from the epoch.
	askNow  func(fd uintptr) bool
	asked   bool
	epoch   time.Time
	written time.Duration
	// limit is when reads and writes are to fail; look, when the poller ends a wait,
	// which may be earlier.
	limit, look time.Time
}

// ask is as wire's.
//
// The poller tells of what comes after the wait was prepared, and that is before
// the write. A server that ended the connection earlier than that, and yet goes
// on reading, would go unnoticed; so it is looked when patience ends, and then
// waited until the limit.
func (s *socket) ask(p []byte, at, epoch, limit time.Time) (n int, written time.Duration, err error) {
	s.limit = limit
	if earliest, latest := at.Add(patience), at.Add(2*patience); s.look.Before(earliest) || s.look.After(latest) {
		s.look = latest
		if limit.Before(latest) {
			s.look = limit
		}
		if err := s.file.SetReadDeadline(s.look); err != nil {
			return 0, 0, err
		}
	}
	s.asked, s.epoch = false, epoch
	s.out = transfer{buffer: p}
	err = s.raw.Read(s.askNow)
	runtime.KeepAlive(p)
	switch n = s.out.n; {
	case !s.asked && !errors.Is(err, os.ErrDeadlineExceeded):
		return 0, 0, err // it was closed
	case s.out.err != nil:
		return n, 0, s.out.err
	case n < len(p):
		// There was no room for all of it, or the process stood still.
		var more int
		more, err = s.Write(p[n:])
		return n + more, time.Since(epoch), err
	case err != nil:
		var next [1]byte
		_, _ = s.receive(next[:], syscall.MSG_PEEK)
	}
	return n, s.written, nil
}

func (s *socket) tryAsk(fd uintptr) (done bool) {
	if s.asked {
		return true
	}
	s.asked = true
	if !s.tryWrite(fd) || s.out.err != nil {
		return true
	}
	s.written = time.Since(s.epoch)
	return false
}

// bound has a wait that begins now end by the limit.
func (s *socket) bound() {
	if !s.limit.IsZero() && (s.look.IsZero() || s.look.After(s.limit)) {
		s.look = s.limit
		// It fails only on a closed connection, as the wait will.
		_ = s.file.SetReadDeadline(s.limit)
	}
}

// extend is whether a wait that ended with an error goes on, since the limit
// hasn't come.
func (s *socket) extend(err error) bool {
	if !s.look.Before(s.limit) || !errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	s.look = s.limit
	return s.file.SetReadDeadline(s.limit) == nil
}
