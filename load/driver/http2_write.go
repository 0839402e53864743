package driver

import (
	"encoding/binary"
	"runtime"
	"slices"
)

func appendFrameHead(b []byte, length int, kind, flags byte, stream uint32) []byte {
	b = append(b, byte(length>>16), byte(length>>8), byte(length), kind, flags)
	return binary.BigEndian.AppendUint32(b, stream)
}

func appendSetting(b []byte, setting uint16, value uint32) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint16(b, setting), value)
}

func splitHead(b []byte, begin int) []byte {
	length := len(b) - begin - frameHead
	if length <= frameBytes {
		b[begin], b[begin+1], b[begin+2] = byte(length>>16), byte(length>>8), byte(length)
		return b
	}
	block := append([]byte(nil), b[begin+frameHead:]...)
	flags, id := b[begin+4], binary.BigEndian.Uint32(b[begin+5:])
	b, flags = b[:begin], flags&^flagEndHeaders
	for kind := byte(frameHeaders); len(block) > 0; kind = frameContinuation {
		n := min(len(block), frameBytes)
		if n == len(block) {
			flags |= flagEndHeaders
		}
		b = append(appendFrameHead(b, n, kind, flags, id), block[:n]...)
		block, flags = block[n:], 0
	}
	return b
}

func (h *http2Connection) send(st *http2Stream, r *request) {
	for body := r.text(); len(body) > 0; {
		n := h.queueBody(st, body)
		if n == 0 {
			h.mu.Lock()
			if !h.broken {
				// The server wants no more of it.
				h.reset(st.id, codeCancel)
			}
			h.mu.Unlock()
			break
		}
		body = body[n:]
		if len(body) > 0 {
			h.flush()
		}
	}
	h.flush()
}

func (h *http2Connection) queueBody(st *http2Stream, body []byte) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		n := min(int64(len(body)), frameBytes, h.sendWindow, st.sendWindow)
		switch {
		case st.ended:
			return 0
		case n > 0 && len(h.queue) < queueBytes:
			h.sendWindow -= n
			st.sendWindow -= n
			var flags byte
			if n == int64(len(body)) {
				flags = flagEndStream
			}
			h.queue = append(appendFrameHead(h.queue, int(n), frameData, flags, st.id), body[:n]...)
			st.sent += frameHead + n
			h.marks = append(h.marks, st)
			return int(n)
		}
		st.blocked = true
		h.blocked = append(h.blocked, st)
		h.mu.Unlock()
		h.flush()
		<-st.wake
		h.mu.Lock()
		// It may be another request's before others unblock it.
		st.blocked = false
		h.blocked = slices.DeleteFunc(h.blocked, func(other *http2Stream) bool { return other == st })
	}
}

func (h *http2Connection) unblock() {
	for _, st := range h.blocked {
		st.blocked = false
		st.rouse()
	}
	h.blocked = h.blocked[:0]
}

func (h *http2Connection) flush() {
	h.mu.Lock()
	if h.writing || h.broken || len(h.queue) == 0 {
		h.mu.Unlock()
		return
	}
	h.writing = true
	h.mu.Unlock()
	if h.shared.stage.load.plan.Streams > 1 {
		runtime.Gosched() // others that are about to make a request join in
	}
	h.write()
	h.mu.Lock()
	h.writing = false
	h.flushLater() // what came meanwhile isn't for this request to wait for
	h.mu.Unlock()
}

func (h *http2Connection) flushLater() {
	if !h.writing && !h.broken && len(h.queue) > 0 {
		h.shared.readers.Go(h.flush)
	}
}

func (h *http2Connection) write() {
	h.mu.Lock()
	batch := h.queue
	h.leaving, h.marks = h.marks, h.leaving[:0]
	h.queue, h.replies = h.spare[:0], 0
	now := h.shared.stage.now()
	if needed := now + h.timeout(); h.writeDeadline < needed {
		h.writeDeadline = needed + h.slack()
		_ = h.transport.SetWriteDeadline(h.shared.stage.start.Add(h.writeDeadline)) // it fails only on what is closed
	}
	h.mu.Unlock()
	_, err := h.transport.Write(batch)
	now = h.shared.stage.now()
	h.mu.Lock()
	h.spare = batch
	for _, st := range h.leaving {
		if st != nil {
			st.written = now
		}
	}
	h.leaving = h.leaving[:0]
	if err != nil {
		h.fail(h.faultOf(err))
	}
	h.unblock()
	h.mu.Unlock()
}

func (h *http2Connection) reply(kind, flags byte, stream uint32, numbers ...uint32) {
	h.queue = appendFrameHead(h.queue, 4*len(numbers), kind, flags, stream)
	for _, n := range numbers {
		h.queue = binary.BigEndian.AppendUint32(h.queue, n)
	}
	h.extraSent += int64(frameHead + 4*len(numbers))
}
