// Package fault decides what kind of error an outcome has: that of a connection that couldn't be opened, of one that broke, or of a
// complete response. What is wrong with a response's text is decided where that is read, in packages response and http2.
package fault

import (
	"errors"
	"net"
	"os"
	"time"

	"github.com/assay-dev/assay/internal/load/recorder"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/targettls"
)

// Opening returns the kind of error of a connection that couldn't be opened: ErrorTimeout if err is a timeout and otherwise the
// given kind.
func Opening(err error, otherwise result.ErrorKind) result.ErrorKind {
	var timeout net.Error
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout() {
		return result.ErrorTimeout
	}
	return otherwise
}

// Broken returns the kind of error of a connection that broke.
func Broken(err error) result.ErrorKind {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return result.ErrorTimeout
	case targettls.Alert(err) != "":
		return result.ErrorTLS
	}
	return result.ErrorReceive
}

// AfterHandshake returns the kind of error of a request that failed with the given kind. In TLS 1.3 the client has finished its
// handshake before the server has checked the client's certificate. An alert in response to the first request of a connection
// therefore counts as a TLS error, a later one doesn't.
func AfterHandshake(kind result.ErrorKind, first bool) result.ErrorKind {
	if kind == result.ErrorTLS && !first {
		return result.ErrorReceive
	}
	return kind
}

// Response is a complete response.
type Response struct {
	// Took is the time since the request began.
	Took time.Duration
	// Succeeded reports whether the status is one of success.
	Succeeded bool
	// Length is the length of the body, Wanted the required length or -1 if any is accepted.
	Length, Wanted int64
	// FollowUp reports whether the response leads to another request, Stuck whether it should but can't.
	FollowUp, Stuck bool
}

// Of returns the kind of error of a response, or NoError.
func (r Response) Of(timeout time.Duration) result.ErrorKind {
	switch {
	case r.Took > timeout:
		return result.ErrorTimeout
	case r.FollowUp: // the response to that decides
		return recorder.NoError
	case r.Stuck || !r.Succeeded:
		return result.ErrorStatus
	case r.Wanted >= 0 && r.Wanted != r.Length:
		return result.ErrorLength
	}
	return recorder.NoError
}
