package http2

import (
	"encoding/binary"
	"runtime"
	"slices"

	"github.com/assay-dev/assay/internal/load/driver/request"
)

func appendFrameHeader(b []byte, length int, kind, flags byte, stream uint32) []byte {
	b = append(b, byte(length>>16), byte(length>>8), byte(length), kind, flags)
	return binary.BigEndian.AppendUint32(b, stream)
}

func appendSetting(b []byte, setting uint16, value uint32) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint16(b, setting), value)
}

// splitHeaders sets the length of the HEADERS frame that starts at begin and ends with b.
// It splits a header section that is too long for one frame into CONTINUATION frames.
func splitHeaders(b []byte, begin int) []byte {
	length := len(b) - begin - frameHeaderBytes
	if length <= frameBytes {
		b[begin], b[begin+1], b[begin+2] = byte(length>>16), byte(length>>8), byte(length)
		return b
	}
	block := append([]byte(nil), b[begin+frameHeaderBytes:]...)
	flags, id := b[begin+4], binary.BigEndian.Uint32(b[begin+5:])
	b, flags = b[:begin], flags&^flagEndHeaders
	for kind := byte(frameHeaders); len(block) > 0; kind = frameContinuation {
		n := min(len(block), frameBytes)
		if n == len(block) {
			flags |= flagEndHeaders
		}
		b = append(appendFrameHeader(b, n, kind, flags, id), block[:n]...)
		block, flags = block[n:], 0
	}
	return b
}

// send writes the queue, and the body of the stream's request as flow control permits.
func (h *Connection) send(st *Stream, r *request.Request) {
	for body := r.Body(); len(body) > 0; {
		n := h.queueBody(st, body)
		if n == 0 {
			h.mu.Lock()
			if !h.broken {
				// The server doesn't want the rest of the body.
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

// queueBody queues as much of a body as the windows and the queue permit and returns its
// length. It waits if nothing fits, and returns 0 if the stream has ended.
func (h *Connection) queueBody(st *Stream, body []byte) int {
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
			h.queue = append(appendFrameHeader(h.queue, int(n), frameData, flags, st.id), body[:n]...)
			st.Sent += frameHeaderBytes + n
			h.queuedStreams = append(h.queuedStreams, st)
			return int(n)
		}
		st.blocked = true
		h.blocked = append(h.blocked, st)
		h.mu.Unlock()
		h.flush()
		<-st.wake
		h.mu.Lock()
		// The stream may belong to another request before unblock runs.
		st.blocked = false
		h.blocked = slices.DeleteFunc(h.blocked, func(other *Stream) bool { return other == st })
	}
}

// unblock wakes the goroutines that wait to send a body. h.mu must be held.
func (h *Connection) unblock() {
	for _, st := range h.blocked {
		st.blocked = false
		st.notify()
	}
	h.blocked = h.blocked[:0]
}

// flush writes the queue, unless another goroutine is already writing.
func (h *Connection) flush() {
	h.mu.Lock()
	if h.writing || h.broken || len(h.queue) == 0 {
		h.mu.Unlock()
		return
	}
	h.writing = true
	h.mu.Unlock()
	if h.Streams > 1 {
		runtime.Gosched() // lets other streams that are about to send add their requests
	}
	h.write()
	h.mu.Lock()
	h.writing = false
	h.flushLater() // this request need not wait for what was queued meanwhile
	h.mu.Unlock()
}

// flushLater writes the queue in another goroutine. h.mu must be held.
func (h *Connection) flushLater() {
	if !h.writing && !h.broken && len(h.queue) > 0 {
		h.Go(h.flush)
	}
}

// write writes the queue once.
func (h *Connection) write() {
	h.mu.Lock()
	batch := h.queue
	h.writingStreams, h.queuedStreams = h.queuedStreams, h.writingStreams[:0]
	h.queue, h.replies = h.spare[:0], 0
	now := h.now()
	if needed := now + h.Timeout; h.writeDeadline < needed {
		h.writeDeadline = needed + h.Slack
		_ = h.Transport.SetWriteDeadline(h.Start.Add(h.writeDeadline)) // fails only on a closed connection
	}
	h.mu.Unlock()
	_, err := h.Transport.Write(batch)
	now = h.now()
	h.mu.Lock()
	h.spare = batch
	for _, st := range h.writingStreams {
		if st != nil {
			st.Written = now
		}
	}
	h.writingStreams = h.writingStreams[:0]
	if err != nil {
		h.fail(h.faultOf(err))
	}
	h.unblock()
	h.mu.Unlock()
}

// reply queues a frame whose payload consists of numbers. h.mu must be held.
func (h *Connection) reply(kind, flags byte, stream uint32, numbers ...uint32) {
	h.queue = appendFrameHeader(h.queue, 4*len(numbers), kind, flags, stream)
	for _, n := range numbers {
		h.queue = binary.BigEndian.AppendUint32(h.queue, n)
	}
	h.extraSent += int64(frameHeaderBytes + 4*len(numbers))
}
