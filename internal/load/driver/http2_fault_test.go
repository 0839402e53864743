package driver

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/assay-dev/assay/internal/load/recorder"
	"github.com/assay-dev/assay/internal/result"
)

// http2Faults are servers' behavior and how the client classifies it: the kind of
// error, and whether the connection is kept.
var http2Faults = map[string]struct {
	serve func(*peer)
	want  result.ErrorKind
	kept  bool
}{
	"fine": {serveEach(func(p *peer, id uint32) {
		p.head(id, false, ":status", "200", "content-length", "2")
		_ = p.WriteData(id, true, []byte("ok"))
	}), recorder.NoError, true},
	"no body":      {serveEach(func(p *peer, id uint32) { p.head(id, true, ":status", "204") }), recorder.NoError, true},
	"not modified": {serveEach(func(p *peer, id uint32) { p.head(id, true, ":status", "304", "content-length", "9") }), recorder.NoError, true},
	"interim responses and a trailer": {serveEach(func(p *peer, id uint32) {
		p.head(id, false, ":status", "103", "link", "<a>")
		p.head(id, false, ":status", "100")
		p.head(id, false, ":status", "200")
		_ = p.WriteDataPadded(id, false, []byte("ok"), make([]byte, 200))
		_ = p.WriteData(id, false, nil)
		p.head(id, true, "x-sum", "1")
	}), recorder.NoError, true},
	"a head in pieces": {serveEach(func(p *peer, id uint32) {
		block := p.block(":status", "200", "a", strings.Repeat("b", 100))
		_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block[:1], EndStream: true, PadLength: 7, Priority: http2.PriorityParam{Weight: 3}})
		_ = p.WriteContinuation(id, false, block[1:2])
		_ = p.WriteContinuation(id, true, block[2:])
	}), recorder.NoError, true},
	"frames of unknown types": {serveEach(func(p *peer, id uint32) {
		_ = p.WriteRawFrame(0xf0, 0xff, id, []byte("who knows"))
		_ = p.WritePriority(id, http2.PriorityParam{Weight: 1})
		_ = p.WritePing(false, [8]byte{1})
		_ = p.WriteWindowUpdate(0, 1000)
		p.head(id, true, ":status", "200")
	}), recorder.NoError, true},
	"storm of interim responses": {serveEach(func(p *peer, id uint32) {
		for range 1000 {
			p.head(id, false, ":status", "100")
		}
	}), result.ErrorException, true},
	"switched protocols":      {serveEach(func(p *peer, id uint32) { p.head(id, false, ":status", "101") }), result.ErrorException, true},
	"no status":               {serveEach(func(p *peer, id uint32) { p.head(id, true, "a", "b") }), result.ErrorException, true},
	"two statuses":            {serveEach(func(p *peer, id uint32) { p.head(id, true, ":status", "200", ":status", "200") }), result.ErrorException, true},
	"a late status":           {serveEach(func(p *peer, id uint32) { p.head(id, true, "a", "b", ":status", "200") }), result.ErrorException, true},
	"a bad status":            {serveEach(func(p *peer, id uint32) { p.head(id, true, ":status", "2x0") }), result.ErrorException, true},
	"another pseudo-field":    {serveEach(func(p *peer, id uint32) { p.head(id, true, ":status", "200", ":path", "/") }), result.ErrorException, true},
	"a capital":               {serveEach(func(p *peer, id uint32) { p.head(id, true, ":status", "200", "Server", "x") }), result.ErrorException, true},
	"a line break in a value": {serveEach(func(p *peer, id uint32) { p.head(id, true, ":status", "200", "a", "b\r\nc: d") }), result.ErrorException, true},
	"a field of HTTP/1.1":     {serveEach(func(p *peer, id uint32) { p.head(id, true, ":status", "200", "transfer-encoding", "chunked") }), result.ErrorException, true},
	"two lengths": {serveEach(func(p *peer, id uint32) {
		p.head(id, true, ":status", "200", "content-length", "0", "content-length", "1")
	}), result.ErrorException, true},
	"an error status":        {serveEach(func(p *peer, id uint32) { p.head(id, true, ":status", "503") }), result.ErrorStatus, true},
	"a body before the head": {serveEach(func(p *peer, id uint32) { _ = p.WriteData(id, true, []byte("x")) }), result.ErrorException, true},
	"a trailer that goes on": {serveEach(func(p *peer, id uint32) { p.head(id, false, ":status", "200"); p.head(id, false, "a", "b") }), result.ErrorException, true},
	"a body that shouldn't be": {serveEach(func(p *peer, id uint32) {
		p.head(id, false, ":status", "204")
		_ = p.WriteData(id, true, []byte("x"))
	}), result.ErrorException, true},
	"a body shorter than promised": {serveEach(func(p *peer, id uint32) {
		p.head(id, false, ":status", "200", "content-length", "3")
		_ = p.WriteData(id, true, []byte("ok"))
	}), result.ErrorLength, true},
	"a body longer than promised": {serveEach(func(p *peer, id uint32) {
		p.head(id, false, ":status", "200", "content-length", "3")
		_ = p.WriteData(id, false, []byte("more"))
		_ = p.WriteData(id, true, []byte("and more"))
	}), result.ErrorLength, true},
	"reset":   {serveEach(func(p *peer, id uint32) { _ = p.WriteRSTStream(id, http2.ErrCodeInternal) }), result.ErrorReceive, true},
	"refused": {serveEach(func(p *peer, id uint32) { _ = p.WriteRSTStream(id, http2.ErrCodeRefusedStream) }), result.ErrorReceive, true},
	"reset in the body": {serveEach(func(p *peer, id uint32) {
		p.head(id, false, ":status", "200")
		_ = p.WriteData(id, false, []byte("x"))
		_ = p.WriteRSTStream(id, http2.ErrCodeCancel)
	}), result.ErrorReceive, true},
	"40 KiB of headers": {serveEach(func(p *peer, id uint32) {
		block := p.block(":status", "200", "x", strings.Repeat("x", 40<<10))
		_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block[:16<<10], EndStream: true})
		_ = p.WriteContinuation(id, false, block[16<<10:32<<10])
		_ = p.WriteContinuation(id, true, block[32<<10:])
	}), recorder.NoError, true},
	"too large a head":          {serveEach(func(p *peer, id uint32) { p.bomb(id) }), result.ErrorException, true},
	"a window that overflows":   {serveEach(func(p *peer, id uint32) { _ = p.WriteWindowUpdate(id, 1<<31-1); p.head(id, true, ":status", "200") }), result.ErrorException, true},
	"a stream without response": {serveEach(func(p *peer, _ uint32) { _ = p.WriteWindowUpdate(0, 1) }), result.ErrorTimeout, true},
	"a server without response": {(*peer).drain, result.ErrorTimeout, false},
	"an endless body":           {serveEach(func(p *peer, id uint32) { p.head(id, false, ":status", "200"); _ = p.WriteData(id, false, []byte("x")) }), result.ErrorTimeout, true},

	"closed":                  {func(*peer) {}, result.ErrorReceive, false},
	"closed in the head":      {func(p *peer) { _, _ = io.WriteString(p.conn, "\x00\x00") }, result.ErrorReceive, false},
	"closed in a frame":       {serveOnce(func(p *peer, _ uint32) { _, _ = io.WriteString(p.conn, "\x00\x00\x09\x01\x04\x00\x00\x00\x01\x88") }), result.ErrorReceive, false},
	"gone away":               {serveOnce(func(p *peer, _ uint32) { _ = p.WriteGoAway(0, http2.ErrCodeNo, nil); p.drain() }), result.ErrorReceive, false},
	"gone away with an error": {serveOnce(func(p *peer, id uint32) { _ = p.WriteGoAway(id, http2.ErrCodeEnhanceYourCalm, []byte("calm")) }), result.ErrorReceive, false},
	"gone away after it": {serveOnce(func(p *peer, id uint32) {
		_ = p.WriteGoAway(id, http2.ErrCodeNo, nil)
		p.head(id, true, ":status", "200")
		p.drain()
	}), recorder.NoError, false},
	"HTTP/1.1":                   {raw("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"), result.ErrorException, false},
	"garbage":                    {raw("SSH-2.0-OpenSSH_9.2\r\n"), result.ErrorException, false},
	"no settings first":          {func(p *peer) { _ = p.WritePing(false, [8]byte{}); p.drain() }, result.ErrorException, false},
	"fewer streams than planned": {func(p *peer) { _ = p.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams}); p.drain() }, result.ErrorException, false},
	"too long a frame":           {serveOnce(func(p *peer, id uint32) { _ = p.WriteRawFrame(http2.FrameData, 0, id, make([]byte, 16385)); p.drain() }), result.ErrorException, false},
	"settings of half a setting": {serveOnce(func(p *peer, _ uint32) { _ = p.WriteRawFrame(http2.FrameSettings, 0, 0, make([]byte, 5)); p.drain() }), result.ErrorException, false},
	"settings on a stream":       {serveOnce(func(p *peer, id uint32) { _ = p.WriteRawFrame(http2.FrameSettings, 0, id, nil); p.drain() }), result.ErrorException, false},
	"too large a window": {func(p *peer) {
		_ = p.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 31})
		p.drain()
	}, result.ErrorException, false},
	"a window of nothing": {serveOnce(func(p *peer, _ uint32) {
		_ = p.WriteRawFrame(http2.FrameWindowUpdate, 0, 0, make([]byte, 4))
		p.drain()
	}), result.ErrorException, false},
	"a pushed response": {serveOnce(func(p *peer, id uint32) {
		_ = p.WritePushPromise(http2.PushPromiseParam{StreamID: id, PromiseID: 2, BlockFragment: p.block(":path", "/"), EndHeaders: true})
		p.drain()
	}), result.ErrorException, false},
	"a stream nobody opened":   {serveOnce(func(p *peer, id uint32) { p.head(id+2, true, ":status", "200"); p.drain() }), result.ErrorException, false},
	"a stream of the server's": {serveOnce(func(p *peer, _ uint32) { _ = p.WriteData(2, true, nil); p.drain() }), result.ErrorException, false},
	"a reset of no stream":     {serveOnce(func(p *peer, id uint32) { _ = p.WriteRSTStream(id+2, http2.ErrCodeCancel); p.drain() }), result.ErrorException, false},
	"a head cut by another": {serveOnce(func(p *peer, id uint32) {
		_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: []byte{0x88}})
		_ = p.WritePing(false, [8]byte{})
		p.drain()
	}), result.ErrorException, false},
	"a continuation of nothing": {serveOnce(func(p *peer, id uint32) { _ = p.WriteContinuation(id, true, []byte{0x88}); p.drain() }), result.ErrorException, false},
	"an endless head": {serveOnce(func(p *peer, id uint32) {
		_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: []byte{0x88}})
		for p.WriteContinuation(id, false, nil) == nil {
		}
	}), result.ErrorException, false},
	"a head that isn't HPACK": {serveOnce(func(p *peer, id uint32) {
		_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, EndHeaders: true})
		p.drain()
	}), result.ErrorException, false},
	"padding beyond the end": {serveOnce(func(p *peer, id uint32) {
		_ = p.WriteRawFrame(http2.FrameHeaders, http2.FlagHeadersPadded|http2.FlagHeadersEndHeaders, id, []byte{9, 0x88})
		p.drain()
	}), result.ErrorException, false},
	"a body of padding": {serveOnce(func(p *peer, id uint32) {
		_ = p.WriteRawFrame(http2.FrameData, http2.FlagDataPadded, id, []byte{9, 1})
		p.drain()
	}), result.ErrorException, false},
	"a storm of settings": {func(p *peer) {
		for p.WriteSettings() == nil {
		}
	}, result.ErrorException, false},
	"a storm of pings": {func(p *peer) {
		_ = p.WriteSettings()
		for p.WritePing(false, [8]byte{}) == nil {
		}
	}, result.ErrorException, false},
}

