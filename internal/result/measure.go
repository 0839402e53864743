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

// ErrorKind says how a request failed.
type ErrorKind int

// The kinds of errors.
const (
	// ErrorConnect: the connection couldn't be opened.
	ErrorConnect ErrorKind = iota
	// ErrorTLS: the TLS handshake failed.
	ErrorTLS
	// ErrorTimeout: the response wasn't complete in time.
	ErrorTimeout
	// ErrorReceive: the connection broke while the request or its response was
	// under way.
	ErrorReceive
	// ErrorLength: the body wasn't as long as expected.
	ErrorLength
	// ErrorStatus: the status wasn't one that counts as success (200 to 399).
	ErrorStatus
	// ErrorException: the response wasn't HTTP, and anything else.
	ErrorException
	// ErrorKinds is the number of kinds.
	ErrorKinds
)

var errorNames = [ErrorKinds]string{"connect", "tls", "timeout", "receive", "length", "status", "exception"}

// String is the name of the kind as it stands in JSON.
func (k ErrorKind) String() string { return errorNames[k] }

// Counts are exact counts of requests and bytes.
type Counts struct {
	// Requests is the number of requests that ended, with success or not.
	Requests int64 `json:"requests"`
	// Errors is the number of requests that failed, by ErrorKind. A request
	// fails in one way: the sum is the number of failed requests.
	Errors ErrorCounts `json:"errors"`
	// Non2xx is the number of complete responses with a status outside 200 to
	// 299, failed or not.
	Non2xx int64 `json:"non2xx"`
	// KeepAlive is the number of requests sent on a connection that had carried
	// a request before.
	KeepAlive int64 `json:"keepAlive"`
	// Connections is the number of connections opened.
	Connections int64 `json:"connections"`
	// BytesSent is the number of bytes of requests written to connections.
	BytesSent int64 `json:"bytesSent"`
	// BytesReceived is the number of bytes read from connections, inside TLS.
	BytesReceived int64 `json:"bytesReceived"`
	// BodyBytes is the number of bytes of response bodies, chunk headers left out.
	BodyBytes int64 `json:"bodyBytes"`
	// TLSResumed is the number of TLS handshakes of these connections that resumed
	// an earlier session.
	TLSResumed int64 `json:"tlsResumed"`
	// Dropped is the number of requests of open load that were never made: no
	// connection was free for them in time. They aren't among Requests.
	Dropped int64 `json:"dropped,omitempty"`
}

// ErrorCounts are requests that failed, by ErrorKind.
type ErrorCounts [ErrorKinds]int64

// Total is the number of requests that failed.
func (e ErrorCounts) Total() int64 {
	var total int64
	for _, n := range e {
		total += n
	}
	return total
}

// Succeeded is the number of requests that didn't fail.
func (c Counts) Succeeded() int64 { return c.Requests - c.Errors.Total() }

// Add adds other counts to these.
func (c *Counts) Add(other Counts) {
	c.Requests += other.Requests
	for k, n := range other.Errors {
		c.Errors[k] += n
	}
	c.Non2xx += other.Non2xx
	c.KeepAlive += other.KeepAlive
	c.Connections += other.Connections
	c.BytesSent += other.BytesSent
	c.BytesReceived += other.BytesReceived
	c.BodyBytes += other.BodyBytes
	c.TLSResumed += other.TLSResumed
	c.Dropped += other.Dropped
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

// ClientUsage is what a client used of its machine over some span.
type ClientUsage struct {
	// UserCPU and SystemCPU are CPU times in microseconds.
	UserCPU   int64 `json:"userCPUMicroseconds"`
	SystemCPU int64 `json:"systemCPUMicroseconds"`
	// Throttled is for how long the CPU limit held the client up, in
	// microseconds; -1 when it can't be read.
	Throttled int64 `json:"throttledMicroseconds"`
	// MaxResident is the largest resident set so far, in bytes.
	MaxResident int64 `json:"maxResidentBytes"`
	// SchedulerLagP99 is how long, in microseconds, a goroutine of the client waited
	// for a CPU when it could run: of 100 such waits 99 were no longer. It is known
	// to within a quarter. GCPause is for how long garbage collections stopped the
	// client in all, GCPauseMax the longest such stop, in microseconds. Where several
	// seconds or clients were joined, SchedulerLagP99 is the largest of theirs.
	SchedulerLagP99 int64 `json:"schedulerLagP99Microseconds"`
	GCPause         int64 `json:"gcPauseMicroseconds"`
	GCPauseMax      int64 `json:"gcPauseMaxMicroseconds"`
}

// Add joins the use of a span that follows, or of another client.
func (u *ClientUsage) Add(other ClientUsage) {
	u.UserCPU += other.UserCPU
	u.SystemCPU += other.SystemCPU
	if u.Throttled < 0 || other.Throttled < 0 {
		u.Throttled = -1
	} else {
		u.Throttled += other.Throttled
	}
	u.MaxResident = max(u.MaxResident, other.MaxResident)
	u.SchedulerLagP99 = max(u.SchedulerLagP99, other.SchedulerLagP99)
	u.GCPause += other.GCPause
	u.GCPauseMax = max(u.GCPauseMax, other.GCPauseMax)
}

// ClientSecond is a sample second of one client.
type ClientSecond struct {
	// Second is the whole seconds from the stage's start instant to the start of
	// this second.
	Second int64
	Measure
	Usage ClientUsage
}

// ServerUsage is what the processes of one container of the target's pod have
// used since they started. Times and counts only ever grow.
type ServerUsage struct {
	// At is when this was read: microseconds since the Unix epoch by the
	// manager's clock.
	At int64 `json:"atMicroseconds"`
	// UserCPU and SystemCPU are CPU times in microseconds.
	UserCPU   int64 `json:"userCPUMicroseconds"`
	SystemCPU int64 `json:"systemCPUMicroseconds"`
	// Resident is the resident set in bytes, MaxResident its largest value.
	Resident    int64 `json:"residentBytes"`
	MaxResident int64 `json:"maxResidentBytes"`
	// MinorFaults and MajorFaults count page faults.
	MinorFaults int64 `json:"minorFaults"`
	MajorFaults int64 `json:"majorFaults"`
	// VoluntarySwitches and InvoluntarySwitches count context switches.
	VoluntarySwitches   int64 `json:"voluntarySwitches"`
	InvoluntarySwitches int64 `json:"involuntarySwitches"`
	// Threads and Descriptors are the numbers of threads and of open file
	// descriptors; -1 when they can't be read.
	Threads     int64 `json:"threads"`
	Descriptors int64 `json:"descriptors"`
	// BytesReceived and BytesSent are the bytes that passed the interfaces of
	// the target's pod, loopback left out.
	BytesReceived int64 `json:"bytesReceived"`
	BytesSent     int64 `json:"bytesSent"`
	// Throttled is for how long the CPU limit held the server up, in
	// microseconds; -1 when it can't be read.
	Throttled int64 `json:"throttledMicroseconds"`
	// CPUs lists the CPUs that the server may run on, as in "0-3,8".
	CPUs string `json:"cpus"`
	// AgentCPUs lists the CPUs that the agent may run on: those that the server
	// shares with others, if it shares any.
	AgentCPUs string `json:"agentCPUs"`
}
