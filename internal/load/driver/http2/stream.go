package http2

import (
	"time"

	"github.com/assay-dev/assay/internal/load/driver/fault"
	"github.com/assay-dev/assay/internal/load/driver/request"
	"github.com/assay-dev/assay/internal/load/driver/response"
)

// Stream is one request on an HTTP/2 connection and its response. A connection of
// the stage reuses its stream for all requests. While the stream is open, the HTTP/2
// connection's mutex guards it.
type Stream struct {
	id      uint32
	request *request.Request
	// wake has a buffer of one and signals a change to the goroutine that waits on the stream.
	wake chan struct{}
	// ended reports whether the response is complete or has failed.
	ended bool
	// extra are the extra fields of a request that waits for the server to allow another stream. refused reports whether the server
	// has refused the request because it had lowered its limit meanwhile, so that the request has to wait.
	extra   []byte
	refused bool
	// blocked reports whether the sender of the body waits for a larger window or a shorter queue.
	blocked bool

	Response response.Response
	// began is the time at which the request began, written when it was written, FirstByte
	// and LastByte when the first and the last byte of the response arrived. All count from
	// the stage's start.
	began, Written, FirstByte, LastByte time.Duration
	Sent, Received                      int64
	// Limit is the number of bytes of a body from which on it is read no further: then its length is that of its Content-Length, or
	// -1. It is 0 for none.
	Limit int64

	// hasHead reports whether the final response's header section has arrived. length is its
	// Content-Length, or -1 if it has none. interim counts interim responses.
	hasHead bool
	length  int64
	interim int
	fields  *response.Fields

	// sendWindow is the number of body bytes that may be sent, receiveWindow the number that
	// the server may send.
	sendWindow, receiveWindow int64
}

// NewStream returns a stream that carries no request yet.
func NewStream() *Stream { return &Stream{wake: make(chan struct{}, 1)} }

// begin resets the stream for another request, which isn't sent yet.
func (st *Stream) begin(r *request.Request, begin time.Duration, n *response.Fields) {
	*st = Stream{
		request: r, wake: st.wake, Limit: st.Limit, began: begin, length: -1, fields: n, receiveWindow: receiveWindow,
	}
	if n != nil {
		n.Reset()
	}
}

// notify wakes the goroutine that waits on the stream.
func (st *Stream) notify() {
	select {
	case st.wake <- struct{}{}:
	default:
	}
}

// handleHead handles a header section of the stream. It returns the fault of a malformed one (RFC 9113, section 8.1).
func (st *Stream) handleHead(h *responseHead, last bool) *fault.Fault {
	switch {
	case st.hasHead:
		// A trailer section ends the response and has no pseudo-header fields.
		if h.status != 0 || !last {
			return errTrailer
		}
		return nil
	case h.status == 0:
		return errStatus
	case h.status < 200:
		// The client never asks to switch protocols, and HTTP/2 has no 101 responses.
		if st.interim++; h.status == 101 || st.interim > response.MaxInterim || last {
			return errInterim.With("status %d", h.status)
		}
		if st.fields != nil {
			st.fields.Reset()
		}
		return nil
	}
	st.hasHead, st.Response.Status, st.Response.Encoding, st.length = true, h.status, h.encoding, h.length
	return nil
}

// noBody reports whether the response has no body, whatever its fields say.
func (st *Stream) noBody() bool {
	return st.request.NoBody || st.Response.Status == 204 || st.Response.Status == 304
}

// handleBody counts n bytes of the body. It returns a fault if there must be no body or it exceeds its Content-Length.
func (st *Stream) handleBody(n int64) *fault.Fault {
	st.Response.Body += n
	switch {
	case n > 0 && st.noBody():
		return errBody
	case st.length >= 0 && !st.noBody() && st.Response.Body > st.length:
		return response.Longer
	}
	return nil
}

// complete returns the fault of a response that ends now.
func (st *Stream) complete() *fault.Fault {
	switch {
	case !st.hasHead:
		return errNoHead
	case st.length >= 0 && !st.noBody() && st.Response.Body != st.length:
		return response.Shorter(st.length, st.Response.Body)
	}
	return nil
}
