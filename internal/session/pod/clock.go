package pod

import (
	"math"
	"sync"
	"time"

	"github.com/assay-dev/assay/internal/session"
)

const (
	// burst is the number of pings that set the clock after a connection was opened.
	burst = 8
	// window is the number of recent pings of which the best sets the clock.
	window = 16
	// driftPerMillion is the drift between two clocks that NTP assumes (RFC 5905, PHI).
	driftPerMillion = 15
)

// clock computes the manager's clock from the pod's.
type clock struct {
	machine session.Clock

	mu     sync.Mutex
	recent []pong // of this connection
	best   pong
	set    bool      // best is valid
	sure   bool      // a burst was complete
	frozen time.Time // zero until freeze
}

// pong is one measurement of the manager's clock, in microseconds.
type pong struct {
	offset int64 // the manager's clock minus the pod's
	err    int64 // half of the round trip
	at     int64 // the pod's clock
}

func newClock() *clock { return &clock{machine: session.NewClock()} }

// own returns the pod's clock: microseconds since the Unix epoch.
func (c *clock) own() int64 { return c.machine.At(time.Now()) }

// connected drops the pings of the last connection: the new one may be to another
// manager. The offset stands until the new burst is complete.
func (c *clock) connected() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recent = nil
}

// settled reports whether the burst of this connection is complete.
func (c *clock) settled() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.recent) >= burst
}

func (c *clock) measured() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.set
}

// freeze keeps the offset from now on, or from the end of the first burst, so that
// all times of the measurement are on one scale.
func (c *clock) freeze() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.frozen = time.Now()
}

// answered adds a ping. sent and returned are by the pod's clock, received and left
// by the manager's (RFC 5905, section 8: T1, T4, T2 and T3).
func (c *clock) answered(sent, received, left, returned int64) {
	roundTrip := (returned - sent) - (left - received)
	if roundTrip < 0 || returned < sent {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recent = append(c.recent, pong{
		offset: ((received - sent) + (left - returned)) / 2,
		err:    (roundTrip + 1) / 2,
		at:     returned,
	})
	if len(c.recent) > window {
		c.recent = c.recent[1:]
	}
	complete := len(c.recent) >= burst
	if c.sure && (!c.frozen.IsZero() || !complete) {
		return
	}
	best := c.recent[0]
	for _, p := range c.recent[1:] {
		if p.errorAt(returned) <= best.errorAt(returned) {
			best = p
		}
	}
	c.best, c.set, c.sure = best, true, complete
}

// errorAt returns a bound of the offset's error at a later time.
func (p pong) errorAt(own int64) int64 {
	return p.err + (own-p.at)*driftPerMillion/1_000_000
}

// at converts a local time to the manager's clock.
func (c *clock) at(local time.Time) int64 {
	c.mu.Lock()
	offset := c.best.offset
	c.mu.Unlock()
	return c.machine.At(local) + offset
}

// local converts a time of the manager's clock to local time.
func (c *clock) local(at int64) time.Time {
	c.mu.Lock()
	offset := c.best.offset
	c.mu.Unlock()
	return c.machine.Local(at - offset)
}

// error returns a bound of the error of at and local. A wall clock that was set since freeze adds as
// much: the host may have slept, in which the pod's clock stood still.
func (c *clock) error() time.Duration {
	own := c.own()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.set {
		return math.MaxInt64
	}
	step := time.Duration(0)
	if !c.frozen.IsZero() {
		step = session.ClockStep(c.frozen, time.Now()).Abs()
	}
	return time.Duration(c.best.errorAt(own))*time.Microsecond + step
}
