package http2

import (
	"encoding/binary"
	"math"

	"github.com/assay-dev/assay/internal/load/driver/fault"
	"github.com/assay-dev/assay/internal/result"
)

// respond queues a reply to a frame of the server. It returns an error code if the server
// causes more than maxReplies replies without reading them.
func (h *Connection) respond(kind, flags byte, numbers ...uint32) errorCode {
	if h.replies++; h.replies > maxReplies {
		return codeEnhanceYourCalm
	}
	h.reply(kind, flags, 0, numbers...)
	return codeNoError
}

// handleSettings applies the server's settings and acknowledges them (section 6.5).
func (h *Connection) handleSettings(next frame, payload []byte) errorCode {
	switch {
	case next.stream != 0:
		return codeProtocolError
	case next.has(flagAck) && next.length > 0 || next.length%6 != 0:
		return codeFrameSize
	case next.has(flagAck):
		return codeNoError
	}
	for ; len(payload) > 0; payload = payload[6:] {
		value := binary.BigEndian.Uint32(payload[2:])
		switch binary.BigEndian.Uint16(payload) {
		case settingHeaderTableSize:
			h.fields.setTableSize(value)
		case settingEnablePush:
			if value != 0 {
				return codeProtocolError
			}
		case settingMaxStreams:
			if h.maxStreams = int64(value); int64(len(h.streams)) > h.maxStreams {
				h.lowered = h.next
			}
			if h.maxStreams < int64(h.Streams) && !h.settled {
				// Fewer concurrent streams would be another load than the plan's. Requests wait for a limit that is lowered later.
				h.fail(FewStreams.With("%d allowed, %d planned", value, h.Streams))
				return codeNoError
			}
		case settingInitialWindow:
			if value > math.MaxInt32 {
				return codeFlowControl
			}
			for _, st := range h.streams {
				if st.sendWindow += int64(value) - h.peerWindow; st.sendWindow > math.MaxInt32 {
					return codeFlowControl
				}
			}
			h.peerWindow = int64(value)
			h.unblock()
		case settingMaxFrame:
			if value < frameBytes || value > 1<<24-1 {
				return codeProtocolError
			}
		}
	}
	h.settled = true
	code := h.respond(frameSettings, flagAck)
	h.admit()
	return code
}

// handleGoAway stops new requests on the connection. Requests on streams above the last
// one that the server handles fail (section 6.8).
func (h *Connection) handleGoAway(next frame, payload []byte) errorCode {
	switch {
	case next.stream != 0:
		return codeProtocolError
	case next.length < 8:
		return codeFrameSize
	}
	last := binary.BigEndian.Uint32(payload) & math.MaxInt32
	code := errorCode(binary.BigEndian.Uint32(payload[4:]))
	gone := fault.New(result.ErrorReceive, "HTTP/2: GOAWAY "+code.String())
	if len(payload) > 8 {
		gone = gone.With("%.60q", payload[8:])
	}
	if code != codeNoError {
		h.goAway = gone
	}
	h.retire()
	for id, st := range h.streams {
		if id > last {
			h.close(st, gone)
		}
	}
	return codeNoError
}

// handleWindowUpdate enlarges a send window (section 6.9).
func (h *Connection) handleWindowUpdate(next frame, payload []byte) errorCode {
	if next.length != 4 {
		return codeFrameSize
	}
	more := int64(binary.BigEndian.Uint32(payload) & math.MaxInt32)
	if next.stream == 0 {
		if h.sendWindow += more; more == 0 {
			return codeProtocolError
		}
		h.unblock()
		if h.sendWindow > math.MaxInt32 {
			return codeFlowControl
		}
		return codeNoError
	}
	st := h.streams[next.stream]
	switch {
	case h.isIdle(next.stream):
		return codeProtocolError
	case st == nil: // it may have ended already
	case more == 0:
		h.cancel(st, codeProtocolError, errWindow)
	default:
		if st.sendWindow += more; st.sendWindow > math.MaxInt32 {
			h.cancel(st, codeFlowControl, errWindow)
		} else if st.blocked {
			h.unblock()
		}
	}
	return codeNoError
}

// handleReset ends a stream that the server has reset (section 6.4).
func (h *Connection) handleReset(next frame, payload []byte) errorCode {
	switch {
	case next.length != 4:
		return codeFrameSize
	case h.isIdle(next.stream):
		return codeProtocolError
	}
	if st := h.streams[next.stream]; st != nil {
		code := errorCode(binary.BigEndian.Uint32(payload))
		// The server has lowered its limit while the request was on its way, and hasn't processed the request (section 8.7).
		st.refused = code == codeRefused && st.id < h.lowered
		h.close(st, fault.New(result.ErrorReceive, "HTTP/2: RST_STREAM "+code.String()))
	}
	return codeNoError
}

// isIdle reports whether the client has never opened the stream (section 5.1), or can't open it.
func (h *Connection) isIdle(id uint32) bool { return id%2 == 0 || id >= h.next }
