package http2

import (
	"bytes"
	"encoding/binary"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/assay-dev/assay/internal/load/driver/request"
	"github.com/assay-dev/assay/internal/load/driver/response"
	"github.com/assay-dev/assay/internal/session"
)

// nowhere is a transport that discards what is written and has nothing to read.
type nowhere struct{ net.Conn }

func (nowhere) Write(b []byte) (int, error)      { return len(b), nil }
func (nowhere) Close() error                     { return nil }
func (nowhere) SetLinger(int) error              { return nil }
func (nowhere) SetWriteDeadline(time.Time) error { return nil }

// frameWriter writes the frames of a server.
type frameWriter struct {
	*http2.Framer
	text bytes.Buffer
	hpack.Encoder
}

func (p *frameWriter) head(id uint32, end bool, fields ...string) {
	p.text.Reset()
	for i := 0; i < len(fields); i += 2 {
		_ = p.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: p.text.Bytes(), EndHeaders: true, EndStream: end})
}

// answered returns the bytes that a server writes in write.
func answered(write func(p *frameWriter)) []byte {
	var b bytes.Buffer
	p := &frameWriter{Framer: http2.NewFramer(&b, nil)}
	p.Encoder = *hpack.NewEncoder(&p.text)
	p.AllowIllegalWrites = true
	_ = p.WriteSettings()
	write(p)
	return b.Bytes()
}

