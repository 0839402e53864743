package driver

import (
	"context"
	"errors"
	"net"
	"os"
	"time"

	"github.com/assay-dev/assay/internal/result"
)

const (
	// minBackoff and maxBackoff limit the delay after a failure to open a connection. The delay
	// doubles with each consecutive failure. Without it, a server that refuses connections would
	// get a flood of attempts, and a load with a number of requests would be over in no time.
	minBackoff = 10 * time.Millisecond
	maxBackoff = 100 * time.Millisecond
)

// transport is a connection that requests are written to and responses read from.
type transport interface {
	net.Conn
	// SetLinger is like the method of net.TCPConn.
	SetLinger(seconds int) error
}

// dialer opens a transport, at most until deadline.
type dialer func(ctx context.Context, deadline time.Time) (transport, error)

// openFault returns ErrorTimeout if err is a timeout and otherwise the given kind.
func openFault(err error, otherwise result.ErrorKind) result.ErrorKind {
	var timeout net.Error
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout() {
		return result.ErrorTimeout
	}
	return otherwise
}
