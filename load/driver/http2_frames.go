package driver

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/load/recorder"
)

const (
	// blockBytes bounds a header section as it is sent, compressed.
	blockBytes = 32 << 10
	// mostContinuations bounds the frames of one.
	mostContinuations = 64
)

// frameReader is what was read of an HTTP/2 connection and isn't used yet.
// Frames are taken in when they are complete; those with bodies as they come.
type frameReader struct {
	buffer   []byte
	from, to int
	// begun is whether the server's settings have come, which are to be the first.
	begun bool

	// inData is whether a DATA frame is being read: of the stream, nil for one that
	// was given up, with so many bytes of body and of padding left.
	inData        bool
	stream        *http2Stream
	body, padding int
	ends          bool

	// open is the stream whose header section is continued; 0 for none. block is
	// what there is of it, sizes counts its bytes on the wire.
	open          uint32
	block         []byte
	blockEnds     bool
	size          int64
	continuations int
	head          headDecoder
}

func (f *frameReader) init(buffer []byte) {
	f.buffer = buffer
	f.head.init()
}

// frame is a frame's head.
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

// read reads what the server sends until the connection ends.
func (h *http2Connection) read() {
	for {
		n, err := h.transport.Read(h.in.buffer[h.in.to:])
		now := h.shared.stage.now()
		h.mu.Lock()
		if n > 0 && !h.broken {
			h.heard = now
			h.in.to += n
			if code := h.take(); code != codeNone {
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

// refuse ends the connection for what the server did. The lock must be held.
func (h *http2Connection) refuse(code errorCode) {
	if !h.writing && !h.broken {
		h.reply(frameGoAway, 0, 0, 0, uint32(code))
		_ = h.transport.SetWriteDeadline(time.Now().Add(closeWait))
		_, _ = h.transport.Write(h.queue) // the server may not listen any more
	}
	h.fail(result.ErrorException)
}

// take takes in what has been read. It returns the reason to end the connection.
func (h *http2Connection) take() errorCode {
	f := &h.in
	for {
		if f.inData {
			if !h.takeData() {
				f.from, f.to = 0, 0
				return codeNone
			}
			continue
		}
		available := f.buffer[f.from:f.to]
		if len(available) < frameHead {
			break
		}
		next := parseFrame(available)
		if code := f.check(next); code != codeNone {
			return code
		}
		if next.kind == frameData {
			least := frameHead
			if next.has(flagPadded) {
				least++
			}
			if len(available) < least {
				break
			}
			f.from += least
			if code := h.beginData(next, available[frameHead:least]); code != codeNone {
				return code
			}
			continue
		}
		if len(available) < frameHead+next.length {
			break
		}
		f.from += frameHead + next.length
		if code := h.takeFrame(next, available[frameHead:frameHead+next.length]); code != codeNone {
			return code
		}
		if h.broken {
			return codeNone
		}
	}
	f.to = copy(f.buffer, f.buffer[f.from:f.to])
	f.from = 0
	return codeNone
}

// check is what is wrong with a frame that comes now.
func (f *frameReader) check(next frame) errorCode {
	switch {
	case next.length > frameBytes:
		return codeSize
	case !f.begun && (next.kind != frameSettings || next.has(flagAck)):
		return codeProtocol
	case f.open != 0 && (next.kind != frameContinuation || next.stream != f.open):
		return codeProtocol
	}
	f.begun = true
	return codeNone
}

// find is an open stream; nil for one that was given up. It is false for one on
// which nothing may come any more, or yet.
func (h *http2Connection) find(id uint32) (*http2Stream, bool) {
	if st := h.streams[id]; st != nil {
		return st, true
	}
	for _, given := range h.given {
		if given == id && id != 0 {
			return nil, true
		}
	}
	return nil, false
}

// beginData begins a DATA frame (RFC 9113, section 6.1).
func (h *http2Connection) beginData(next frame, pad []byte) errorCode {
	f := &h.in
	st, ok := h.find(next.stream)
	if !ok {
		return codeClosed
	}
	f.padding = 0
	if len(pad) > 0 {
		f.padding = int(pad[0])
	}
	if f.padding+len(pad) > next.length {
		return codeProtocol
	}
	f.inData, f.stream, f.ends = true, st, next.has(flagEndStream)
	f.body = next.length - len(pad) - f.padding
	h.receiveWindow -= int64(next.length)
	if h.receiveWindow < 0 {
		return codeFlow
	}
	if h.receiveWindow < receiveWindow/2 {
		h.reply(frameWindow, 0, 0, uint32(receiveWindow-h.receiveWindow))
		h.receiveWindow = receiveWindow
	}
	if st == nil {
		h.extraReceived += int64(frameHead + next.length)
		return codeNone
	}
	if !st.headed {
		h.giveUp(st, codeProtocol, result.ErrorException)
		f.stream = nil
		return codeNone
	}
	st.received += int64(frameHead + len(pad))
	st.receiveWindow -= int64(next.length)
	if st.receiveWindow < 0 {
		return codeFlow
	}
	if st.receiveWindow < receiveWindow/2 && !f.ends {
		h.reply(frameWindow, 0, st.id, uint32(receiveWindow-st.receiveWindow))
		st.receiveWindow = receiveWindow
	}
	return codeNone
}

// takeData takes in what there is of a DATA frame; false when that isn't all.
func (h *http2Connection) takeData() bool {
	f := &h.in
	body := min(f.body, f.to-f.from)
	padding := min(f.padding, f.to-f.from-body)
	f.from += body + padding
	f.body -= body
	f.padding -= padding
	complete := f.body+f.padding == 0
	if st := f.stream; st != nil && !st.ended {
		st.received += int64(body + padding)
		if fault := st.takeBody(int64(body)); fault != recorder.NoError {
			h.giveUp(st, codeProtocol, fault)
			f.stream = nil
		} else if complete && f.ends {
			h.complete(st)
		}
	}
	f.inData = !complete
	return complete
}

// complete ends a stream whose response has.
func (h *http2Connection) complete(st *http2Stream) {
	st.lastByte = h.heard
	h.close(st, st.complete())
}

// takeFrame takes in a frame that is no DATA.
func (h *http2Connection) takeFrame(next frame, payload []byte) errorCode {
	if next.kind != frameHeaders && next.kind != frameContinuation {
		h.extraReceived += int64(frameHead + next.length)
	}
	switch next.kind {
	case frameHeaders:
		return h.takeHeaders(next, payload)
	case frameContinuation:
		if h.in.open == 0 {
			return codeProtocol
		}
		return h.takeContinuation(next, payload)
	case frameSettings:
		return h.takeSettings(next, payload)
	case framePing:
		switch {
		case next.stream != 0:
			return codeProtocol
		case next.length != 8:
			return codeSize
		case !next.has(flagAck):
			return h.answer(framePing, flagAck, binary.BigEndian.Uint32(payload), binary.BigEndian.Uint32(payload[4:]))
		}
	case frameGoAway:
		return h.takeGoAway(next, payload)
	case frameWindow:
		return h.takeWindow(next, payload)
	case frameReset:
		return h.takeReset(next)
	case framePriority:
		if next.length != 5 {
			return codeSize
		}
	case framePush: // the client's settings forbid it
		return codeProtocol
	}
	return codeNone // frames of unknown types are passed over (section 4.1)
}

// answer answers a frame of the server's. One that has too many answered without
// reading any is up to no good.
// takeSettings takes in the server's settings (section 6.5).
// takeGoAway takes in that the server ends the connection (section 6.8). What it
// won't answer has failed.
// takeWindow takes in that more may be sent (section 6.9).
// takeReset takes in that the server has given up a stream (section 6.4).
// isIdle is whether nothing was ever sent on a stream.
