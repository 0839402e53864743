package driver

import (
	"errors"
	"os"
	"runtime"
	"syscall"
	"time"
)

// waitState holds a socket's state for writeAndWait. Unlike the rest of a socket it may
// be used by one goroutine only, which must not set other deadlines.
type waitState struct {
	// writeAndWaitNow is tryWriteAndWait as a function value. attempted reports whether the current
	// request has been written to the socket, and written when that was, as a duration since epoch.
	writeAndWaitNow func(fd uintptr) bool
	attempted       bool
	epoch           time.Time
	written         time.Duration
	// limit is the time at which reads and writes fail. pollAt is the read deadline that is
	// set in Go's poller, which may be earlier.
	limit, pollAt time.Time
}

// writeAndWait implements wire.
//
// Go's poller reports only what happens after the wait was prepared, which is before the write. A
// close that arrived earlier, from a server that keeps reading, would go unnoticed. Therefore the
// wait ends after pollInterval to check the socket, and then continues until the limit.
func (s *socket) writeAndWait(p []byte, at, epoch, limit time.Time) (n int, written time.Duration, err error) {
	s.limit = limit
	if earliest, latest := at.Add(pollInterval), at.Add(2*pollInterval); s.pollAt.Before(earliest) || s.pollAt.After(latest) {
		s.pollAt = latest
		if limit.Before(latest) {
			s.pollAt = limit
		}
		if err := s.file.SetReadDeadline(s.pollAt); err != nil {
			return 0, 0, err
		}
	}
	s.attempted, s.epoch = false, epoch
	s.out = transfer{buffer: p}
	err = s.raw.Read(s.writeAndWaitNow)
	runtime.KeepAlive(p)
	switch n = s.out.n; {
	case !s.attempted && !errors.Is(err, os.ErrDeadlineExceeded):
		return 0, 0, err // the socket was closed
	case s.out.err != nil:
		return n, 0, s.out.err
	case n < len(p):
		// The send buffer was full, or the process was paused.
		var more int
		more, err = s.Write(p[n:])
		return n + more, time.Since(epoch), err
	case err != nil:
		var next [1]byte
		_, _ = s.receive(next[:], syscall.MSG_PEEK)
	}
	return n, s.written, nil
}

func (s *socket) tryWriteAndWait(fd uintptr) (done bool) {
	if s.attempted {
		return true
	}
	s.attempted = true
	if !s.tryWrite(fd) || s.out.err != nil {
		return true
	}
	s.written = time.Since(s.epoch)
	return false
}

// bound limits a wait that begins now.
func (s *socket) bound() {
	if !s.limit.IsZero() && (s.pollAt.IsZero() || s.pollAt.After(s.limit)) {
		s.pollAt = s.limit
		// This fails only on a closed connection, and then the wait fails too.
		_ = s.file.SetReadDeadline(s.limit)
	}
}

// extendWait reports whether a wait that failed with err continues, because it ended
// before the limit.
func (s *socket) extendWait(err error) bool {
	if !s.pollAt.Before(s.limit) || !errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	s.pollAt = s.limit
	return s.file.SetReadDeadline(s.limit) == nil
}
