package manager

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"

	"github.com/assay-dev/assay/internal/session"
)

const (
	// smallIntake limits the bytes that a connection sends without a message's end: gRPC's window of a stream,
	// and headers. Before the pod is identified, nothing larger is accepted.
	smallIntake = 128 << 10
	// helloIntake is the same after that, until the Hello is accepted. It repeats what setup() returned.
	helloIntake = session.MaxSetupBytes + smallIntake
	// messageIntake is the same for the other messages.
	messageIntake = session.MaxMessageBytes + 4*smallIntake
	// frameIntake is the number of bytes that an HTTP/2 frame counts in addition to its own. gRPC keeps the payload of
	// each until the message is complete, which takes a hundred bytes more, also for a payload of one.
	frameIntake = 128
	// maxLarge bounds the messages above smallIntake that are partly received, maxRunLarge those of
	// one run. Further ones wait in the kernel's and the pod's buffers.
	maxLarge    = 8
	maxRunLarge = 2
	// largeTimeout bounds the time from a large message's turn to its end.
	largeTimeout = 30 * time.Second
)

const (
	prefaceBytes     = len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") // RFC 9113, section 3.4
	frameHeaderBytes = 9                                       // RFC 9113, section 4.1
)

var errIntake = errors.New("the peer sent more than a message may have")

// intake bounds the memory for messages that are partly received. gRPC bounds each alone, but there
// are as many as streams.
type intake struct {
	mu      sync.Mutex
	large   []*sessionConn
	waiting []*sessionConn
}

func newIntake() *intake { return &intake{} }

// sessionConn counts what arrives on a connection, between TLS and gRPC. As a connection has one
// stream, this is the next message of its session. The fields from run on are guarded by the
// intake's mutex.
type sessionConn struct {
	net.Conn
	intake *intake
	frames frameCounter // used by the reader alone

	run     string
	limit   int
	pending int
	// turn is closed when a large message needs not wait any more. It is nil if none waits.
	turn   chan struct{}
	bound  *time.Timer // of a large message, nil without one
	closed bool
}

func (in *intake) newConn(conn net.Conn) *sessionConn {
	return &sessionConn{Conn: conn, intake: in, frames: frameCounter{skip: prefaceBytes}, limit: smallIntake}
}

// Read implements net.Conn.
func (c *sessionConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if wait, tooMuch := c.add(n + frameIntake*c.frames.count(p[:n])); tooMuch {
		return 0, errIntake
	} else if wait != nil {
		<-wait
	}
	return n, err
}

// add counts what has arrived. It returns what to wait for, and whether it is too much.
func (c *sessionConn) add(n int) (wait <-chan struct{}, tooMuch bool) {
	c.intake.mu.Lock()
	defer c.intake.mu.Unlock()
	c.pending += n
	if c.pending > c.limit {
		return nil, true
	}
	if c.pending <= smallIntake || c.bound != nil || c.closed {
		return nil, false
	}
	c.turn = make(chan struct{})
	wait = c.turn
	c.intake.waiting = append(c.intake.waiting, c)
	c.intake.next()
	return wait, false
}

// next gives turns to those that wait: first to those of the run with the fewest large messages.
func (in *intake) next() {
	for len(in.large) < maxLarge {
		var first *sessionConn
		fewest := maxRunLarge
		for _, c := range in.waiting {
			if n := in.largeOf(c.run); n < fewest {
				first, fewest = c, n
			}
		}
		if first == nil {
			return
		}
		in.large = append(in.large, first)
		first.bound = time.AfterFunc(largeTimeout, func() { _ = first.Close() })
		first.stopWaiting()
	}
}

// largeOf returns the number of a run's large messages.
func (in *intake) largeOf(run string) (n int) {
	for _, c := range in.large {
		if c.run == run {
			n++
		}
	}
	return n
}

// stopWaiting removes the connection from those that wait.
func (c *sessionConn) stopWaiting() {
	if c.turn == nil {
		return
	}
	close(c.turn)
	c.turn = nil
	c.intake.waiting = without(c.intake.waiting, c)
}

func without(conns []*sessionConn, c *sessionConn) []*sessionConn {
	return slices.DeleteFunc(conns, func(other *sessionConn) bool { return other == c })
}

// settle counts from zero again, and ends what is large or waits.
func (c *sessionConn) settle() {
	c.pending = 0
	c.stopWaiting()
	if c.bound == nil {
		return
	}
	c.bound.Stop()
	c.bound = nil
	c.intake.large = without(c.intake.large, c)
	c.intake.next()
}

// received says that a message was received as a whole and handled. limit is that of the next one.
func (c *sessionConn) received(limit int) {
	if c == nil {
		return // no network connection, as in tests
	}
	c.intake.mu.Lock()
	defer c.intake.mu.Unlock()
	c.settle()
	c.limit = limit
}

// assign makes what arrives on the connection count for a run.
func (c *sessionConn) assign(run string, limit int) {
	if c == nil {
		return
	}
	c.intake.mu.Lock()
	defer c.intake.mu.Unlock()
	c.settle()
	c.run, c.limit = run, limit
}

// Close implements net.Conn.
func (c *sessionConn) Close() error {
	c.intake.mu.Lock()
	c.closed = true
	c.settle()
	c.intake.mu.Unlock()
	return c.Conn.Close()
}

// connInfo holds a call's connection.
type connInfo struct {
	credentials.AuthInfo
	conn    *sessionConn
	limited *limitedConn
}

// connOf returns the connection of a call, or nothing if it isn't one of Serve.
func connOf(ctx context.Context) connInfo {
	if p, ok := peer.FromContext(ctx); ok {
		info, _ := p.AuthInfo.(connInfo)
		return info
	}
	return connInfo{}
}

// enter begins the session of a pod that is identified.
func (i connInfo) enter(run string) {
	i.limited.setWaiting(false)
	i.conn.assign(run, helloIntake)
}

// leave ends the session. What arrives from now on belongs to another.
func (i connInfo) leave() {
	i.conn.assign("", smallIntake)
	i.limited.setWaiting(true)
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
