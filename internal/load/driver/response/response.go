// Package response reads HTTP/1.1 responses: their header sections, and the length of their bodies. It is strict, since a response that
// can be read in two ways would be counted wrongly.
package response

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/assay-dev/assay/internal/load/driver/fault"
	"github.com/assay-dev/assay/internal/result"
)

const (
	// BufferBytes is the size of a read buffer.
	BufferBytes = 32 << 10
	// MaxHeadBytes limits a header section, and so a trailer section. One that doesn't fit into a read buffer gets a larger one.
	MaxHeadBytes = 64 << 10
	// LongBodyBytes is the remaining length from which a body is discarded unread if the
	// source supports that. After a response with such a body, the first read of the next
	// asks for HeadReadBytes only.
	LongBodyBytes = 8 << 10
	// HeadReadBytes is the size of that read.
	HeadReadBytes = 4 << 10
	// maxKnownHead limits a header section that is kept for comparison with the next.
	maxKnownHead = 1 << 10
	// maxEmptyLines limits the empty lines before a status line.
	maxEmptyLines = 4
	// MaxInterim limits the interim responses (1xx) before a response.
	MaxInterim = 100
)

// buffers holds read buffers. A reader has one only while it reads. So there are no more
// buffers than responses being received, and they stay in the CPU's cache.
var buffers = sync.Pool{New: func() any { return new([BufferBytes]byte) }}

// largeBuffers holds buffers for header sections that don't fit into one of buffers.
var largeBuffers = sync.Pool{New: func() any { return new([MaxHeadBytes]byte) }}

// Discarder is a source that can discard bytes instead of reading them into p, as
// the socket of a task does.
type Discarder interface {
	Discard(p []byte) (int, error)
}

// Reader reads responses from a connection one after the other. It discards
// bodies and keeps their length only. It is stricter than RFC 9112 requires of
// recipients: it rejects whatever can be interpreted in two ways.
type Reader struct {
	source io.Reader
	epoch  time.Time // time that FirstByte and LastByte count from
	// discards is the source if it is a Discarder, otherwise nil.
	discards Discarder
	buffer   []byte // of buffers or largeBuffers; nil between responses
	// buffer[from:to] is what was read from the source and hasn't been used yet.
	from, to int
	// Ended reports whether the source has ended without an error.
	Ended bool
	// long reports whether the previous body was long. excess reports whether more bytes
	// were discarded than belong to the current body.
	long, excess bool
	// preloaded reports whether the beginning of the next response has been read by Preload. Then skipped is the number
	// of bytes of its body that have been discarded.
	preloaded bool
	skipped   int64
	// known is the previous header section and knownText its text, unless fields had to be
	// kept from it. Most servers send the same header section for up to a second.
	known     head
	knownText []byte

	// Limit is the number of bytes from which on a response is read no further: then its length is that of its Content-Length, or -1. It
	// is 0 for none.
	Limit int64
	// Fields holds fields of the current response. It is nil if they aren't needed.
	Fields *Fields
	// The fields below belong to the current response: the number of bytes read, and the
	// times at which the first and the last of them arrived.
	Received  int64
	FirstByte time.Duration
	LastByte  time.Duration
}

// Response holds the result of reading a response.
type Response struct {
	Status int
	// Encoding is the content coding of the body.
	Encoding result.Encoding
	// Body is the number of bytes of the body that were read, without the chunked coding.
	Body int64
	// Persistent reports whether the connection can be used for another request.
	Persistent bool
	// Fault says why the response isn't complete; nil if it is.
	Fault *fault.Fault
	// Excess is the fault if a complete response is followed by further bytes: more body than its Content-Length, or an
	// unrequested response.
	Excess *fault.Fault
}

// Attach makes the reader read from another connection.
func (r *Reader) Attach(source io.Reader, epoch time.Time) {
	r.source, r.epoch = source, epoch
	r.discards, _ = source.(Discarder)
	r.from, r.to, r.Ended = 0, 0, false
}

