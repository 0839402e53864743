package limit

import (
	"encoding/binary"
	"errors"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/assay-dev/assay/internal/session"
)

const (
	// smallLimit limits the bytes that a connection sends without a message's end: gRPC's window of a stream,
	// and headers. Before the pod is identified, nothing larger is accepted.
	smallLimit = 128 << 10
	// helloLimit is the same after that, until the Hello is accepted. It repeats what setup() returned.
	helloLimit = session.MaxSetupBytes + smallLimit
	// messageLimit is the same for the other messages.
	messageLimit = session.MaxMessageBytes + 4*smallLimit
	// frameBytes is the number of bytes that an HTTP/2 frame counts in addition to its own. gRPC keeps the payload of
	// each until the message is complete, which takes a hundred bytes more, also for a payload of one.
	frameBytes = 128
	// maxLarge bounds the messages above smallLimit that are partly received, maxRunLarge those of
	// one run. Further ones wait in the kernel's and the pod's buffers.
	maxLarge    = 8
	maxRunLarge = 2
	// largeTimeout bounds the time from a large message's slot to its end.
	largeTimeout = 30 * time.Second
)

const (
	prefaceBytes     = len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") // RFC 9113, section 3.4
	frameHeaderBytes = 9                                       // RFC 9113, section 4.1
)

var errTooMuch = errors.New("the peer sent more than a message may have")

// ReceiveLimiter bounds the memory for messages that are partly received. gRPC bounds each alone, but there
// are as many as streams.
type ReceiveLimiter struct {
	mu      sync.Mutex
	large   []*receivingConn
	waiting []*receivingConn
}

// NewReceiveLimiter returns a limiter without connections.
func NewReceiveLimiter() *ReceiveLimiter { return &ReceiveLimiter{} }

// Held returns the number of large messages that are partly received, the number of bytes of the smallest of them, and how
// many connections wait.
func (l *ReceiveLimiter) Held() (large, smallest, waiting int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, c := range l.large {
		if i == 0 || c.pending < smallest {
			smallest = c.pending
		}
	}
	return len(l.large), smallest, len(l.waiting)
}

// receivingConn counts what arrives on a connection, between TLS and gRPC. As a connection has one
// stream, this is the next message of its session. The fields from run on are guarded by the
// limiter's mutex.
type receivingConn struct {
	net.Conn
	limiter *ReceiveLimiter
	frames  frameCounter // used by the reader alone

	run     string
	limit   int
	pending int
	// slot is closed when a large message needs not wait any more. It is nil if none waits.
	slot   chan struct{}
	bound  *time.Timer // of a large message, nil without one
	closed bool
}

func (l *ReceiveLimiter) newConn(conn net.Conn) *receivingConn {
	return &receivingConn{Conn: conn, limiter: l, frames: frameCounter{skip: prefaceBytes}, limit: smallLimit}
}

// Read implements net.Conn.
func (c *receivingConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if wait, tooMuch := c.add(n + frameBytes*c.frames.count(p[:n])); tooMuch {
		return 0, errTooMuch
	} else if wait != nil {
		<-wait
	}
	return n, err
}

// add counts what has arrived. It returns what to wait for, and whether it is too much.
func (c *receivingConn) add(n int) (wait <-chan struct{}, tooMuch bool) {
	c.limiter.mu.Lock()
	defer c.limiter.mu.Unlock()
	c.pending += n
	if c.pending > c.limit {
		return nil, true
	}
	if c.pending <= smallLimit || c.bound != nil || c.closed {
		return nil, false
	}
	c.slot = make(chan struct{})
	wait = c.slot
	c.limiter.waiting = append(c.limiter.waiting, c)
	c.limiter.next()
	return wait, false
}

// next gives slots to those that wait: first to those of the run with the fewest large messages.
func (l *ReceiveLimiter) next() {
	for len(l.large) < maxLarge {
		var first *receivingConn
		fewest := maxRunLarge
		for _, c := range l.waiting {
			if n := l.largeOf(c.run); n < fewest {
				first, fewest = c, n
			}
		}
		if first == nil {
			return
		}
		l.large = append(l.large, first)
		first.bound = time.AfterFunc(largeTimeout, func() { _ = first.Close() })
		first.stopWaiting()
	}
}

// largeOf returns the number of a run's large messages.
func (l *ReceiveLimiter) largeOf(run string) (n int) {
	for _, c := range l.large {
		if c.run == run {
			n++
		}
	}
	return n
}

// stopWaiting removes the connection from those that wait.
func (c *receivingConn) stopWaiting() {
	if c.slot == nil {
		return
	}
	close(c.slot)
	c.slot = nil
	c.limiter.waiting = without(c.limiter.waiting, c)
}

func without(conns []*receivingConn, c *receivingConn) []*receivingConn {
	return slices.DeleteFunc(conns, func(other *receivingConn) bool { return other == c })
}

// reset counts from zero again, and ends what is large or waits.
func (c *receivingConn) reset() {
	c.pending = 0
	c.stopWaiting()
	if c.bound == nil {
		return
	}
	c.bound.Stop()
	c.bound = nil
	c.limiter.large = without(c.limiter.large, c)
	c.limiter.next()
}

// received says that a message was received as a whole and handled. limit is that of the next one.
func (c *receivingConn) received(limit int) {
	if c == nil {
		return // no network connection, as in tests
	}
	c.limiter.mu.Lock()
	defer c.limiter.mu.Unlock()
	c.reset()
	c.limit = limit
}

// assign makes what arrives on the connection count for a run.
func (c *receivingConn) assign(run string, limit int) {
	if c == nil {
		return
	}
	c.limiter.mu.Lock()
	defer c.limiter.mu.Unlock()
	c.reset()
	c.run, c.limit = run, limit
}

// Close implements net.Conn.
func (c *receivingConn) Close() error {
	c.limiter.mu.Lock()
	c.closed = true
	c.reset()
	c.limiter.mu.Unlock()
	return c.Conn.Close()
}

// frameCounter counts the HTTP/2 frames that begin in a stream of bytes.
type frameCounter struct {
	skip   int // bytes before the next frame
	header [frameHeaderBytes]byte
	have   int // bytes of header
}

func (f *frameCounter) count(p []byte) (frames int) {
	for len(p) > 0 {
		if f.skip > 0 {
			n := min(f.skip, len(p))
			f.skip -= n
			p = p[n:]
			continue
		}
		n := copy(f.header[f.have:], p)
		f.have += n
		p = p[n:]
		if f.have == len(f.header) {
			frames++
			f.have = 0
			f.skip = int(binary.BigEndian.Uint32(f.header[:]) >> 8) // 24 bits
		}
	}
	return frames
}
