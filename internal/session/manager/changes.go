package manager

import (
	"context"
	"sync"
)

// changes are the runs that have changed and haven't been announced. A run that changes again until
// then is announced once, so that they are no more than the runs, however much the pods send.
type changes struct {
	mu   sync.Mutex
	runs map[string]bool
	wake chan struct{}
}

func newChanges() *changes { return &changes{runs: map[string]bool{}, wake: make(chan struct{}, 1)} }

// add adds a run. It never waits.
func (c *changes) add(run string) {
	c.mu.Lock()
	c.runs[run] = true
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// take returns the runs, and leaves none.
func (c *changes) take() map[string]bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	taken := c.runs
	c.runs = map[string]bool{}
	return taken
}

// announce calls f with each run until the context ends.
func (c *changes) announce(ctx context.Context, f func(run string)) {
	for {
		select {
		case <-c.wake:
		case <-ctx.Done():
			return
		}
		for run := range c.take() {
			f(run)
		}
	}
}
