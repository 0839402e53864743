package limit

import (
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"golang.org/x/net/http2"
)

// TestReceivingConnection sends frames of several sizes until the connection ends, at each stage of a
// session.
func TestReceivingConnection(t *testing.T) {
	for _, limit := range []int{smallLimit, helloLimit, messageLimit} {
		for _, size := range []int{0, 1, 1000, 16 << 10} {
			t.Run(fmt.Sprintf("%d by %d", limit, size), func(t *testing.T) {
				near, far := net.Pipe()
				conn := NewReceiveLimiter().newConn(near)
				if limit > smallLimit {
					conn.assign("run", limit)
				}
				go func() {
					_, _ = io.WriteString(far, http2.ClientPreface)
					framer := http2.NewFramer(far, nil)
					for framer.WriteData(1, false, make([]byte, size)) == nil {
					}
				}()
				n, err := io.CopyBuffer(io.Discard, struct{ io.Reader }{conn}, make([]byte, 100))
				if !errors.Is(err, errTooMuch) {
					t.Error(err)
				}
				frame := int64(frameHeaderBytes + size)
				want := int64(limit) * frame / (frame + frameBytes)
				if n > want+frame+24 || n < want-frame-1000 {
					t.Errorf("%d bytes arrived, want %d", n, want)
				}
				if err := conn.Close(); err != nil {
					t.Error(err)
				}
				if _, _, waiting := conn.limiter.Held(); len(conn.limiter.large) != 0 || waiting != 0 {
					t.Errorf("%d large messages, %d wait", len(conn.limiter.large), waiting)
				}
			})
		}
	}
}

// TestSlotsOfLargeMessages has a run with many connections wait before others.
func TestSlotsOfLargeMessages(t *testing.T) {
	in := NewReceiveLimiter()
	begin := func(run string) (*receivingConn, <-chan struct{}) {
		near, far := net.Pipe()
		c := in.newConn(near)
		t.Cleanup(func() { _, _ = c.Close(), far.Close() }) // else its timer would, in another test
		c.assign(run, messageLimit)
		wait, _ := c.add(smallLimit + 1)
		return c, wait
	}
	slot := func(wait <-chan struct{}) bool {
		select {
		case <-wait:
			return true
		default:
			return false
		}
	}
	var first []*receivingConn
	for i := range maxLarge { // as many as there may be, two of each run
		c, wait := begin(fmt.Sprint("run", i/2))
		if !slot(wait) {
			t.Fatalf("message %d waits", i)
		}
		first = append(first, c)
	}
	_, greedy := begin("run1")
	_, fresh := begin("other")
	gone, _ := begin("gone")
	if slot(greedy) || slot(fresh) {
		t.Fatal("too many large messages")
	}
	first[2].received(messageLimit) // of run1
	if slot(greedy) || !slot(fresh) {
		t.Error("a run with a large message was served before one without")
	}
	gone.received(messageLimit) // its message was complete
	first[0].received(messageLimit)
	if !slot(greedy) {
		t.Error("the last one waits")
	}
	if len(in.waiting) != 0 || len(in.large) != maxLarge {
		t.Errorf("%d wait, %d are large", len(in.waiting), len(in.large))
	}
}
