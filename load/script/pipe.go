package script

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/assay-dev/assay/internal/result"
)

// order is what the client tells the output in k6's process.
type order struct {
	// Begin has what ends from an instant on be recorded, End what ends later than
	// an instant not any more: by the wall clock, in nanoseconds since the Unix
	// epoch. Each is answered by done.
	Begin int64 `json:"begin,omitempty"`
	End   int64 `json:"end,omitempty"`
}

// report is what the output in k6's process tells the client.
type report struct {
	Done   bool                 `json:"done,omitempty"`
	Second *result.ClientSecond `json:"second,omitempty"`
	// Totals are the figures as far as they are known there; its instants are by the
	// wall clock.
	Totals *result.Totals `json:"totals,omitempty"`
}

// pipe is the client's end of the pipes to the output.
type pipe struct {
	to   io.WriteCloser
	from io.Reader

	done   chan struct{}
	totals *result.Totals // once read has returned
}

func newPipe(to io.WriteCloser, from io.Reader) *pipe {
	return &pipe{to: to, from: from, done: make(chan struct{}, 1)}
}

// read takes what the output tells until k6 has ended, and passes seconds on.
func (p *pipe) read(second func(*result.ClientSecond)) error {
	decoder := json.NewDecoder(p.from)
	for {
		var r report
		if err := decoder.Decode(&r); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("read what k6 measured: %w", err)
		}
		switch {
		case r.Second != nil:
			second(r.Second)
		case r.Totals != nil:
			p.totals = r.Totals
		case r.Done:
			p.done <- struct{}{}
		}
	}
}

// tell tells the output something, and waits until it has it or the context
// ends.
func (p *pipe) tell(ended <-chan struct{}, o order) error {
	if err := json.NewEncoder(p.to).Encode(o); err != nil {
		return fmt.Errorf("tell k6's output when the load begins and ends: %w", err)
	}
	select {
	case <-p.done:
	case <-ended:
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
	// It fails when the client is gone, and this process about to be.
	_ = r.encoder.Encode(what)
}