// serveOnce calls answer with the first request of each connection.
func serveOnce(answer func(p *peer, id uint32)) func(*peer) {
	return func(p *peer) {
		_ = p.WriteSettings()
		if id := p.request(); id != 0 {
			answer(p, id)
		}
	}
}

// bomb sends a header section that is small when compressed and large when
// decompressed.
func (p *peer) bomb(id uint32) {
	block := p.block(":status", "200", "a", strings.Repeat("b", 3000))
	block = append(block, bytes.Repeat([]byte{0xbe}, 10_000)...) // the same field, repeated
	_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block, EndHeaders: true, EndStream: true})
}

func TestHTTP2ErrorKinds(t *testing.T) {
	for name, test := range http2Faults {
		t.Run(name, func(t *testing.T) {
			address := serveFrames(t, test.serve)
			const requests = 3
			p := streamed(1, 1, requests, "/")
			p.TimeoutMicroseconds = 20_000_000
			if test.want == result.ErrorTimeout {
				p.TimeoutMicroseconds = 100_000
			}
			got := drive(t, p, address)
			var want result.ErrorCounts
			if test.want != recorder.NoError {
				want[test.want] = requests
			}
			checkCause(t, "HTTP/2", name, got)
			if got.Errors != want || got.Requests != requests {
				t.Errorf("%d requests, errors %v, want %v", got.Requests, got.Errors, want)
			}
			connections := int64(requests)
			if test.kept {
				connections = 1
			}
			if got.Connections != connections {
				t.Errorf("%d connections, want %d", got.Connections, connections)
			}
			if got.elapsed > 10*time.Second {
				t.Errorf("the stage took %s", got.elapsed)
			}
		})
	}
}

