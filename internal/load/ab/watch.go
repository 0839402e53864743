package ab

import (
	"fmt"
	"io"
	"syscall"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
)

const (
	// ab prints its progress up to heartbeats times, at least every minHeartbeat
	// requests apart. It prints nothing for a load of up to quietRequests.
	heartbeats    = 10
	minHeartbeat  = 100
	quietRequests = 150
	// maxConnectFailures is the number of connect failures that ab tolerates.
	maxConnectFailures = 10
)

// Watch prints progress as ab does, and ends the load when ab would abort.
type Watch struct {
	// End is closed when the load must end.
	End chan struct{}

	out       io.Writer
	tolerant  bool
	heartbeat int64 // requests between two progress lines, or 0 for no progress
	counts    result.Counts
	call      string // APR function that ab would name in its error; empty unless aborted
	errno     syscall.Errno
}

// NewWatch returns a watch that writes progress and errors to out, ab's stderr.
func NewWatch(o *Options, out io.Writer) *Watch {
	w := &Watch{End: make(chan struct{}), out: out, tolerant: o.Tolerant}
	if o.Requests > quietRequests && !o.Quiet {
		w.heartbeat = max(o.Requests/heartbeats, minHeartbeat)
	}
	return w
}

// Begin implements standalone.Watcher. It prints nothing.
func (w *Watch) Begin(bool, session.Amount) {}

// Second implements standalone.Watcher. It prints the progress and closes End if ab would abort.
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
	case w.counts.Errors[result.ErrorConnect] > maxConnectFailures:
		_, _ = fmt.Fprintf(w.out, "\nTest aborted after %d failures\n\n", maxConnectFailures)
		w.call, w.errno = "apr_socket_connect()", syscall.ECONNREFUSED
	default:
		return
	}
	close(w.End)
}

// PrintAbort prints the error after which the load was aborted and returns ab's
// exit code for it. If the load wasn't aborted, it prints nothing.
func (w *Watch) PrintAbort() (code int, aborted bool) {
	if w.call == "" {
		return 0, false
	}
	_, _ = fmt.Fprintf(w.out, "%s: %s (%d)\n", w.call, w.errno, int(w.errno))
	return int(w.errno), true
}

// Finish prints ab's last progress line.
func (w *Watch) Finish(requests int64) {
	if w.heartbeat > 0 {
		_, _ = fmt.Fprintf(w.out, "Finished %d requests\n", requests)
	}
}

// Heartbeat reports whether progress is printed.
func (w *Watch) Heartbeat() bool { return w.heartbeat > 0 }

// Aborted reports whether the load was ended after an error.
func (w *Watch) Aborted() bool { return w.call != "" }
