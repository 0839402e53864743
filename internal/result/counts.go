package result

import (
	"fmt"
	"iter"
)

// Counts are exact counts of requests, connections and bytes. Counters says what
// each of them counts.
type Counts struct {
	Requests      int64       `json:"requests" help:"completed requests, successful or not"`
	Errors        ErrorCounts `json:"errors"`
	Non2xx        int64       `json:"non2xx" label:"Non-2xx responses" csv:"non2xx" help:"complete responses with a status outside 200 to 299, failed or not"`
	KeepAlive     int64       `json:"keepAlive" label:"Keep-Alive requests" csv:"keep_alive_requests" help:"requests sent on a connection that had been used for a request before"`
	Connections   int64       `json:"connections" csv:"connections_opened" help:"connections opened"`
	BytesSent     int64       `json:"bytesSent" unit:"bytes" csv:"bytes_sent" help:"bytes of requests written to connections"`
	BytesReceived int64       `json:"bytesReceived" unit:"bytes" csv:"bytes_received" help:"bytes read from connections, inside TLS"`
	BodyBytes     int64       `json:"bodyBytes" unit:"bytes" csv:"body_bytes" help:"bytes of response bodies, without the headers of chunks"`
	TLSResumed    int64       `json:"tlsResumed" label:"TLS sessions resumed" csv:"tls_resumed" help:"TLS handshakes that resumed an earlier session"`
	Dropped       int64       `json:"dropped,omitempty" csv:"dropped" help:"requests of open load that were never made, since no connection was free in time; not among the requests"`

	ClosedByServer int64 `json:"closedByServer,omitempty" label:"Closed by the server" csv:"connections_closed_by_server" help:"keep-alive connections that the server closed after a response, as it had announced; HTTP/1.1 only"`

	Pages        int64 `json:"pages,omitempty" csv:"pages" help:"completed pages, successful or not: a page is a document with its elements"`
	FailedPages  int64 `json:"failedPages,omitempty" csv:"failed_pages" help:"pages of which a request failed"`
	Rounds       int64 `json:"rounds,omitempty" csv:"rounds" help:"successful rounds: a round is one pass of a user through the pages, as many as their weights add up to"`
	FailedRounds int64 `json:"failedRounds,omitempty" csv:"failed_rounds" help:"rounds of which a page failed"`

	Unanswered       int64 `json:"unanswered,omitempty" help:"requests that were under way, or due, when the load was stopped; not among the requests"`
	OldestUnanswered int64 `json:"oldestUnansweredMicroseconds,omitempty" merging:"max" help:"age of the oldest of them, from its start or, under open load, from its intended start"`

	Unrequested int64 `json:"unrequested,omitempty" label:"Unrequested responses" csv:"connections_with_unrequested_response" help:"idle connections that were closed because the server had sent what no request asked for, such as a status 408; HTTP/1.1 only"`
}

// Counters is the table of Counts, but for Errors, whose table is that of ErrorKind. A line with a
// label is in each block of a text report unless the count is 0.
var Counters = tableOf[Counts]()

// Succeeded returns the number of successful requests.
func (c Counts) Succeeded() int64 { return c.Requests - c.Errors.Total() }

// ErrorPercent returns the number of failed requests divided by the number of all
// requests, in percent; 0 if there are no requests.
func (c Counts) ErrorPercent() float64 { return ratio(c.Errors.Total(), c.Requests, 100) }

// SucceededPages returns the number of pages all requests of which succeeded.
func (c Counts) SucceededPages() int64 { return c.Pages - c.FailedPages }

// Add adds other counts to these.
func (c *Counts) Add(other Counts) {
	Counters.Merge(c, &other)
	for k, n := range other.Errors {
		c.Errors[k] = Plus(c.Errors[k], n)
	}
}

// ErrorKind says how a request failed. Its number is its place in messages
// between versions: append, and never reorder or remove.
type ErrorKind int

// The kinds of errors.
const (
	// ErrorConnect: the connection could not be opened.
	ErrorConnect ErrorKind = iota
	// ErrorTLS: the TLS handshake failed.
	ErrorTLS
	// ErrorTimeout: the response was not complete in time.
	ErrorTimeout
	// ErrorReceive: the connection broke during the request or its response.
	ErrorReceive
	// ErrorLength: the body did not have the expected length.
	ErrorLength
	// ErrorStatus: the status was not one of success (200 to 399).
	ErrorStatus
	// ErrorException: the response was not HTTP, or anything else went wrong.
	ErrorException
	// ErrorKinds is the number of kinds.
	ErrorKinds
)

// errorKinds has a line for each kind: its name in JSON, its label in ab's form of
// a report, and whether ab itself has it.
var errorKinds = [ErrorKinds]struct {
	name, label string
	ab          bool
}{
	ErrorConnect:   {"connect", "Connect", true},
	ErrorTLS:       {"tls", "TLS", false},
	ErrorTimeout:   {"timeout", "Timeout", false},
	ErrorReceive:   {"receive", "Receive", true},
	ErrorLength:    {"length", "Length", true},
	ErrorStatus:    {"status", "Status", false},
	ErrorException: {"exception", "Exceptions", true},
}

// String returns the name of the kind in JSON.
func (k ErrorKind) String() string { return errorKinds[k].name }

// Label returns the name of the kind in ab's form of a report, and whether ab itself has the kind.
func (k ErrorKind) Label() (label string, ab bool) { return errorKinds[k].label, errorKinds[k].ab }

// ErrorCounts are failed requests by ErrorKind. A request fails in one way, so
// that the sum is the number of failed requests.
type ErrorCounts [ErrorKinds]int64

// Total returns the number of failed requests.
func (e ErrorCounts) Total() int64 {
	var total int64
	for _, n := range e {
		total += n
	}
	return total
}

// Occurred yields the kinds that occurred, with their counts.
func (e ErrorCounts) Occurred() iter.Seq2[ErrorKind, int64] {
	return func(yield func(ErrorKind, int64) bool) {
		for k, n := range e {
			if n != 0 && !yield(ErrorKind(k), n) {
				return
			}
		}
	}
}

// Set sets the counts by their kinds. It returns an error for counts that cannot be.
func (e *ErrorCounts) Set(counts []int64) error {
	if len(counts) != len(e) {
		return fmt.Errorf("%d kinds of errors, must be %d", len(counts), len(e))
	}
	for k, n := range counts {
		if n < 0 || n > maxMetric {
			return fmt.Errorf("errors must be from 0 to %d, not %d", int64(maxMetric), n)
		}
		e[k] = n
	}
	return nil
}
