// Package fault says why a request failed: in which kind of error, and for which cause. It decides that for a connection that couldn't
// be opened, for one that broke, and for a complete response. What is wrong with a response's text is decided where that is read, in
// packages response and http2.
package fault

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/targettls"
)

// Fault says why a request failed. A nil Fault says that it didn't. A Fault never changes, so that many requests can have the same.
type Fault struct {
	Kind result.ErrorKind
	// Cause is what failed requests are counted by. It has nothing that differs from request to request.
	Cause string
	// Detail says more of one request; empty for nothing.
	Detail string
}

// New returns a fault without a detail.
func New(kind result.ErrorKind, cause string) *Fault { return &Fault{Kind: kind, Cause: cause} }

// With returns the fault with a detail, which is cut and made printable.
func (f *Fault) With(format string, args ...any) *Fault {
	return &Fault{f.Kind, f.Cause, printable.Clipped(fmt.Sprintf(format, args...), result.MaxCauseBytes)}
}

// As returns the fault as one of another kind.
func (f *Fault) As(kind result.ErrorKind) *Fault { return &Fault{kind, f.Cause, f.Detail} }

// Is reports whether the fault is of a kind.
func (f *Fault) Is(kind result.ErrorKind) bool { return f != nil && f.Kind == kind }

// Text returns the cause with the detail.
func (f *Fault) Text() string {
	if f.Detail == "" {
		return f.Cause
	}
	return f.Cause + ": " + f.Detail
}

// Closed is the fault of a connection that the server closed before the response was complete.
var Closed = New(result.ErrorReceive, "connection closed before the response")

// timedOut is the fault of a read or write that took too long. Timeouts has it for users.
var timedOut = New(result.ErrorTimeout, "timeout")

// Timeouts are the faults of requests that took longer than a timeout.
type Timeouts struct {
	connect, handshake, response, incomplete, late *Fault
}

// NewTimeouts returns the faults for a timeout.
func NewTimeouts(timeout time.Duration) *Timeouts {
	within := func(what string) *Fault { return New(result.ErrorTimeout, fmt.Sprintf("%s within %s", what, timeout)) }
	return &Timeouts{
		within("no connection"), within("no TLS handshake"), within("no response"), within("no complete response"),
		New(result.ErrorTimeout, fmt.Sprintf("response complete after more than %s", timeout)),
	}
}

// Connecting returns the fault of a TCP connection that couldn't be opened.
func (t *Timeouts) Connecting(err error) *Fault { return opening(err, result.ErrorConnect, t.connect) }

// Handshaking returns the fault of a TLS handshake that failed.
func (t *Timeouts) Handshaking(err error) *Fault {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return New(result.ErrorTLS, "tls: connection closed in the handshake")
	}
	return opening(err, result.ErrorTLS, t.handshake)
}

func opening(err error, kind result.ErrorKind, timeout *Fault) *Fault {
	var late net.Error
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &late) && late.Timeout() {
		return timeout
	}
	return New(kind, causeOf(err))
}

// Of returns f, unless it is that of a timeout: then it says whether any of the response had arrived.
func (t *Timeouts) Of(f *Fault, received int64) *Fault {
	switch {
	case !f.Is(result.ErrorTimeout):
		return f
	case received == 0:
		return t.response
	}
	return t.incomplete.With("%d bytes received", received)
}

// Broken returns the fault of a connection that broke.
func Broken(err error) *Fault {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return timedOut
	case errors.Is(err, io.EOF):
		return Closed
	case targettls.Alert(err) != "":
		return New(result.ErrorTLS, causeOf(err))
	}
	return New(result.ErrorReceive, causeOf(err))
}

// AfterHandshake returns the fault of a request that failed with f. In TLS 1.3 the client has finished its handshake before the server
// has checked the client's certificate. An alert in response to the first request of a connection therefore counts as a TLS error, a
// later one doesn't.
func AfterHandshake(f *Fault, first bool) *Fault {
	if f.Is(result.ErrorTLS) && !first {
		return f.As(result.ErrorReceive)
	}
	return f
}

// Response is a complete response.
type Response struct {
	Status int
	// Took is the time since the request began.
	Took time.Duration
	// Succeeded reports whether the status is one of success.
	Succeeded bool
	// Length is the length of the body, Wanted the required length or -1 if any is accepted.
	Length, Wanted int64
	// FollowUp reports whether the response leads to another request, Stuck whether it should but can't.
	FollowUp, Stuck bool
}

// Of returns the fault of a response.
func (r *Response) Of(timeout time.Duration, t *Timeouts) *Fault {
	switch {
	case r.Took > timeout:
		return t.late
	case r.FollowUp: // the response to that decides
		return nil
	case r.Stuck:
		return r.status().With("its redirect leads to another server, or is one too many")
	case !r.Succeeded:
		return r.status()
	case r.Wanted >= 0 && r.Wanted != r.Length:
		return New(result.ErrorLength, "body has another length than declared").With("%d bytes instead of %d", r.Length, r.Wanted)
	}
	return nil
}

func (r *Response) status() *Fault {
	return New(result.ErrorStatus, "status "+strconv.Itoa(r.Status))
}
