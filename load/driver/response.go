package driver

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/load/recorder"
)

const (
	// bufferBytes is the size of a read buffer. A response's header section must fit in it.
	bufferBytes = 32 << 10
	// longBodyBytes is the remaining length from which a body is discarded unread if the
	// source supports that. After a response with such a body, the first read of the next
	// asks for headReadBytes only.
	longBodyBytes = 8 << 10
	headReadBytes = 4 << 10
	// maxKnownHead limits a header section that is kept for comparison with the next.
	maxKnownHead = 1 << 10
	// maxInterim limits the interim responses (1xx) before a response.
	maxInterim = 100
)

// buffers holds read buffers. A reader has one only while it reads. So there are no more
// buffers than responses being received, and they stay in the CPU's cache.
var buffers = sync.Pool{New: func() any { return new([bufferBytes]byte) }}

// discarder is a source that can discard bytes instead of reading them into p, as
// socket.discard does.
type discarder interface {
	discard(p []byte) (int, error)
}

// responseReader reads responses from a connection one after the other. It discards
// bodies and keeps their length only. It is stricter than RFC 9112 requires of
// recipients: it rejects whatever can be interpreted in two ways.
type responseReader struct {
	source io.Reader
	epoch  time.Time // time that firstByte and lastByte count from
	// discards is the source if it is a discarder, otherwise nil.
	discards discarder
	buffer   *[bufferBytes]byte // nil between responses
	// buffer[from:to] is what was read from the source and hasn't been used yet.
	from, to int
	// ended reports whether the source has ended without an error.
	ended bool
	// long reports whether the previous body was long. excess reports whether more bytes
	// were discarded than belong to the current body.
	long, excess bool
	// preloaded reports whether the beginning of the next response has been read by preload. Then skipped is the number
	// of bytes of its body that have been discarded.
	preloaded bool
	skipped   int64
	// known is the previous header section and knownText its text, unless fields had to be
	// kept from it. Most servers send the same header section for up to a second.
	known     head
	knownText []byte

	// fields holds fields of the current response. It is nil if they aren't needed.
	fields *responseFields
	// The fields below belong to the current response: the number of bytes read, and the
	// times at which the first and the last of them arrived.
	received  int64
	firstByte time.Duration
	lastByte  time.Duration
}

// response holds the result of reading a response.
type response struct {
	status int
	// body is the number of bytes of the body that were read, without the chunked coding.
	body int64
	// persistent reports whether the connection can be used for another request.
	persistent bool
	// fault is the kind of error, or NoError if the response is complete.
	fault result.ErrorKind
	// excess is the kind of error if a complete response is followed by further bytes: more
	// body than its Content-Length, or an unrequested response.
	excess result.ErrorKind
}

// attach makes the reader read from another connection.
func (r *responseReader) attach(source io.Reader, epoch time.Time) {
	r.source, r.epoch = source, epoch
	r.discards, _ = source.(discarder)
	r.from, r.to, r.ended = 0, 0, false
}

// space returns the read buffer.
func (r *responseReader) space() []byte {
	if r.buffer == nil {
		r.buffer = buffers.Get().(*[bufferBytes]byte)
	}
	return r.buffer[:]
}

// release returns the buffer to the pool between two responses.
func (r *responseReader) release() {
	if r.buffer != nil {
		buffers.Put(r.buffer)
		r.buffer = nil
	}
}

// preload hands over the beginning of the next response: its first bytes, and the number of bytes that followed and have been
// discarded, which must belong to a body with a Content-Length. The times are those at which the first and the last of them arrived.
func (r *responseReader) preload(text []byte, skipped int64, firstByte, lastByte time.Duration) {
	r.preloaded, r.skipped = true, skipped
	r.from, r.to = 0, copy(r.space(), text)
	r.received, r.firstByte, r.lastByte = int64(len(text))+skipped, firstByte, lastByte
}

// read reads one response. head reports whether it responds to a HEAD request and so has no body.
func (r *responseReader) read(head bool) response {
	if !r.preloaded {
		r.received, r.firstByte, r.lastByte = 0, 0, 0
	}
	r.preloaded, r.excess = false, false
	r.space()
	var resp response
	for interim := 0; ; interim++ {
		if r.fields != nil {
			*r.fields = responseFields{cookies: r.fields.cookies[:0], challenges: r.fields.challenges[:0]}
		}
		h, fault := r.readHead()
		if fault != recorder.NoError {
			resp.fault = fault
			return resp
		}
		if h.status >= 200 {
			r.readBody(&resp, h, head)
			return resp
		}
		// The client never asks to switch protocols.
		if h.status == 101 || interim == maxInterim {
			resp.fault = result.ErrorException
			return resp
		}
	}
}

