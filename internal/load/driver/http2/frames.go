package http2

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/assay-dev/assay/internal/load/driver/response"
)

const (
	// maxBlockBytes limits the compressed size of a header section, whose decompressed size has the limit response.MaxHeadBytes.
	maxBlockBytes = response.MaxHeadBytes
	// maxContinuations limits the CONTINUATION frames of a header section.
	maxContinuations = 64
)

// frameReader holds what was read from an HTTP/2 connection and hasn't been handled yet.
// DATA frames are handled as their bytes arrive, all others once they are complete.
type frameReader struct {
	buffer   []byte
	from, to int
	// hasSettings reports whether the server's first frame, which must be SETTINGS, has arrived.
	hasSettings bool
	// kind is the type of the latest frame.
	kind byte

	// inData reports whether a DATA frame is being read. stream is its stream, or nil if
	// that is closed. body and padding are the bytes left of it. endData reports whether
	// the frame ends its stream.
	inData        bool
	stream        *Stream
	body, padding int
	endData       bool

	// continued is the stream whose header section is incomplete, or 0 if there is none. block is
	// the part of it received so far, size its length on the wire with frame headers.
	continued     uint32
	block         []byte
	endStream     bool
	size          int64
	continuations int
	head          headDecoder
}

func (f *frameReader) init(buffer []byte) {
	f.buffer = buffer
	f.head.init()
}

// frame is a frame header.
type frame struct {
	length      int
	kind, flags byte
	stream      uint32
}

func parseFrame(b []byte) frame {
	return frame{
		length: int(b[0])<<16 | int(b[1])<<8 | int(b[2]), kind: b[3], flags: b[4],
		stream: binary.BigEndian.Uint32(b[5:]) & math.MaxInt32,
	}
}

func (f frame) has(flag byte) bool { return f.flags&flag != 0 }

// Serve reads and handles frames until the connection ends.
func (h *Connection) Serve() {
	for {
		n, err := h.Transport.Read(h.in.buffer[h.in.to:])
		now := h.now()
		h.mu.Lock()
		if n > 0 && !h.broken {
			h.lastReceived = now
			h.in.to += n
			if code := h.handleBuffered(); code != codeNoError {
				h.refuse(code)
			}
			h.flushLater()
		}
		if err != nil {
			h.fail(h.faultOf(err))
		}
		broken := h.broken
		h.mu.Unlock()
		if broken {
			return
		}
	}
}

// refuse closes the connection because of a connection error of the server. h.mu must be held.
func (h *Connection) refuse(code errorCode) {
	if !h.writing && !h.broken {
		h.reply(frameGoAway, 0, 0, 0, uint32(code))
		_ = h.Transport.SetWriteDeadline(time.Now().Add(goAwayWait))
		_, _ = h.Transport.Write(h.queue) // best effort: the server may have stopped reading
	}
	h.fail(h.in.refusal(code))
}

// handleBuffered handles the buffered frames. It returns the error code to close the
// connection with. h.mu must be held.
func (h *Connection) handleBuffered() errorCode {
	f := &h.in
	for {
		if f.inData {
			if !h.handleData() {
				f.from, f.to = 0, 0
				return codeNoError
			}
			continue
		}
		available := f.buffer[f.from:f.to]
		if len(available) < frameHeaderBytes {
			break
		}
		next := parseFrame(available)
		f.kind = next.kind
		if code := f.check(next); code != codeNoError {
			return code
		}
		if next.kind == frameData {
			needed := frameHeaderBytes
			if next.has(flagPadded) {
				needed++
			}
			if len(available) < needed {
				break
			}
			f.from += needed
			if code := h.beginData(next, available[frameHeaderBytes:needed]); code != codeNoError {
				return code
			}
			continue
		}
		if len(available) < frameHeaderBytes+next.length {
			break
		}
		f.from += frameHeaderBytes + next.length
		if code := h.handleFrame(next, available[frameHeaderBytes:frameHeaderBytes+next.length]); code != codeNoError {
			return code
		}
		if h.broken {
			return codeNoError
		}
	}
	f.to = copy(f.buffer, f.buffer[f.from:f.to])
	f.from = 0
	return codeNoError
}

// check returns the connection error of a frame that arrives now, if it is one.
func (f *frameReader) check(next frame) errorCode {
	switch {
	case next.length > frameBytes:
		return codeFrameSize
	case !f.hasSettings && (next.kind != frameSettings || next.has(flagAck)):
		return codeProtocolError
	case f.continued != 0 && (next.kind != frameContinuation || next.stream != f.continued):
		return codeProtocolError
	}
	f.hasSettings = true
	return codeNoError
}

