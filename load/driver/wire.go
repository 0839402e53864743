package driver

import "time"

// wire is a TCP connection that supports writeAndWait: a socket of a goroutine, or a
// loopSocket of a task.
type wire interface {
	transport
	discarder
	// writeAndWait writes a request and waits until there is something to read, or until the
	// limit. A read right after the write would nearly always be too early and have to be
	// repeated. at is the current time. writeAndWait returns the number of bytes written and
	// the time at which they were, as a duration since epoch. It doesn't return the error
	// that ended the wait, because the next read meets it again.
	writeAndWait(p []byte, at, epoch, limit time.Time) (n int, written time.Duration, err error)
	// setLimit sets the time at which reads and writes fail.
	setLimit(limit time.Time)
	// startBuffering makes writes append to a buffer until stopBuffering returns it. It keeps what is buffered already.
	startBuffering()
	stopBuffering() []byte
	// hasEnded reports whether the server has closed or reset the connection.
	hasEnded() bool
}

// pollInterval is the time after which a wait for a response checks the socket for bytes
// that the poller hasn't reported.
const pollInterval = 500 * time.Millisecond

// writeBuffer collects writes.
type writeBuffer struct {
	buffering bool
	buffered  []byte
}

func (h *writeBuffer) startBuffering() {
	if !h.buffering {
		h.buffered, h.buffering = h.buffered[:0], true
	}
}

func (h *writeBuffer) stopBuffering() []byte {
	h.buffering = false
	return h.buffered
}
