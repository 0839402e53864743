// Package result is what a run measures and how it is merged: histograms,
// counts, sample seconds, and the result itself. It knows neither Kubernetes
// nor the wire.
package result

import (
	"iter"
)

// Phase is a part of the time that a request takes.
type Phase int

// The phases. All are durations by a monotonic clock.
const (
	// Connect is from the start of opening a TCP connection to its end. Only
	// requests that open a connection have it.
	Connect Phase = iota
	// TLS is from the end of Connect to the end of the TLS handshake. Only
	// requests that open a connection with TLS have it.
	TLS
	// Processing is from the connection being ready to the last byte of the
	// response: what ab calls processing.
	Processing
	// Waiting is from the request being written to the first byte of the
	// response.
	Waiting
	// Receiving is from the first byte of the response to the last.
	Receiving
	// Total is from the start of the request, the opening of its connection
	// included, to the last byte of the response. Under open load the start is the
	// instant at which the request was meant to start: Total is Delay and Service
	// together.
	Total
	// Delay is from the instant at which a request was meant to start to its start.
	// Only requests of open load have it.
	Delay
	// Service is from the start of the request to the last byte of the response.
	// Only requests of open load have it: elsewhere it is Total.
	Service
	// Phases is the number of phases.
	Phases
)

var phaseNames = [Phases]string{"connect", "tls", "processing", "waiting", "receiving", "total", "delay", "service"}

// String is the name of the phase as it stands in JSON.
func (p Phase) String() string { return phaseNames[p] }

// AllPhases yields the phases in their order.
func AllPhases() iter.Seq[Phase] {
	return func(yield func(Phase) bool) {
		for p := range Phases {
			if !yield(p) {
				return
			}
		}
	}
}

// Measure is what was counted and timed over some span: a second, or a whole
// measurement.
type Measure struct {
	Counts
	// Latencies are the durations of requests that succeeded, by Phase. An entry
	// is nil when the phase didn't occur.
	Latencies Latencies `json:"latencies"`
}

// Latencies are histograms by Phase; an entry may be nil, meaning empty.
type Latencies [Phases]*Histogram

// Of returns the histogram of a phase for writing, made on first use.
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

// Pack makes all histograms small; see Histogram.Pack.
func (l *Latencies) Pack() error {
	for _, h := range l {
		if h == nil {
			continue
		}
		if err := h.Pack(); err != nil {
			return err
		}
	}
	return nil
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

// ClientSecond is a sample second of one client.
type ClientSecond struct {
	// Second is the whole seconds from the stage's start instant to the start of
	// this second.
	Second int64
	Measure
	Usage ClientUsage
}
