package driver

import (
	"time"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/load/recorder"
)

// http2Stream is one request on an HTTP/2 connection and its response. Whoever
// makes requests has one and uses it for all of them. While it is open it
// belongs to its connection, under whose lock it is.
type http2Stream struct {
	id      uint32
	request *request
	// wake has one place: something has changed for who waits.
	wake chan struct{}
	// ended is whether the response is complete, or never will be.
	ended bool
	// blocked is whether who sends the body waits for a change.
	blocked bool

	response response
	// began is when the request began, from the stage's start; the others are when
	// it was written, and when the first and the last byte of the response came.
	began, written, firstByte, lastByte time.Duration
	sent, received                      int64

	// headed is whether the response's head is there, length its Content-Length, -1
	// without; interim counts the interim responses.
	headed  bool
	length  int64
	interim int
	noted   *noted

	// sendWindow is how much of a body may be sent, receiveWindow how much the
	// server may send.
	sendWindow, receiveWindow int64
}

func newHTTP2Stream() *http2Stream { return &http2Stream{wake: make(chan struct{}, 1)} }

// begin makes the stream one of another request, that isn't sent yet.
func (st *http2Stream) begin(r *request, begin time.Duration, n *noted) {
	*st = http2Stream{
		request: r, wake: st.wake, began: begin, length: -1, noted: n, receiveWindow: receiveWindow,
		response: response{fault: recorder.NoError},
	}
	if n != nil {
		*n = noted{cookies: n.cookies[:0], challenges: n.challenges[:0]}
	}
}

// rouse tells who waits that something has changed.
func (st *http2Stream) rouse() {
	select {
	case st.wake <- struct{}{}:
	default:
	}
}

// headOf takes in a header section of the stream. It returns the kind of error
// of one that can't stand (RFC 9113, section 8.1).
func (st *http2Stream) takeHead(h *http2Head, last bool) result.ErrorKind {
	switch {
	case st.headed:
		// The trailer section: it ends the response, and has no pseudo-fields.
		if h.status != 0 || !last {
			return result.ErrorException
		}
		return recorder.NoError
	case h.status == 0:
		return result.ErrorException
	case h.status < 200:
		// No switch of protocols was asked for, and there is none in HTTP/2.
		if st.interim++; h.status == 101 || st.interim > maxInterim || last {
			return result.ErrorException
		}
		if st.noted != nil {
			*st.noted = noted{cookies: st.noted.cookies[:0], challenges: st.noted.challenges[:0]}
		}
		return recorder.NoError
	}
	st.headed, st.response.status, st.length = true, h.status, h.length
	return recorder.NoError
}

// noBody is whether the response has none, whatever it says.
func (st *http2Stream) noBody() bool {
	return st.request.noBody || st.response.status == 204 || st.response.status == 304
}

// takeBody takes in so many bytes of the body. It returns the kind of error of
// a body that shouldn't be, or is longer than promised.
func (st *http2Stream) takeBody(n int64) result.ErrorKind {
	st.response.body += n
	switch {
	case n > 0 && st.noBody():
		return result.ErrorException
	case st.length >= 0 && !st.noBody() && st.response.body > st.length:
		return result.ErrorLength
	}
	return recorder.NoError
}

// complete is the kind of error of a response that has ended now.
func (st *http2Stream) complete() result.ErrorKind {
	switch {
	case !st.headed:
		return result.ErrorException
	case st.length >= 0 && !st.noBody() && st.response.body != st.length:
		return result.ErrorLength
	}
	return recorder.NoError
}
