package ab

import (
	"fmt"
	"io"
	"syscall"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
)

const (
	// heartbeats is how often ab tells of its progress, fewestHeartbeat the
	// smallest number of requests between two of them, quietRequests up to how
	// many it tells nothing.
	heartbeats      = 10
	fewestHeartbeat = 100
	quietRequests   = 150
	// mostConnectFailures is how many ab puts up with.
	mostConnectFailures = 10
)

// Watch tells of the progress as ab does, and ends the load where ab would give
// up.
type Watch struct {
	// End is closed when it's to be ended.
	End chan struct{}

	out       io.Writer
	tolerant  bool
	heartbeat int64 // requests; 0 for none
	counts    result.Counts
	call      string // that failed
	errno     syscall.Errno
}

// NewWatch returns a watch for the options, which writes to ab's stderr.
func NewWatch(o *Options, out io.Writer) *Watch {
	w := &Watch{End: make(chan struct{}), out: out, tolerant: o.Tolerant}
	if o.Requests > quietRequests && !o.Quiet {
		w.heartbeat = max(o.Requests/heartbeats, fewestHeartbeat)
	}
	return w
}

// Begin is told nothing of.
func (w *Watch) Begin(bool, session.Amount) {}

// Second tells how many requests are complete.
func (w *Watch) Second(counts result.Counts) {
	before := w.counts.Requests
	w.counts.Add(counts)
	if w.heartbeat > 0 {
		for n := before/w.heartbeat + 1; n*w.heartbeat <= w.counts.Requests; n++ {
			_, _ = fmt.Fprintf(w.out, "Completed %d requests\n", n*w.heartbeat)
		}
	}
	if w.call != "" {
		return
	}
	switch {
	case w.counts.Errors[result.ErrorReceive] > 0 && !w.tolerant:
		w.call, w.errno = "apr_socket_recv", syscall.ECONNRESET
	case w.counts.Errors[result.ErrorConnect] > mostConnectFailures:
		_, _ = fmt.Fprintf(w.out, "\nTest aborted after %d failures\n\n", mostConnectFailures)
		w.call, w.errno = "apr_socket_connect()", syscall.ECONNREFUSED
	default:
		return
	}
	close(w.End)
}

// GaveUp is whether the load was ended for an error, and with which exit code.
func (w *Watch) GaveUp() (code int, is bool) {
	if w.call == "" {
		return 0, false
	}
	_, _ = fmt.Fprintf(w.out, "%s: %s (%d)\n", w.call, w.errno, int(w.errno))
	return int(w.errno), true
}

// Finish tells that the load has ended.
func (w *Watch) Finish(requests int64) {
	if w.heartbeat > 0 {
		_, _ = fmt.Fprintf(w.out, "Finished %d requests\n", requests)
	}
}

// Heartbeat is whether there is one.
func (w *Watch) Heartbeat() bool { return w.heartbeat > 0 }

// Failed is whether the load was ended for an error.
func (w *Watch) Failed() bool { return w.call != "" }
