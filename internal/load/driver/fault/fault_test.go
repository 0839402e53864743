package fault

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/assay-dev/assay/internal/result"
)

// TestOpening checks the faults of connections that can't be opened, also those because of the client's own limits.
func TestOpening(t *testing.T) {
	timeouts := NewTimeouts(1500 * time.Millisecond)
	dialing := func(err error) error {
		return &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{Port: 1234}, Err: err}
	}
	for _, test := range []struct {
		err         error
		connect     Fault
		handshaking string // the cause in a handshake
	}{
		{os.NewSyscallError("socket", syscall.EMFILE), Fault{Kind: result.ErrorConnect, Cause: "EMFILE"}, "EMFILE"},
		{dialing(os.NewSyscallError("connect", syscall.EADDRNOTAVAIL)), Fault{Kind: result.ErrorConnect, Cause: "EADDRNOTAVAIL"}, "EADDRNOTAVAIL"},
		{dialing(os.NewSyscallError("connect", syscall.ECONNREFUSED)), Fault{Kind: result.ErrorConnect, Cause: "ECONNREFUSED"}, "ECONNREFUSED"},
		{dialing(syscall.ETIMEDOUT), Fault{Kind: result.ErrorTimeout, Cause: "no connection within 1.5s"}, "no TLS handshake within 1.5s"},
		{dialing(os.ErrDeadlineExceeded), Fault{Kind: result.ErrorTimeout, Cause: "no connection within 1.5s"}, "no TLS handshake within 1.5s"},
		{context.DeadlineExceeded, Fault{Kind: result.ErrorTimeout, Cause: "no connection within 1.5s"}, "no TLS handshake within 1.5s"},
		{dialing(errors.New("port 12345 of https://user:secret@host/x is odd")), Fault{Kind: result.ErrorConnect, Cause: "port N of URL is odd"}, "port N of URL is odd"},
		{syscall.Errno(4000), Fault{Kind: result.ErrorConnect, Cause: "errno 4000"}, "errno 4000"},
		{io.EOF, Fault{Kind: result.ErrorConnect, Cause: "connection closed before the response"}, "tls: connection closed in the handshake"},
	} {
		if got := timeouts.Connecting(test.err); *got != test.connect {
			t.Errorf("%v: %+v, want %+v", test.err, got, test.connect)
		}
		if got := timeouts.Handshaking(test.err); got.Cause != test.handshaking {
			t.Errorf("%v in a handshake: %+v, want %q", test.err, got, test.handshaking)
		}
	}
}
