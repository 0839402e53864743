// Package live defines the stream of a running measurement's figures: what the leader sends, and where it says how
// to reach it. It does no I/O.
package live

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"

	"github.com/assay-dev/assay/internal/k6metric"
	"github.com/assay-dev/assay/internal/result"
)

// ContentType is the media type of a stream: an Update as JSON on each line.
const ContentType = "application/x-ndjson"

// DefaultPort is the port on the loopback interface of a manager's pod at which the leader streams.
const DefaultPort = 9444

// EndpointAnnotation is the annotation of the leader's Lease that holds an Endpoint as JSON.
const EndpointAnnotation = "assay.dev/live"

// Endpoint says how the leader is reached, through a port forwarded to its pod.
type Endpoint struct {
	// Port is a port on the loopback interface of the pod.
	Port int `json:"port"`
	// CA holds the certificates, in PEM, that the serving certificate is issued by. Its name is session.ServerName.
	CA string `json:"ca"`
}

// ParseEndpoint is the inverse of Endpoint.String. It returns an error for an endpoint that can't be one.
func ParseEndpoint(text string) (Endpoint, error) {
	var e Endpoint
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return e, fmt.Errorf("decode the endpoint: %w", err)
	}
	if e.Port < 1 || e.Port > 65535 || e.CA == "" {
		return e, fmt.Errorf("port %d and a CA of %d bytes are no endpoint", e.Port, len(e.CA))
	}
	return e, nil
}

// String returns the value of EndpointAnnotation.
func (e Endpoint) String() string {
	text, err := json.Marshal(e)
	if err != nil {
		panic(err) // cannot happen: a number and a string
	}
	return string(text)
}

// Path returns the path of a run's stream. Path("{namespace}", "{name}") is the pattern of all.
func Path(namespace, name string) string {
	if namespace == "{namespace}" {
		return "/v1/namespaces/{namespace}/benchmarkruns/{name}/live"
	}
	return "/v1/namespaces/" + url.PathEscape(namespace) + "/benchmarkruns/" + url.PathEscape(name) + "/live"
}

// Update is the state of a measurement, or what has changed since the Update before it on the same stream.
type Update struct {
	// UID is the run's.
	UID string `json:"uid"`
	// State is the run's state, as the reason of its condition Succeeded; Finished when it has one.
	State string `json:"state"`
	// Now is the time of the Update, Start the start of the measurement, by the manager's clock: microseconds since
	// the Unix epoch. Start is 0 before the measurement.
	Now   int64 `json:"now"`
	Start int64 `json:"start"`
	// Clients is the number of the run's clients, Connected that of those with a session.
	Clients   int `json:"clients"`
	Connected int `json:"connected"`
	// Progress is the progress of the warm-up, before the measurement.
	Progress *Progress `json:"progress,omitempty"`
	// From is the first second of the measurement that Seconds replaces, with all that follow.
	From int64 `json:"from"`
	// Seconds are the seconds that all clients have sent, in their order. Where a measurement is long, an entry has
	// several, and its percentiles are those of all its requests. The times of phases and the figures of nodes are omitted.
	Seconds []result.Second `json:"seconds,omitempty"`
	// Counts and Latency are those of all these seconds. Latency is of successful requests' total times; nil without any.
	Counts  result.Counts   `json:"counts"`
	Latency *result.Summary `json:"latency,omitempty"`
	// Script has the metrics of the run's k6 script so far; nil before the first, and for other loads.
	Script *Script `json:"script,omitempty"`
	// Findings are the reasons to distrust what was measured so far.
	Findings []Finding `json:"findings,omitempty"`
}

// Script has the metrics of a k6 script since its start, merged over all clients that have sent any.
type Script struct {
	// Clients is the number of these clients.
	Clients int `json:"clients"`
	// Metrics begin with those that thresholds with abortOnFail refer to, whose percentiles are within 0.1%. Those of other
	// trends are within 1%.
	Metrics []k6metric.Summary `json:"metrics"`
	// Omitted is the number of metrics of one client, the worst, that are missing since there are too many.
	Omitted int64 `json:"omitted,omitempty"`
}

// Progress is the progress of a stage over all clients.
type Progress struct {
	Requests          int64 `json:"requests"`
	Errors            int64 `json:"errors"`
	RequestsPerSecond int64 `json:"requestsPerSecond"`
}

// Finding is a finding and the second of the measurement after which it was there first, as far as the leader has
// watched.
type Finding struct {
	result.Finding
	Second int64 `json:"second"`
}

// Passed returns the first second of the measurement that some client hasn't sent.
func (u *Update) Passed() int64 {
	if n := len(u.Seconds); n > 0 {
		return u.Seconds[n-1].Second + u.Seconds[n-1].Seconds
	}
	return u.From
}

// Apply returns the state after an Update, given the one before it, which may be the zero value. It doesn't
// change either.
func (u *Update) Apply(next *Update) *Update {
	state := *next
	state.From = 0
	if next.From > 0 && next.UID == u.UID {
		kept := 0
		for kept < len(u.Seconds) && u.Seconds[kept].Second < next.From {
			kept++
		}
		state.Seconds = slices.Concat(u.Seconds[:kept], next.Seconds)
	}
	return &state
}

// Trim removes from a second what an Update omits.
func Trim(s result.Second) result.Second {
	s.Phases, s.Server, s.Backends, s.Node, s.ClientNode = nil, nil, nil, nil, nil
	return s
}

// Finished reports whether the run has finished, so that no Update follows.
func (u *Update) Finished() bool { return u.State == "Finished" }