// Space returns the read buffer.
func (r *Reader) Space() []byte {
	if r.buffer == nil {
		r.buffer = buffers.Get().(*[BufferBytes]byte)[:]
	}
	return r.buffer
}

// Release returns the buffer to the pool between two responses.
func (r *Reader) Release() {
	switch {
	case r.buffer == nil:
		return
	case len(r.buffer) == BufferBytes:
		buffers.Put((*[BufferBytes]byte)(r.buffer))
	default:
		largeBuffers.Put((*[MaxHeadBytes]byte)(r.buffer))
	}
	r.buffer, r.from, r.to = nil, 0, 0
}

// Preload hands over the beginning of the next response: its first bytes, and the number of bytes that followed and have been
// discarded, which must belong to a body with a Content-Length. The times are those at which the first and the last of them arrived.
func (r *Reader) Preload(text []byte, skipped int64, firstByte, lastByte time.Duration) {
	r.preloaded, r.skipped = true, skipped
	r.from, r.to = 0, copy(r.Space(), text)
	r.Received, r.FirstByte, r.LastByte = int64(len(text))+skipped, firstByte, lastByte
}

// Fixed returns the header section of the response that was just read, and its status, the length of its body and its coding. It returns false
// unless the response had a Content-Length, left the connection open and had a header section short enough to be kept.
func (r *Reader) Fixed() (text []byte, got Response, ok bool) {
	h, text := &r.known, r.knownText
	ok = len(text) > 0 && h.length >= 0 && !h.chunked && h.persistent && h.status != 204 && h.status != 304 &&
		int64(len(text))+h.length == r.Received
	return text, Response{Status: h.status, Body: h.length, Encoding: h.encoding}, ok
}

// Read reads one response. head reports whether it responds to a HEAD request and so has no body.
func (r *Reader) Read(head bool) Response {
	if !r.preloaded {
		r.Received, r.FirstByte, r.LastByte = 0, 0, 0
	}
	r.preloaded, r.excess = false, false
	r.Space()
	var resp Response
	for interim := 0; ; interim++ {
		if r.Fields != nil {
			r.Fields.Reset()
		}
		h, failed := r.readHead()
		if failed != nil {
			resp.Fault = failed
			return resp
		}
		if h.status >= 200 {
			r.readBody(&resp, h, head)
			return resp
		}
		// The client never asks to switch protocols.
		switch {
		case h.status == 101:
			resp.Fault = errSwitched
			return resp
		case interim == MaxInterim:
			resp.Fault = errInterim
			return resp
		}
	}
}

// readBody reads what follows the header section (RFC 9112, section 6.3).
func (r *Reader) readBody(resp *Response, h head, noBody bool) {
	resp.Persistent = h.persistent
	resp.Fault, resp.Excess = nil, errExcess
	switch {
	case noBody || h.status == 204 || h.status == 304:
	case h.chunked:
		resp.Body, resp.Fault = r.readChunks()
	case h.length >= 0:
		resp.Excess = Longer
		resp.Body, resp.Fault = r.skip(h.length, 1)
		r.long = h.length >= LongBodyBytes
		if resp.Fault == fault.Closed {
			resp.Fault = Shorter(h.length, resp.Body)
		}
	default:
		resp.Persistent = false
		resp.Body, resp.Fault = r.readToEnd()
	}
	if resp.Fault == errLimit {
		resp.Status, resp.Encoding, resp.Body, resp.Persistent, resp.Fault = h.status, h.encoding, h.length, false, nil
		return
	}
	if resp.Fault != nil {
		return
	}
	resp.Status, resp.Encoding = h.status, h.encoding
	if r.from != r.to || r.excess {
		resp.Fault = resp.Excess
		resp.Persistent = false
	}
}

