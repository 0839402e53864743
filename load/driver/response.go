package driver

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/targettls"
	"github.com/assay-dev/assay/load/recorder"
)

const (
	// bufferBytes is the size of a read buffer. The head of a response must fit in
	// it.
	bufferBytes = 32 << 10
	// longBody is how much of a body is left for it to be discarded unread, where
	// the source can. After a response that had more, only headBytes of the next are
	// asked for at first.
	longBody  = 8 << 10
	headBytes = 4 << 10
	// knownBytes bounds a head that is kept to be compared with the next.
	knownBytes = 1 << 10
	// maxInterim bounds the interim responses (1xx) before a response.
	maxInterim = 100
)

// buffers are read buffers. A reader has one only while it reads, so that there
// are as many as responses that have begun to come, and they stay in the CPU's
// cache.
var buffers = sync.Pool{New: func() any { return new([bufferBytes]byte) }}

// discarder is a source that can throw away what it would read, as
// socket.discard does.
type discarder interface {
	discard(p []byte) (int, error)
}

// responseReader reads responses from a connection, one after the other. It
// keeps nothing of a body but its length. It is stricter than RFC 9112 has
// recipients be: what could be read in two ways isn't HTTP to it.
type responseReader struct {
	source io.Reader
	epoch  time.Time // stamps are durations since
	// discards is the source if it can, else nil.
	discards discarder
	buffer   *[bufferBytes]byte // nil between responses
	// buffer[from:to] is what was read from the source and not yet used.
	from, to int
	// ended is whether the source ended, as opposed to broke.
	ended bool
	// long is whether the last body was long, excess whether more was discarded than
	// the current one has.
	long, excess bool
	// known is the last head and knownText its text, where nothing was noted of it.
	// Most servers write the same one again and again for a second.
	known     head
	knownText []byte

	// noted are fields of the current response; nil where they don't matter.
	noted *noted
	// Of the current response: the bytes read, and when the first and the last
	// of them came.
	received  int64
	firstByte time.Duration
	lastByte  time.Duration
}

// response is what is known of a response.
type response struct {
	status int
	// body is the number of bytes of the body that were read, chunk headers left out.
	body int64
	// persistent is whether the connection can carry another request.
	persistent bool
	// fault says what was wrong; NoError when the response is complete.
	fault result.ErrorKind
	// excess is the fault of a complete response that is followed by bytes that
	// belong to none: more body than was promised, or what nobody asked for.
	excess result.ErrorKind
}

// attach makes the reader read from another connection.
func (r *responseReader) attach(source io.Reader, epoch time.Time) {
	r.source, r.epoch = source, epoch
	r.discards, _ = source.(discarder)
	r.from, r.to, r.ended = 0, 0, false
}

// space is where to read.
func (r *responseReader) space() []byte {
	if r.buffer == nil {
		r.buffer = buffers.Get().(*[bufferBytes]byte)
	}
	return r.buffer[:]
}

// rest gives the buffer back between two responses.
func (r *responseReader) rest() {
	if r.buffer != nil {
		buffers.Put(r.buffer)
		r.buffer = nil
	}
}

// read reads one response. To a HEAD request there is no body.
func (r *responseReader) read(head bool) response {
	r.received, r.firstByte, r.lastByte, r.excess = 0, 0, 0, false
	r.space()
	var resp response
	for interim := 0; ; interim++ {
		if r.noted != nil {
			*r.noted = noted{cookies: r.noted.cookies[:0], challenges: r.noted.challenges[:0]}
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
		// No switch of protocols was asked for.
		if h.status == 101 || interim == maxInterim {
			resp.fault = result.ErrorException
			return resp
		}
	}
}

// readBody reads what follows the head (RFC 9112, section 6.3).
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
		r.long = h.length >= longBody
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

// readHead reads a status line and header section.
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
			h, ok := parseHead(available[:length], r.noted)
			if !ok {
				return head{}, result.ErrorException
			}
			if r.noted == nil && length <= knownBytes {
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

// skip reads n bytes of a body. At most beyond bytes more are discarded, when they
// are there: none may be after the last.
func (r *responseReader) skip(n, beyond int64) (int64, result.ErrorKind) {
	available := int64(r.to - r.from)
	if n <= available {
		r.from += int(n)
		return n, recorder.NoError
	}
	r.from = r.to
	read := available
	for read < n {
		if r.discards != nil && n-read >= longBody {
			m, err := r.discards.discard(r.buffer[:min(n-read+beyond, bufferBytes)])
			if fault := r.take(m, err); fault != recorder.NoError {
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

// fill reads more from the source, behind what isn't used yet.
func (r *responseReader) fill() result.ErrorKind {
	switch {
	case r.from == r.to:
		r.from, r.to = 0, 0
	case r.to == len(r.buffer):
		if r.from == 0 {
			return result.ErrorException // longer than any head or line may be
		}
		r.to = copy(r.buffer[:], r.buffer[r.from:r.to])
		r.from = 0
	}
	space := r.buffer[r.to:]
	if r.long && r.received == 0 && r.discards != nil {
		space = space[:min(headBytes, len(space))]
	}
	n, err := r.source.Read(space)
	r.to += max(0, n)
	return r.take(n, err)
}

// take takes in that n bytes came, or none for an error.
func (r *responseReader) take(n int, err error) result.ErrorKind {
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

// faultOf is the kind of error of a connection that broke.
func faultOf(err error) result.ErrorKind {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return result.ErrorTimeout
	case targettls.Alert(err) != "":
		return result.ErrorTLS
	}
	return result.ErrorReceive
}