// TestHTTP2GoAwayFailsLaterStreams has a server answer the first two of four
// requests and send GOAWAY for the others.
func TestHTTP2GoAwayFailsLaterStreams(t *testing.T) {
	address := serveFrames(t, func(p *peer) {
		_ = p.WriteSettings()
		var ids []uint32
		for len(ids) < 4 {
			id := p.request()
			if id == 0 {
				return
			}
			ids = append(ids, id)
		}
		_ = p.WriteGoAway(ids[1], http2.ErrCodeNo, nil)
		for _, id := range ids[:2] {
			p.head(id, true, ":status", "200")
		}
		p.drain()
	})
	got := drive(t, streamed(1, 4, 40, "/"), address)
	if got.Requests != 40 || got.Errors[result.ErrorReceive] < 14 || got.Errors.Total() != got.Errors[result.ErrorReceive] || got.Connections < 10 {
		t.Errorf("counts %+v", got.Counts)
	}
}

// TestHTTP2TimeoutKeepsOtherStreams has a server never answer every third
// request.
func TestHTTP2TimeoutKeepsOtherStreams(t *testing.T) {
	resets := make(chan http2.ErrCode, 100)
	address := serveFrames(t, func(p *peer) {
		_ = p.WriteSettings()
		for n := 0; ; {
			f, err := p.ReadFrame()
			if err != nil {
				return
			}
			switch f := f.(type) {
			case *http2.RSTStreamFrame:
				resets <- f.ErrCode
				p.head(f.StreamID, false, ":status", "200", "x-late", fmt.Sprint(n)) // as if it had crossed the reset
				_ = p.WriteData(f.StreamID, true, []byte("late"))
			case *http2.HeadersFrame:
				if n++; n%3 != 0 {
					p.head(f.StreamID, true, ":status", "200", "x-number", fmt.Sprint(n))
				} else {
					_ = p.WriteWindowUpdate(0, 1) // shows that the connection is alive
				}
			}
		}
	})
	p := streamed(1, 3, 30, "/")
	p.TimeoutMicroseconds = 100_000
	got := drive(t, p, address)
	if got.Requests != 30 || got.Errors[result.ErrorTimeout] != 10 || got.Errors.Total() != 10 || got.Connections != 1 {
		t.Errorf("counts %+v", got.Counts)
	}
	if len(resets) < 9 { // the last may not arrive before the end
		t.Errorf("%d resets", len(resets))
	}
	for len(resets) > 0 {
		if code := <-resets; code != http2.ErrCodeCancel {
			t.Errorf("reset with %s", code)
		}
	}
}