// readHead reads a status line and a header section.
func (r *Reader) readHead() (head, *fault.Fault) {
	searched := 0
	for empty := 0; ; {
		available := r.buffer[r.from:r.to]
		if known := len(r.knownText); known > 0 && bytes.HasPrefix(available, r.knownText) {
			r.from += known
			return r.known, nil
		}
		if n := leadingEmptyLine(available); n > 0 && empty < maxEmptyLines {
			r.from += n
			empty++
			continue
		}
		if n := min(len(available), len(protocol)); string(available[:n]) != protocol[:n] && string(available) != "\r" {
			return head{}, notHTTP(available)
		}
		if length := headLength(available, searched); length > 0 {
			if length > MaxHeadBytes {
				return head{}, errLongHead
			}
			r.from += length
			h, failed := parseHead(available[:length], r.Fields)
			if failed != nil {
				return head{}, failed
			}
			if r.Fields == nil && length <= maxKnownHead {
				r.known, r.knownText = h, append(r.knownText[:0], available[:length]...)
			}
			return h, nil
		}
		searched = max(0, len(available)-len("\n\r"))
		if failed := r.fill(); failed != nil {
			if failed == fault.Closed && len(available) > 0 {
				failed = errCutHead
			}
			return head{}, failed
		}
	}
}

// skip reads n bytes of a body. It may discard up to beyond further bytes if they have
// arrived, to detect bytes after the end of the response.
func (r *Reader) skip(n, beyond int64) (int64, *fault.Fault) {
	available := int64(r.to - r.from)
	if n <= available && r.skipped == 0 {
		r.from += int(n)
		return n, nil
	}
	r.from = r.to
	read := available + r.skipped
	if r.skipped = 0; read > n {
		read, r.excess = n, true
	}
	for read < n {
		if r.discards != nil && n-read >= LongBodyBytes {
			m, err := r.discards.Discard(r.buffer[:min(n-read+beyond, BufferBytes)])
			if failed := r.noteRead(m, err); failed != nil {
				return read, failed
			}
			if read += int64(m); read > n {
				read, r.excess = n, true
			}
			continue
		}
		if failed := r.fill(); failed != nil {
			return read, failed
		}
		used := min(n-read, int64(r.to-r.from))
		r.from += int(used)
		read += used
	}
	return read, nil
}

// readToEnd reads a body that ends with the connection.
func (r *Reader) readToEnd() (int64, *fault.Fault) {
	read := int64(r.to - r.from)
	for {
		r.from = r.to
		switch failed := r.fill(); failed {
		case nil:
		case fault.Closed:
			return read, nil
		default:
			return read, failed
		}
		read += int64(r.to - r.from)
	}
}

// fill reads more from the source and appends it to the unused part of the buffer.
func (r *Reader) fill() *fault.Fault {
	switch unused := r.to - r.from; {
	case unused == 0:
		r.from, r.to = 0, 0
	case unused == MaxHeadBytes:
		return errLongHead
	case r.to == len(r.buffer):
		if r.from == 0 {
			r.grow()
		} else {
			r.to = copy(r.buffer, r.buffer[r.from:r.to])
			r.from = 0
		}
	}
	if r.Limit > 0 && r.Received >= r.Limit {
		return errLimit
	}
	space := r.buffer[r.to:]
	if r.long && r.Received == 0 && r.discards != nil {
		space = space[:min(HeadReadBytes, len(space))]
	}
	n, err := r.source.Read(space)
	r.to += max(0, n)
	return r.noteRead(n, err)
}

// grow replaces the buffer, which is full, by a large one.
func (r *Reader) grow() {
	large := largeBuffers.Get().(*[MaxHeadBytes]byte)
	copy(large[:], r.buffer)
	buffers.Put((*[BufferBytes]byte)(r.buffer))
	r.buffer = large[:]
}

// noteRead records a read of n bytes, or an error if n is 0.
func (r *Reader) noteRead(n int, err error) *fault.Fault {
	if n > 0 {
		r.LastByte = time.Since(r.epoch)
		if r.Received == 0 {
			r.FirstByte = r.LastByte
		}
		r.Received += int64(n)
		return nil
	}
	r.Ended = errors.Is(err, io.EOF)
	return fault.Broken(err)
}
