package driver

import (
	"errors"
	"net"
	"os"
	"time"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/targettls"
	"github.com/assay-dev/assay/load/recorder"
)

// This file decides what kind of error an outcome has. What is wrong with a response's text is decided where that is read.

// classify returns the kind of error of a complete response. next is the request that it leads to, or nil. ok is false if it
// should have led to one but couldn't.
func (l *Load) classify(r *request, got *response, took time.Duration, next *request, ok bool) result.ErrorKind {
	switch {
	case took > l.timeout():
		return result.ErrorTimeout
	case next != nil: // its response decides
		return recorder.NoError
	case !ok || !r.succeeds(got.status):
		return result.ErrorStatus
	case r.length >= 0 && r.length != got.body:
		return result.ErrorLength
	}
	return recorder.NoError
}

// openFault returns the kind of error of a connection that couldn't be opened: ErrorTimeout if err is a timeout and otherwise the
// given kind.
func openFault(err error, otherwise result.ErrorKind) result.ErrorKind {
	var timeout net.Error
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout() {
		return result.ErrorTimeout
	}
	return otherwise
}

// faultOf returns the kind of error of a broken connection.
func faultOf(err error) result.ErrorKind {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return result.ErrorTimeout
	case targettls.Alert(err) != "":
		return result.ErrorTLS
	}
	return result.ErrorReceive
}

// faultAfterHandshake returns the kind of error of a request that failed with fault. In TLS 1.3 the client has finished its
// handshake before the server has checked the client's certificate. An alert in response to the first request therefore counts as a
// TLS error, a later one doesn't.
func faultAfterHandshake(fault result.ErrorKind, first bool) result.ErrorKind {
	if fault == result.ErrorTLS && !first {
		return result.ErrorReceive
	}
	return fault
}

// adjustFault returns the kind of error of a request that failed with fault on the open transport. If that is a TLS error, the
// connection counts as one that couldn't be opened.
func (c *connection) adjustFault(fault result.ErrorKind) result.ErrorKind {
	s, ok := c.transport.(*tlsTransport)
	first := ok && c.requests == 1
	if first && fault == result.ErrorReceive {
		// The server may have closed the connection before the request was written, and its alert is still unread.
		_, err := s.Read(c.reader.space())
		fault = faultOf(err)
	}
	if fault = faultAfterHandshake(fault, first); fault == result.ErrorTLS {
		c.failures++
	}
	return fault
}
