// Package recorder records the outcomes of a stage's requests: exact counts and
// histograms, by seconds and in total, in constant memory and without delaying the
// connections. It makes no requests and is independent of k6 and of the session.
package recorder

import (
	"cmp"
	"fmt"
	"time"

	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/result"
)

// NoError is the Error of a successful request.
const NoError result.ErrorKind = -1

// Outcome is the outcome of one request. Durations are by a monotonic clock.
type Outcome struct {
	// Ended is the time at which the request ended, from the stage's start.
	Ended time.Duration
	// Named is the index of the request's name among those whose metrics are kept apart.
	Named int
	// Error is the kind of the request's failure, or NoError if it succeeded.
	Error result.ErrorKind
	// Cause says why it failed, and Detail what was special with this request; both are empty if it succeeded. Request names the
	// request then; nil if it has no name.
	Cause, Detail string
	Request       fmt.Stringer
	// Status is the status of the response, or 0 if no response was complete.
	Status int
	// Encoding is the content coding of the response.
	Encoding result.Encoding
	// Opened reports whether a connection was opened for the request, Reused whether it
	// was sent on one that had been used for a request before.
	Opened, Reused bool
	// Secured reports whether there was a TLS handshake for the request, Resumed whether
	// that resumed a session.
	Secured, Resumed bool
	// Reopened is the number of further connections that were opened for follow-up
	// requests, ReopenedResumed the number of those that resumed a session.
	Reopened, ReopenedResumed int64
	// ClosedByServer is the number of keep-alive connections that the server closed
	// after a response, as the response announced.
	ClosedByServer int64
	// Unrequested is the number of idle connections that were closed since the last request, because
	// bytes had arrived that responded to no request.
	Unrequested int64
	// Connect, TLS, Processing, Waiting, Receiving and Total are the phases of package result. They
	// only count if the request succeeded, Connect only if Opened, TLS only if Secured.
	Connect, TLS, Processing, Waiting, Receiving, Total time.Duration
	// Scheduled reports whether the request is one of open load. Then Service is the time from its
	// start, Delay that from its intended start to its start, and Total the sum.
	Scheduled      bool
	Delay, Service time.Duration
	// Sent and Received are the bytes written to and read from the connection, Body
	// those of the response's body without the headers of chunks.
	Sent, Received, Body int64
}

// Schedule changes the outcome to that of a request of open load, which started
// later than intended by delay. Its times must be from the request's start.
func (o *Outcome) Schedule(delay time.Duration) {
	o.Scheduled, o.Delay, o.Service = true, delay, o.Total
	o.Total += delay
}

// began returns when the request was started, from the stage's start.
func (o *Outcome) began() time.Duration {
	if o.Scheduled {
		return o.Ended - o.Service
	}
	return o.Ended - o.Total
}

// addTo adds the outcome to a measure.
func (o *Outcome) addTo(m *result.Measure) {
	m.Requests++
	m.BytesSent += o.Sent
	m.BytesReceived += o.Received
	m.BodyBytes += o.Body
	if o.Opened {
		m.Connections++
	}
	if o.Resumed {
		m.TLSResumed++
	}
	m.Connections += o.Reopened
	m.ClosedByServer += o.ClosedByServer
	m.Unrequested += o.Unrequested
	m.TLSResumed += o.ReopenedResumed
	if o.Reused {
		m.KeepAlive++
	}
	if o.Status != 0 && (o.Status < 200 || o.Status > 299) {
		m.Non2xx++
	}
	if o.Error != NoError {
		m.Errors[o.Error]++
		return
	}
	if o.Opened {
		m.Latencies.Of(result.Connect).Record(microseconds(o.Connect))
	}
	if o.Secured {
		m.Latencies.Of(result.TLS).Record(microseconds(o.TLS))
	}
	m.Latencies.Of(result.Processing).Record(microseconds(o.Processing))
	m.Latencies.Of(result.Waiting).Record(microseconds(o.Waiting))
	m.Latencies.Of(result.Receiving).Record(microseconds(o.Receiving))
	m.Latencies.Of(result.Total).Record(microseconds(o.Total))
	if o.Scheduled {
		m.Latencies.Of(result.Delay).Record(microseconds(o.Delay))
		m.Latencies.Of(result.Service).Record(microseconds(o.Service))
	}
}

// addCause adds the cause of a failure.
func (o *Outcome) addCause(causes *result.Causes) {
	c := causes.Count(o.Error, result.Cause{Text: cmp.Or(o.Cause, "unknown"), Count: 1})
	if c.Example == nil && o.Request != nil {
		c.Example = &result.FailedRequest{Request: printable.Clipped(o.Request.String(), result.MaxRequestBytes), AtMicroseconds: microseconds(o.Ended), Detail: o.Detail}
	}
}

// Page is the outcome of one page.
type Page struct {
	// Ended is the time at which the page's last request ended, from the stage's start.
	Ended time.Duration
	// Took is the page time. It only counts if the page succeeded.
	Took time.Duration
	// Failed reports whether a request of the page failed.
	Failed bool
	// EndsRound reports whether the page was the last one of its user's round, RoundFailed
	// whether a page of that round failed.
	EndsRound, RoundFailed bool
}

func (p *Page) addTo(m *result.Measure) {
	m.Pages++
	if p.Failed {
		m.FailedPages++
	} else {
		m.Latencies.Of(result.Page).Record(microseconds(p.Took))
	}
	switch {
	case p.EndsRound && p.RoundFailed:
		m.FailedRounds++
	case p.EndsRound:
		m.Rounds++
	}
}

// microseconds rounds a duration to whole microseconds.
func microseconds(d time.Duration) int64 {
	return int64((d + 500*time.Nanosecond) / time.Microsecond)
}
