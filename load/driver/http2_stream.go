package driver

import (
	"time"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/load/recorder"
)

// http2Stream is one request on an HTTP/2 connection and its response. A connection of
// the stage reuses its stream for all requests. While the stream is open, the HTTP/2
// connection's mutex guards it.
type http2Stream struct {
	id      uint32
	request *request
	// wake has a buffer of one and signals a change to the goroutine that waits on the stream.
	wake chan struct{}
	// ended reports whether the response is complete or has failed.
	ended bool
	// blocked reports whether the sender of the body waits for a larger window or a shorter queue.
	blocked bool

	response response
	// began is the time at which the request began, written when it was written, firstByte
	// and lastByte when the first and the last byte of the response arrived. All count from
	// the stage's start.
	began, written, firstByte, lastByte time.Duration
	sent, received                      int64

	// hasHead reports whether the final response's header section has arrived. length is its
	// Content-Length, or -1 if it has none. interim counts interim responses.
	hasHead bool
	length  int64
	interim int
	fields  *responseFields

	// sendWindow is the number of body bytes that may be sent, receiveWindow the number that
	// the server may send.
	sendWindow, receiveWindow int64
}

func newHTTP2Stream() *http2Stream { return &http2Stream{wake: make(chan struct{}, 1)} }

// begin resets the stream for another request, which isn't sent yet.
func (st *http2Stream) begin(r *request, begin time.Duration, n *responseFields) {
	*st = http2Stream{
		request: r, wake: st.wake, began: begin, length: -1, fields: n, receiveWindow: receiveWindow,
		response: response{fault: recorder.NoError},
	}
	if n != nil {
		*n = responseFields{cookies: n.cookies[:0], challenges: n.challenges[:0]}
	}
}

// notify wakes the goroutine that waits on the stream.
func (st *http2Stream) notify() {
	select {
	case st.wake <- struct{}{}:
	default:
	}
}

// handleHead handles a header section of the stream. It returns the kind of error of a
// malformed one (RFC 9113, section 8.1).
func (st *http2Stream) handleHead(h *http2Head, last bool) result.ErrorKind {
	switch {
	case st.hasHead:
		// A trailer section ends the response and has no pseudo-header fields.
		if h.status != 0 || !last {
			return result.ErrorException
		}
		return recorder.NoError
	case h.status == 0:
		return result.ErrorException
	case h.status < 200:
		// The client never asks to switch protocols, and HTTP/2 has no 101 responses.
		if st.interim++; h.status == 101 || st.interim > maxInterim || last {
			return result.ErrorException
		}
		if st.fields != nil {
			*st.fields = responseFields{cookies: st.fields.cookies[:0], challenges: st.fields.challenges[:0]}
		}
		return recorder.NoError
	}
	st.hasHead, st.response.status, st.length = true, h.status, h.length
	return recorder.NoError
}

// noBody reports whether the response has no body, whatever its fields say.
func (st *http2Stream) noBody() bool {
	return st.request.noBody || st.response.status == 204 || st.response.status == 304
}

// handleBody counts n bytes of the body. It returns an error kind if there must be no
// body or it exceeds its Content-Length.
func (st *http2Stream) handleBody(n int64) result.ErrorKind {
	st.response.body += n
	switch {
	case n > 0 && st.noBody():
		return result.ErrorException
	case st.length >= 0 && !st.noBody() && st.response.body > st.length:
		return result.ErrorLength
	}
	return recorder.NoError
}

// complete returns the error kind of a response that ends now.
func (st *http2Stream) complete() result.ErrorKind {
	switch {
	case !st.hasHead:
		return result.ErrorException
	case st.length >= 0 && !st.noBody() && st.response.body != st.length:
		return result.ErrorLength
	}
	return recorder.NoError
}
