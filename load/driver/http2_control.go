package driver

import (
	"encoding/binary"
	"math"

	"github.com/assay-dev/assay/internal/result"
)

func (h *http2Connection) answer(kind, flags byte, numbers ...uint32) errorCode {
	if h.replies++; h.replies > mostReplies {
		return codeCalm
	}
	h.reply(kind, flags, 0, numbers...)
	return codeNone
}

func (h *http2Connection) takeSettings(next frame, payload []byte) errorCode {
	switch {
	case next.stream != 0:
		return codeProtocol
	case next.has(flagAck) && next.length > 0 || next.length%6 != 0:
		return codeSize
	case next.has(flagAck):
		return codeNone
	}
	for ; len(payload) > 0; payload = payload[6:] {
		value := binary.BigEndian.Uint32(payload[2:])
		switch binary.BigEndian.Uint16(payload) {
		case settingTable:
			h.fields.limit(value)
		case settingPush:
			if value != 0 {
				return codeProtocol
			}
		case settingStreams:
			if int64(value) < int64(h.shared.stage.load.plan.Streams) {
				// Fewer at a time would be another load than was asked for.
				h.fail(result.ErrorException)
				return codeNone
			}
		case settingWindow:
			if value > math.MaxInt32 {
				return codeFlow
			}
			for _, st := range h.streams {
				if st.sendWindow += int64(value) - h.peerWindow; st.sendWindow > math.MaxInt32 {
					return codeFlow
				}
			}
			h.peerWindow = int64(value)
			h.unblock()
		case settingFrame:
			if value < frameBytes || value > 1<<24-1 {
				return codeProtocol
			}
		}
	}
	return h.answer(frameSettings, flagAck)
}

func (h *http2Connection) takeGoAway(next frame, payload []byte) errorCode {
	switch {
	case next.stream != 0:
		return codeProtocol
	case next.length < 8:
		return codeSize
	}
	last := binary.BigEndian.Uint32(payload) & math.MaxInt32
	h.retire()
	for id, st := range h.streams {
		if id > last {
			h.close(st, result.ErrorReceive)
		}
	}
	return codeNone
}

func (h *http2Connection) takeWindow(next frame, payload []byte) errorCode {
	if next.length != 4 {
		return codeSize
	}
	more := int64(binary.BigEndian.Uint32(payload) & math.MaxInt32)
	if next.stream == 0 {
		if h.sendWindow += more; more == 0 {
			return codeProtocol
		}
		h.unblock()
		if h.sendWindow > math.MaxInt32 {
			return codeFlow
		}
		return codeNone
	}
	st := h.streams[next.stream]
	switch {
	case h.isIdle(next.stream):
		return codeProtocol
	case st == nil: // it may have ended meanwhile
	case more == 0:
		h.giveUp(st, codeProtocol, result.ErrorException)
	default:
		if st.sendWindow += more; st.sendWindow > math.MaxInt32 {
			h.giveUp(st, codeFlow, result.ErrorException)
		} else if st.blocked {
			h.unblock()
		}
	}
	return codeNone
}

func (h *http2Connection) takeReset(next frame) errorCode {
	switch {
	case next.length != 4:
		return codeSize
	case h.isIdle(next.stream):
		return codeProtocol
	}
	if st := h.streams[next.stream]; st != nil {
		h.close(st, result.ErrorReceive)
	}
	return codeNone
}

func (h *http2Connection) isIdle(id uint32) bool { return id%2 == 0 || id >= h.next }
