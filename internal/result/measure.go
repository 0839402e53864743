// Package result has what a run measures and how it is merged: histograms, tables
// of metrics, sample seconds, and the result itself. It is independent of Kubernetes
// and of the session protocol.
package result

// Phase is a part of the time that a request takes. Its number is its place in
// messages between versions: append, and never reorder or remove.
type Phase int

// The phases. All are durations by a monotonic clock.
const (
	// Connect is from the start of opening a TCP connection to its end. Only
	// requests that open a connection have it.
	Connect Phase = iota
	// TLS is from the end of Connect to the end of the TLS handshake. Only requests
	// that open a connection with TLS have it.
	TLS
	// Processing is from the time at which the connection is ready to the last byte of
	// the response: what ab calls processing.
	Processing
	// Waiting is from the time at which the request is written to the first byte of the response.
	Waiting
	// Receiving is from the first byte of the response to the last.
	Receiving
	// Total is from the start of the request, including the opening of its connection,
	// to the last byte of the response. Under open load it is from the intended start
	// time: the sum of Delay and Service.
	Total
	// Delay is from the intended start time of a request to its start. Only requests of
	// open load have it.
	Delay
	// Service is from the start of the request to the last byte of the response. Only
	// requests of open load have it: otherwise it is Total.
	Service
	// Page is from the start of a page's first request to the end of its last one: what its
	// user waited for. Only successful pages have it, all requests of which succeeded.
	Page
	// Phases is the number of phases.
	Phases
)

var phaseNames = [Phases]string{"connect", "tls", "processing", "waiting", "receiving", "total", "delay", "service", "page"}

// String returns the name of the phase in JSON.
func (p Phase) String() string { return phaseNames[p] }

// Measure holds the counts and times of a span of time: a second, or a whole measurement.
type Measure struct {
	Counts
	// Latencies are the durations of successful requests, and pages, by Phase. An entry is nil if
	// the phase did not occur.
	Latencies Latencies `json:"latencies"`
}

// Latencies are histograms by Phase. A nil entry is an empty histogram.
type Latencies [Phases]*Histogram

// Of returns the histogram of a phase for writing, and creates it on first use.
func (l *Latencies) Of(p Phase) *Histogram {
	if l[p] == nil {
		l[p] = NewHistogram()
	}
	return l[p]
}

// Get returns the histogram of a phase for reading; it is never nil.
func (l *Latencies) Get(p Phase) *Histogram {
	if l[p] == nil {
		return NewHistogram()
	}
	return l[p]
}

// Pack reduces the memory of all histograms; see Histogram.Pack.
func (l *Latencies) Pack() {
	for _, h := range l {
		if h != nil {
			h.Pack()
		}
	}
}

// Merge adds another measure to this one.
func (m *Measure) Merge(other *Measure) {
	m.Add(other.Counts)
	for p, h := range other.Latencies {
		if h != nil && h.Count() > 0 {
			m.Latencies.Of(Phase(p)).Merge(h)
		}
	}
}