// TestHTTP2StalledBody has a server that never enlarges a small flow-control
// window, or one of zero.
func TestHTTP2StalledBody(t *testing.T) {
	for name, window := range map[string]uint32{"none": 0, "some": 100} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			received := 0
			address := serveFrames(t, func(p *peer) {
				_ = p.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: window})
				for {
					f, err := p.ReadFrame()
					if err != nil {
						return
					}
					if d, ok := f.(*http2.DataFrame); ok {
						mu.Lock()
						received += len(d.Data())
						mu.Unlock()
					}
				}
			})
			p := streamed(1, 2, 4, "/")
			p.TimeoutMicroseconds = 100_000
			p.Requests[0].Method, p.Requests[0].GeneratedBytes = "PUT", 1<<20
			got := drive(t, p, address)
			if got.Requests != 4 || got.Errors[result.ErrorTimeout] != 4 {
				t.Errorf("counts %+v", got.Counts)
			}
			mu.Lock()
			defer mu.Unlock()
			// The first requests start before the settings arrive.
			if received > 2*65535+2*int(window) {
				t.Errorf("%d bytes were sent in windows of %d", received, window)
			}
		})
	}
}

// TestHTTP2EarlyAnswer has a server respond before it has read the body, and
// reset the stream because it doesn't want the rest.
func TestHTTP2EarlyAnswer(t *testing.T) {
	address := serveFrames(t, serveEach(func(p *peer, id uint32) {
		p.head(id, true, ":status", "200")
		_ = p.WriteRSTStream(id, http2.ErrCodeNo)
	}))
	p := streamed(1, 2, 10, "/")
	p.Requests[0].Method, p.Requests[0].GeneratedBytes = "PUT", 1<<20
	got := drive(t, p, address)
	if got.Succeeded() != 10 || got.Connections != 1 {
		t.Errorf("counts %+v", got.Counts)
	}
}

// TestHTTP2ConnectionRefused drives an address that nobody listens on.
func TestHTTP2ConnectionRefused(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	got := drive(t, streamed(2, 3, 12, "/"), address)
	checkCause(t, "nobody", "", got)
	if got.Errors[result.ErrorConnect] != 12 || got.Connections != 0 {
		t.Errorf("counts %+v", got.Counts)
	}
}
