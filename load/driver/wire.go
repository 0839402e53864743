package driver

import "time"

// wire is a TCP connection that requests are written to by ask. What waits on it
// is a goroutine (socket) or one of a loop's connections (loopSocket).
type wire interface {
	transport
	discarder
	// ask writes a request at an instant and waits until there is something to read,
	// or the limit. A read made right after the write would nearly always come too
	// early, and be made again. ask returns how much it wrote, and when it had, from
	// the epoch. What the wait ended with it doesn't say: the next read meets it as
	// well.
	ask(p []byte, at, epoch, limit time.Time) (n int, written time.Duration, err error)
	// setLimit sets when reads and writes are to fail.
	setLimit(limit time.Time)
	// hold has writes only kept, until take returns them.
	hold()
	take() []byte
	// hasEnded is whether the other side has ended the connection.
	hasEnded() bool
}

// patience is for how long a response is waited for before it is looked whether
// there is anything to read that the wait hasn't been told of.
const patience = 500 * time.Millisecond

// held are writes that are only kept.
type held struct {
	holding bool
	text    []byte
}

func (h *held) hold() { h.text, h.holding = h.text[:0], true }

func (h *held) take() []byte {
	h.holding = false
	return h.text
}
