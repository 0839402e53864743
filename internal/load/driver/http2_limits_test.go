package driver

import (
	"fmt"
	"math"
	"strconv"
	"sync/atomic"
	"testing"

	"golang.org/x/net/http2"

	"github.com/assay-dev/assay/internal/result"
)

// TestHTTP2LateFrames has a server send frames for more canceled streams than anybody would remember, and for complete ones. Other
// requests on the connection go on, with header sections that refer to fields of those.
func TestHTTP2LateFrames(t *testing.T) {
	const streams = 700
	address := serveFrames(t, func(p *peer) {
		_ = p.WriteSettings()
		var canceled []uint32
		for answered := 0; ; {
			f, err := p.ReadFrame()
			if err != nil {
				return
			}
			switch f := f.(type) {
			case *http2.HeadersFrame:
				if f.StreamID < 2*streams {
					_ = p.WriteWindowUpdate(0, 1) // shows that the connection is alive
					continue
				}
				p.head(f.StreamID, true, ":status", "200", "x-late", strconv.Itoa(answered%7))
				answered++
				_ = p.WriteData(f.StreamID, true, []byte("after the end"))
				_ = p.WriteRSTStream(f.StreamID, http2.ErrCodeNo)
				_ = p.WriteWindowUpdate(f.StreamID, 1)
			case *http2.RSTStreamFrame:
				if canceled = append(canceled, f.StreamID); len(canceled) < streams {
					continue
				}
				for i, id := range canceled {
					p.head(id, false, ":status", "200", "x-late", strconv.Itoa(i%7))
					_ = p.WriteData(id, false, []byte("late"))
					p.head(id, true, "x-sum", strconv.Itoa(i))
					_ = p.WriteWindowUpdate(id, 0)
					_ = p.WriteRSTStream(id, http2.ErrCodeInternal)
				}
			}
		}
	})
	p := streamed(1, streams, 3*streams, "/")
	p.TimeoutMicroseconds = 3_000_000 // the streams that are answered are, also on a busy machine
	got := drive(t, p, address)
	if got.Requests != 3*streams || got.Errors[result.ErrorTimeout] != streams || got.Errors.Total() != streams || got.Connections != 1 {
		t.Errorf("counts %+v", got.Counts)
	}
}

// limitingServer lowers the limit of concurrent streams while requests are in flight and raises it when all of them have been answered
// and the client has had the time to send another one.
type limitingServer struct {
	// after is the number of requests after which the limit falls to lowered.
	after   int
	lowered uint32
	// refuses reports whether streams beyond the limit are refused, rather than answered. goesAway reports whether the server ends the
	// connection instead of raising the limit.
	refuses, goesAway bool
}

func (s *limitingServer) serve(t *testing.T, p *peer) {
	const limit = 100
	settings := func(streams uint32) {
		_ = p.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: streams})
	}
	settings(limit)
	var open []uint32
	seen, acks, pings := 0, 0, 0
	lowered := func() bool { return acks == 2 } // the client knows the lower limit
	answer := func() {
		for i, id := range open {
			if s.refuses && lowered() && i >= int(s.lowered) {
				_ = p.WriteRSTStream(id, http2.ErrCodeRefusedStream)
			} else {
				p.head(id, true, ":status", "200")
			}
		}
		open = open[:0]
	}
	for {
		f, err := p.ReadFrame()
		if err != nil {
			return
		}
		switch f := f.(type) {
		case *http2.SettingsFrame:
			if !f.IsAck() {
				continue
			}
			if acks++; lowered() {
				answer()
				_ = p.WritePing(false, [8]byte{})
			}
		case *http2.PingFrame:
			// The client has handled the answers. What it may send because of them arrives before its reply to a second PING.
			switch pings++; {
			case pings < 5:
				answer()
				_ = p.WritePing(false, [8]byte{})
			case s.goesAway:
				_ = p.WriteGoAway(1<<31-1, http2.ErrCodeNo, nil)
				answer()
				p.drain()
				return
			default:
				settings(limit)
				answer()
			}
		case *http2.HeadersFrame:
			seen++
			open = append(open, f.StreamID)
			if lowered() && len(open) > int(s.lowered) {
				t.Errorf("stream %d is one of %d, the limit is %d", f.StreamID, len(open), s.lowered)
			}
			switch {
			case seen == s.after:
				settings(s.lowered)
			case seen < s.after-5, seen > s.after && acks > 2:
				answer()
			}
		}
	}
}

// TestHTTP2LoweredStreams checks that requests wait for a server that allows fewer streams for a moment, and that none is lost.
func TestHTTP2LoweredStreams(t *testing.T) {
	for lowered := range uint32(4) {
		for _, how := range []limitingServer{{}, {refuses: true}, {goesAway: true}} {
			how.after, how.lowered = 35, lowered
			t.Run(fmt.Sprintf("%+v", how), func(t *testing.T) {
				var connections atomic.Int64
				address := serveFrames(t, func(p *peer) {
					this := how
					if connections.Add(1) > 1 {
						this = limitingServer{after: math.MaxInt}
					}
					this.serve(t, p)
				})
				got := drive(t, streamed(1, 10, 200, "/"), address)
				if got.Requests != 200 || got.Errors.Total() != 0 || got.Connections != map[bool]int64{false: 1, true: 2}[how.goesAway] {
					t.Errorf("counts %+v", got.Counts)
				}
			})
		}
	}
}

// TestHTTP2NoStreams has a server that allows no more streams after the first request. Those that wait time out.
func TestHTTP2NoStreams(t *testing.T) {
	address := serveFrames(t, func(p *peer) {
		_ = p.WriteSettings()
		id := p.request()
		_ = p.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 0})
		p.head(id, true, ":status", "200")
		p.drain()
	})
	p := streamed(1, 1, 3, "/")
	p.TimeoutMicroseconds = 100_000
	got := drive(t, p, address)
	if got.Requests != 3 || got.Succeeded() == 0 || got.Errors[result.ErrorTimeout] != got.Errors.Total() {
		t.Errorf("counts %+v", got.Counts)
	}
}

// TestHTTP2LoweredWindow has a server lower the window of streams while bodies are sent, so that it becomes negative, and raise it again.
func TestHTTP2LoweredWindow(t *testing.T) {
	const size, requests = 200_000, 12
	address := serveFrames(t, func(p *peer) {
		window := func(n uint32) { _ = p.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: n}) }
		window(50_000)
		bodies := map[uint32]int{}
		low := false
		for {
			f, err := p.ReadFrame()
			if err != nil {
				return
			}
			switch f := f.(type) {
			case *http2.SettingsFrame:
				if f.IsAck() && low {
					low = false
					window(50_000)
				}
			case *http2.DataFrame:
				id, n := f.StreamID, len(f.Data())
				if bodies[id] == 0 && !low {
					low = true
					window(0)
				}
				if bodies[id] += n; n > 0 {
					_ = p.WriteWindowUpdate(0, uint32(n))
					_ = p.WriteWindowUpdate(id, uint32(n))
				}
				if f.StreamEnded() {
					if bodies[id] != size {
						t.Errorf("a body of %d bytes", bodies[id])
					}
					p.head(id, true, ":status", "200")
				}
			}
		}
	})
	p := streamed(1, 3, requests, "/")
	p.Requests[0].Method, p.Requests[0].GeneratedBytes = "PUT", size
	if got := drive(t, p, address); got.Succeeded() != requests || got.Connections != 1 {
		t.Errorf("counts %+v", got.Counts)
	}
}
