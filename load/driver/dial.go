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
	// firstPause and longestPause are how long a connection waits after it
	// couldn't be opened: twice as long after each failure in a row. A server that
	// refuses at once would otherwise be answered with a flood of attempts, and a
	// load of so many requests used up in no time.
	firstPause   = 10 * time.Millisecond
	longestPause = 100 * time.Millisecond
)

// transport is what requests are written to and responses read from.
type transport interface {
	net.Conn
	// SetLinger is as net.TCPConn's.
	SetLinger(seconds int) error
}

// dialer opens a transport by a deadline.
type dialer func(ctx context.Context, deadline time.Time) (transport, error)

// openFault is the kind of error of a connection that couldn't be opened for
// another reason than its time being over, which is otherwise's.
func openFault(err error, otherwise result.ErrorKind) result.ErrorKind {
	var timeout net.Error
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout() {
		return result.ErrorTimeout
	}
	return otherwise
}

// pauseAfter is how long to wait after a number of failures in a row.
func pauseAfter(failures int) time.Duration {
	return min(firstPause<<min(failures-1, 10), longestPause)
}