// FuzzHTTP2 has a connection with a request in flight read arbitrary bytes in
// pieces. A response that it accepts must be accepted by x/net's reader too, and
// no input may make it keep more than its limits.
func FuzzHTTP2(f *testing.F) {
	for _, write := range []func(p *frameWriter){
		func(p *frameWriter) { p.head(1, true, ":status", "204") },
		func(p *frameWriter) {
			p.head(1, false, ":status", "200", "content-length", "2")
			_ = p.WriteData(1, true, []byte("ok"))
		},
		func(p *frameWriter) {
			p.head(1, false, ":status", "103")
			p.head(1, false, ":status", "200")
			p.head(1, true, "a", "b")
		},
		func(p *frameWriter) {
			p.head(1, false, ":status", "200")
			_ = p.WriteDataPadded(1, true, []byte("ok"), make([]byte, 3))
		},
		func(p *frameWriter) {
			_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0x88}})
			_ = p.WriteContinuation(1, true, nil)
		},
		func(p *frameWriter) { _ = p.WriteGoAway(0, 0, nil) },
		func(p *frameWriter) {
			_ = p.WriteRSTStream(1, 8)
			_ = p.WritePing(false, [8]byte{})
			_ = p.WriteWindowUpdate(1, 7)
		},
		func(p *frameWriter) {
			_ = p.WriteSettings(http2.Setting{ID: 1}, http2.Setting{ID: 4, Val: 9}, http2.Setting{ID: 5, Val: 16384})
		},
		func(p *frameWriter) { _ = p.WritePushPromise(http2.PushPromiseParam{StreamID: 1, PromiseID: 2}) },
	} {
		f.Add(answered(write), uint16(1))
		f.Add(answered(write), uint16(1000))
	}
	f.Add([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"), uint16(5))
	f.Fuzz(func(t *testing.T, sent []byte, piece uint16) {
		status, ok := readByUs(t, sent, max(1, int(piece)))
		if !ok {
			return
		}
		if want := readByNet(sent); want != status {
			t.Errorf("status %d, x/net reads %d", status, want)
		}
	})
}

// readByUs returns the status of the first request's response, and whether the
// response is complete.
func readByUs(t *testing.T, sent []byte, piece int) (int, bool) {
	t.Helper()
	table := NewTable("http")
	plan := &session.Plan{Streams: 1, TimeoutMicroseconds: 1_000_000, Requests: []session.PlannedRequest{{Path: "/", Weight: 1}}}
	set, err := request.NewSet(plan, "a", nil, table.Add)
	if err != nil {
		t.Fatal(err)
	}
	r := set.Requests[0]
	none := func() {}
	h := New(Config{
		Transport: nowhere{}, Table: table, Buffer: make([]byte, response.BufferBytes), Start: time.Now(), Timeout: time.Second, Streams: 1,
		Go: func(func()) {}, Retired: none, Closed: func(bool) {},
	})
	defer func() {
		h.mu.Lock()
		h.timer.Stop()
		h.mu.Unlock()
	}()
	st := NewStream()
	st.begin(r, 0, nil)
	if !h.start(st, nil) {
		t.Fatal("the connection accepts no request")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for len(sent) > 0 && !h.broken {
		room := len(h.in.buffer) - h.in.to
		if room == 0 {
			t.Fatal("the buffer is full and isn't consumed")
		}
		n := copy(h.in.buffer[h.in.to:], sent[:min(piece, len(sent), room)])
		sent = sent[n:]
		h.in.to += n
		if code := h.handleBuffered(); code != codeNoError {
			h.refuse(code)
		}
		if len(h.in.block) > maxBlockBytes+frameBytes || len(h.queue) > 100*maxReplies {
			t.Fatalf("%d bytes of a head, %d to be written", len(h.in.block), len(h.queue))
		}
	}
	return st.Response.Status, st.ended && st.Response.Fault == nil
}

// readByNet returns the same with x/net's reader: the status of the last header
// section before the end of the stream, or 0 if the input is invalid before.
func readByNet(sent []byte) int {
	framer := http2.NewFramer(nil, bytes.NewReader(sent))
	framer.SetMaxReadFrameSize(frameBytes)
	framer.ReadMetaHeaders = hpack.NewDecoder(tableBytes, nil)
	status := 0
	for {
		f, err := framer.ReadFrame()
		if err != nil {
			return 0
		}
		if h, ok := f.(*http2.MetaHeadersFrame); ok && h.StreamID == 1 {
			if value := h.PseudoValue("status"); value != "" {
				status, _ = strconv.Atoi(value)
			}
		}
		if f.Header().StreamID == 1 && f.Header().Flags&http2.FlagDataEndStream != 0 && f.Header().Type <= http2.FrameHeaders {
			return status
		}
	}
}

// TestHTTP2Fields decodes a connection's requests with x/net's decoder, also if
// the fields don't fit in the table, and if the server disables the table.
func TestHTTP2Fields(t *testing.T) {
	for name, test := range map[string]struct {
		value int // length of a field's value
		limit bool
	}{
		"room": {10, false}, "no room": {5000, false}, "a table of nothing": {10, true},
	} {
		t.Run(name, func(t *testing.T) {
			table := NewTable("https")
			plan := &session.Plan{Host: "a.test"}
			for _, path := range []string{"/", "/a", "/b"} {
				header := session.Header{Name: "X-" + path[1:] + "Y", Value: strings.Repeat("z", test.value)}
				plan.Requests = append(plan.Requests, session.PlannedRequest{Path: path, Headers: []session.Header{header}})
			}
			set, err := request.NewSet(plan, "a.test:443", nil, table.Add)
			if err != nil {
				t.Fatal(err)
			}
			requests := set.Requests
			var e fieldEncoder
			e.init(table)
			decoder := hpack.NewDecoder(tableBytes, nil)
			sizes := map[string]int{}
			for round := range 3 {
				if round == 1 && test.limit {
					e.setTableSize(0)
				}
				for _, r := range requests {
					block := e.append(nil, r, []byte("Cookie: a=b\r\n"))
					fields, err := decoder.DecodeFull(block)
					if err != nil {
						t.Fatal(err)
					}
					want := append(requestFields(r, "https"), hpack.HeaderField{Name: "cookie", Value: "a=b"})
					for i := range want {
						if i >= len(fields) || fields[i] != want[i] {
							t.Fatalf("round %d: got %v, want %v", round, fields, want)
						}
					}
					if sizes[r.Planned.Path] = len(block); round == 2 && name == "room" && len(block) > 25 {
						t.Errorf("%s takes %d bytes", r.Planned.Path, len(block))
					}
				}
			}
		})
	}
}

func TestSplitHead(t *testing.T) {
	for _, length := range []int{0, 1, frameBytes, frameBytes + 1, 3*frameBytes + 7} {
		block := bytes.Repeat([]byte("x"), length)
		b := appendFrameHeader([]byte("before"), 0, frameHeaders, flagEndHeaders|flagEndStream, 7)
		b = splitHeaders(append(b, block...), len("before"))
		var got []byte
		for rest := b[len("before"):]; len(rest) > 0; {
			f := parseFrame(rest)
			if id := binary.BigEndian.Uint32(rest[5:]); id != 7 || f.length > frameBytes || f.has(flagEndStream) != (f.kind == frameHeaders) {
				t.Fatalf("%d: frame %+v", length, f)
			}
			got = append(got, rest[frameHeaderBytes:frameHeaderBytes+f.length]...)
			if rest = rest[frameHeaderBytes+f.length:]; f.has(flagEndHeaders) != (len(rest) == 0) {
				t.Fatalf("%d: frame %+v", length, f)
			}
		}
		if !bytes.Equal(got, block) {
			t.Errorf("%d: %d bytes", length, len(got))
		}
	}
}