// readBody reads what follows the header section (RFC 9112, section 6.3).
func (r *responseReader) readBody(resp *response, h head, noBody bool) {
	resp.persistent = h.persistent
	resp.fault, resp.excess = recorder.NoError, result.ErrorException
	switch {
	case noBody || h.status == 204 || h.status == 304:
	case h.chunked:
		resp.body, resp.fault = r.readChunks()
	case h.length >= 0:
		resp.excess = result.ErrorLength
		resp.body, resp.fault = r.skip(h.length, 1)
		r.long = h.length >= longBodyBytes
		if resp.fault == result.ErrorReceive && r.ended {
			resp.fault = result.ErrorLength
		}
	default:
		resp.persistent = false
		resp.body, resp.fault = r.readToEnd()
	}
	if resp.fault != recorder.NoError {
		return
	}
	resp.status = h.status
	if r.from != r.to || r.excess {
		resp.fault = resp.excess
		resp.persistent = false
	}
}

// readHead reads a status line and a header section.
func (r *responseReader) readHead() (head, result.ErrorKind) {
	searched := 0
	for {
		available := r.buffer[r.from:r.to]
		if known := len(r.knownText); known > 0 && bytes.HasPrefix(available, r.knownText) {
			r.from += known
			return r.known, recorder.NoError
		}
		if n := min(len(available), len(protocol)); string(available[:n]) != protocol[:n] {
			return head{}, result.ErrorException
		}
		if i := bytes.Index(available[searched:], headEnd); i >= 0 {
			length := searched + i + len(headEnd)
			r.from += length
			h, ok := parseHead(available[:length], r.fields)
			if !ok {
				return head{}, result.ErrorException
			}
			if r.fields == nil && length <= maxKnownHead {
				r.known, r.knownText = h, append(r.knownText[:0], available[:length]...)
			}
			return h, recorder.NoError
		}
		searched = max(0, len(available)-len(headEnd)+1)
		if fault := r.fill(); fault != recorder.NoError {
			return head{}, fault
		}
	}
}

// skip reads n bytes of a body. It may discard up to beyond further bytes if they have
// arrived, to detect bytes after the end of the response.
func (r *responseReader) skip(n, beyond int64) (int64, result.ErrorKind) {
	available := int64(r.to - r.from)
	if n <= available && r.skipped == 0 {
		r.from += int(n)
		return n, recorder.NoError
	}
	r.from = r.to
	read := available + r.skipped
	if r.skipped = 0; read > n {
		read, r.excess = n, true
	}
	for read < n {
		if r.discards != nil && n-read >= longBodyBytes {
			m, err := r.discards.discard(r.buffer[:min(n-read+beyond, bufferBytes)])
			if fault := r.noteRead(m, err); fault != recorder.NoError {
				return read, fault
			}
			if read += int64(m); read > n {
				read, r.excess = n, true
			}
			continue
		}
		if fault := r.fill(); fault != recorder.NoError {
			return read, fault
		}
		used := min(n-read, int64(r.to-r.from))
		r.from += int(used)
		read += used
	}
	return read, recorder.NoError
}

// readToEnd reads a body that ends with the connection.
func (r *responseReader) readToEnd() (int64, result.ErrorKind) {
	read := int64(r.to - r.from)
	for {
		r.from = r.to
		fault := r.fill()
		if fault == result.ErrorReceive && r.ended {
			return read, recorder.NoError
		}
		if fault != recorder.NoError {
			return read, fault
		}
		read += int64(r.to - r.from)
	}
}

// fill reads more from the source and appends it to the unused part of the buffer.
func (r *responseReader) fill() result.ErrorKind {
	switch {
	case r.from == r.to:
		r.from, r.to = 0, 0
	case r.to == len(r.buffer):
		if r.from == 0 {
			return result.ErrorException // longer than the limit for a header section or line
		}
		r.to = copy(r.buffer[:], r.buffer[r.from:r.to])
		r.from = 0
	}
	space := r.buffer[r.to:]
	if r.long && r.received == 0 && r.discards != nil {
		space = space[:min(headReadBytes, len(space))]
	}
	n, err := r.source.Read(space)
	r.to += max(0, n)
	return r.noteRead(n, err)
}

// noteRead records a read of n bytes, or an error if n is 0.
func (r *responseReader) noteRead(n int, err error) result.ErrorKind {
	if n > 0 {
		r.lastByte = time.Since(r.epoch)
		if r.received == 0 {
			r.firstByte = r.lastByte
		}
		r.received += int64(n)
		return recorder.NoError
	}
	r.ended = errors.Is(err, io.EOF)
	return faultOf(err)
}
