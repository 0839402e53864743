// Package recorder keeps what a stage's requests amounted to: exact counts and
// histograms, by seconds and in all, in constant memory and off the way of the
// connections. It makes no requests and knows neither k6 nor the session.
package recorder

import (
	"time"

	"github.com/assay-dev/assay/internal/result"
)

// NoError is the Error of a request that succeeded.
const NoError result.ErrorKind = -1

// Outcome is what became of one request. Durations are by a monotonic clock.
type Outcome struct {
	// Ended is when the request ended, from the stage's start instant.
	Ended time.Duration
	// Error is how the request failed; NoError when it succeeded.
	Error result.ErrorKind
	// Status is the status of the response; 0 when no response was complete.
	Status int
	// Opened is whether a connection was opened for the request, Reused whether it
	// was sent on one that had carried a request before.
	Opened, Reused bool
	// Secured is whether there was a TLS handshake for the request, Resumed whether
	// that resumed a session.
	Secured, Resumed bool
	// Reopened is how many connections were opened beside for what the request's
	// first response led to, ReopenedResumed how many of them resumed a session.
	Reopened, ReopenedResumed int64
	// ClosedByServer is the number of keep-alive connections that the server closed
	// after a response, as the response announced.
	ClosedByServer int64
	// Connect, TLS, Processing, Waiting, Receiving and Total are as in package
	// result. They count only when the request succeeded, Connect only when Opened,
	// TLS only when Secured.
	Connect, TLS, Processing, Waiting, Receiving, Total time.Duration
	// Scheduled is whether the request is one of open load. Then Service is from its
	// start, Delay how late that was, and Total both together.
	Scheduled      bool
	Delay, Service time.Duration
	// Sent and Received are bytes written to and read from the connection, Body
	// those of the response's body, chunk headers left out.
	Sent, Received, Body int64
}

// Schedule makes the outcome, of which all times are from the request's start,
// that of a request which was meant to start earlier by delay.
func (o *Outcome) Schedule(delay time.Duration) {
	o.Scheduled, o.Delay, o.Service = true, delay, o.Total
	o.Total += delay
}

// addTo counts the outcome in a measure.
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

// microseconds is a duration rounded to whole microseconds.
func microseconds(d time.Duration) int64 {
	return int64((d + 500*time.Nanosecond) / time.Microsecond)
}
