package script

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/assay-dev/assay/internal/profile"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
)

// order is a message from the client to the output in k6's process. The output
// replies to each with a report that has Done set.
type order struct {
	// Begin and End are the start and the end of the load, in nanoseconds since the
	// Unix epoch by the wall clock. The output records what ends between them.
	Begin int64 `json:"begin,omitempty"`
	End   int64 `json:"end,omitempty"`
	// Interval is the time in nanoseconds between two reports of the metrics so far, or 0 for none. Merged disables the
	// evaluation of thresholds with abortOnFail. Both belong to Begin.
	Interval int64 `json:"interval,omitempty"`
	Merged   bool  `json:"merged,omitempty"`
	// Load belongs to Begin: it describes a declared load, and is nil for a script. Last is the time, as Begin, at which that
	// load is ended early.
	Load *plannedLoad `json:"load,omitempty"`
	Last int64        `json:"last,omitempty"`
}

// plannedLoad is what the output has to know of a declared load.
type plannedLoad struct {
	// Profile has the levels of the load.
	Profile profile.Profile `json:"profile,omitempty"`
	// Named has, for each request of the load, the index of its name among session.Plan.RequestNames; nil if metrics of single requests
	// aren't kept. Names is the number of names.
	Named []int `json:"named,omitempty"`
	Names int   `json:"names,omitempty"`
	// HTTP2 makes responses by another protocol errors.
	HTTP2 bool `json:"http2,omitempty"`
}

// report is a message from the output in k6's process to the client. One of the fields is set.
type report struct {
	Done   bool                 `json:"done,omitempty"`
	Second *result.ClientSecond `json:"second,omitempty"`
	// Totals holds the metrics that the output knows. Its times are by the wall clock.
	Totals *result.Totals `json:"totals,omitempty"`
	// Metrics are those so far.
	Metrics *session.ScriptMetrics `json:"metrics,omitempty"`
}

// pipe is the client's end of the pipes to the output.
type pipe struct {
	to   io.WriteCloser
	from io.Reader

	done   chan struct{}
	totals *result.Totals // set before read returns
}

func newPipe(to io.WriteCloser, from io.Reader) *pipe {
	return &pipe{to: to, from: from, done: make(chan struct{}, 1)}
}

// read reads reports until k6 exits. It passes the seconds to second, and the metrics so far to metrics.
func (p *pipe) read(second func(*result.ClientSecond), metrics func(*session.ScriptMetrics)) error {
	decoder := json.NewDecoder(p.from)
	for {
		var r report
		if err := decoder.Decode(&r); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("read k6's measurement: %w", err)
		}
		switch {
		case r.Second != nil:
			second(r.Second)
		case r.Metrics != nil:
			metrics(r.Metrics)
		case r.Totals != nil:
			p.totals = r.Totals
		case r.Done:
			p.done <- struct{}{}
		}
	}
}

// send sends an order to the output and waits for its reply or until exited is closed.
func (p *pipe) send(exited <-chan struct{}, o order) error {
	if err := json.NewEncoder(p.to).Encode(o); err != nil {
		return fmt.Errorf("send order to k6's output: %w", err)
	}
	select {
	case <-p.done:
	case <-exited:
	}
	return nil
}

// reporter is the output's end of the pipes.
type reporter struct {
	mu      sync.Mutex
	encoder *json.Encoder
}

func (r *reporter) report(what report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	// An error means that the client's process is gone, so k6 is about to be killed.
	_ = r.encoder.Encode(what)
}