// find returns an open stream, or nil if the stream is closed: its late frames are ignored, however many streams were canceled (RFC 9113,
// sections 5.1 and 5.4.2). It returns false if the stream has never been opened.
func (h *Connection) find(id uint32) (*Stream, bool) {
	if st := h.streams[id]; st != nil {
		return st, true
	}
	return nil, !h.isIdle(id)
}

// beginData starts a DATA frame and updates the flow-control windows (RFC 9113, section 6.1).
func (h *Connection) beginData(next frame, pad []byte) errorCode {
	f := &h.in
	st, ok := h.find(next.stream)
	if !ok {
		return codeProtocolError
	}
	f.padding = 0
	if len(pad) > 0 {
		f.padding = int(pad[0])
	}
	if f.padding+len(pad) > next.length {
		return codeProtocolError
	}
	f.inData, f.stream, f.endData = true, st, next.has(flagEndStream)
	f.body = next.length - len(pad) - f.padding
	h.receiveWindow -= int64(next.length)
	if h.receiveWindow < 0 {
		return codeFlowControl
	}
	if h.receiveWindow < receiveWindow/2 {
		h.reply(frameWindowUpdate, 0, 0, uint32(receiveWindow-h.receiveWindow))
		h.receiveWindow = receiveWindow
	}
	if st == nil {
		h.extraReceived += int64(frameHeaderBytes + next.length)
		return codeNoError
	}
	if !st.hasHead {
		h.cancel(st, codeProtocolError, errEarlyBody)
		f.stream = nil
		return codeNoError
	}
	st.Received += int64(frameHeaderBytes + len(pad))
	st.receiveWindow -= int64(next.length)
	if st.receiveWindow < 0 {
		return codeFlowControl
	}
	if st.receiveWindow < receiveWindow/2 && !f.endData {
		h.reply(frameWindowUpdate, 0, st.id, uint32(receiveWindow-st.receiveWindow))
		st.receiveWindow = receiveWindow
	}
	return codeNoError
}

// handleData handles the buffered part of a DATA frame. It returns false if the frame is
// incomplete.
func (h *Connection) handleData() bool {
	f := &h.in
	body := min(f.body, f.to-f.from)
	padding := min(f.padding, f.to-f.from-body)
	f.from += body + padding
	f.body -= body
	f.padding -= padding
	complete := f.body+f.padding == 0
	if st := f.stream; st != nil && !st.ended {
		st.Received += int64(body + padding)
		if failed := st.handleBody(int64(body)); failed != nil {
			h.cancel(st, codeProtocolError, failed)
			f.stream = nil
		} else if st.Limit > 0 && st.Response.Body >= st.Limit {
			st.Response.Body = st.length
			h.cancel(st, codeCancel, nil)
			f.stream = nil
		} else if complete && f.endData {
			h.complete(st)
		}
	}
	f.inData = !complete
	return complete
}

// complete ends a stream whose response is complete.
func (h *Connection) complete(st *Stream) {
	st.LastByte = h.lastReceived
	h.close(st, st.complete())
}

// handleFrame handles a complete frame other than DATA. It returns the error code to
// close the connection with.
func (h *Connection) handleFrame(next frame, payload []byte) errorCode {
	if next.kind != frameHeaders && next.kind != frameContinuation {
		h.extraReceived += int64(frameHeaderBytes + next.length)
	}
	switch next.kind {
	case frameHeaders:
		return h.handleHeaders(next, payload)
	case frameContinuation:
		if h.in.continued == 0 {
			return codeProtocolError
		}
		return h.handleContinuation(next, payload)
	case frameSettings:
		return h.handleSettings(next, payload)
	case framePing:
		switch {
		case next.stream != 0:
			return codeProtocolError
		case next.length != 8:
			return codeFrameSize
		case !next.has(flagAck):
			return h.respond(framePing, flagAck, binary.BigEndian.Uint32(payload), binary.BigEndian.Uint32(payload[4:]))
		}
	case frameGoAway:
		return h.handleGoAway(next, payload)
	case frameWindowUpdate:
		return h.handleWindowUpdate(next, payload)
	case frameRSTStream:
		return h.handleReset(next, payload)
	case framePriority:
		if next.length != 5 {
			return codeFrameSize
		}
	case framePushPromise: // disabled by the client's settings
		return codeProtocolError
	}
	return codeNoError // unknown types are ignored (section 4.1)
}
