package driver

import (
	"math/rand/v2"
	"time"

	"github.com/assay-dev/assay/internal/profile"
	"github.com/assay-dev/assay/internal/session"
)

// pace is when a connection of a closed load makes its requests: as long as the
// stage's profile has so many connections, with pauses in between. A load
// without either has no paces.
type pace struct {
	profile profile.Profile
	pause   *session.Pause
	random  *rand.Rand

	// until is when the profile next leaves the connection out; rested when its
	// pause ends.
	from, until, rested time.Duration
	known               bool
}

// pauseStream tells the random numbers of pauses from those of requests.
const pauseStream = 1 << 62

// newPace returns the pace of a connection; nil when it has none.
func newPace(plan *session.Plan, amount session.Amount, connection int) *pace {
	if plan.Arrivals != nil || plan.Pause == nil && len(amount.Profile) == 0 {
		return nil
	}
	p := &pace{profile: amount.Profile, pause: plan.Pause}
	if plan.Pause != nil && plan.Pause.MaxMicroseconds > plan.Pause.MinMicroseconds {
		p.random = rand.New(rand.NewPCG(plan.Seed, pauseStream|uint64(connection)))
	}
	return p
}

// next is when the connection may make its next request; leaves is whether the
// connection has no part in the load until then, and is to be closed. It is
// profile.Never when there is none.
func (p *pace) next(connection int, now time.Duration) (at time.Duration, leaves bool) {
	at = max(now, p.rested)
	if len(p.profile) == 0 {
		return at, false
	}
	if !p.known || at >= p.until {
		leaves = p.known
		p.from, p.until = p.profile.Above(int64(connection), at)
		leaves = leaves && p.from > at
		p.known = true
	}
	return max(at, p.from), leaves
}

// rest begins a pause after a request that ended now.
func (p *pace) rest(now time.Duration) {
	if p.pause == nil {
		return
	}
	least, most := p.pause.MinMicroseconds, p.pause.MaxMicroseconds
	d := least
	if p.random != nil {
		d += p.random.Int64N(most - least + 1)
	}
	p.rested = now + time.Duration(d)*time.Microsecond
}

// await waits until a connection's next request may begin; false when that
// isn't within the stage.
func (s *Stage) await(c *connection) bool {
	p := c.pace
	if c.made {
		p.rest(c.last)
	}
	at, leaves := p.next(c.place, s.now())
	if leaves {
		c.end()
	}
	if at == profile.Never || s.amount.Requests == 0 && at >= s.deadline {
		return false
	}
	if at <= s.now() {
		return true
	}
	if !c.sleep(at) {
		return false
	}
	c.shed()
	return true
}

// pause waits for a time, but not beyond the stage's end.
func (c *connection) pause(d time.Duration) {
	s := c.stage
	until := s.now() + d
	if s.amount.Requests == 0 {
		until = min(until, s.deadline)
	}
	c.sleep(until)
}

// sleep waits until an instant; false when the stage ended before.
func (c *connection) sleep(until time.Duration) bool {
	if c.task != nil {
		return c.task.rest(until)
	}
	timer := time.NewTimer(until - c.stage.now())
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-c.stage.ended:
	case <-c.stage.context.Done():
	}
	return false
}
