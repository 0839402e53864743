package driver

import (
	"math/rand/v2"
	"time"

	"github.com/assay-dev/assay/internal/profile"
	"github.com/assay-dev/assay/internal/session"
)

// pace decides when a connection of a closed load may make requests: while the stage's
// profile includes the connection, and with the plan's think time between requests. A
// connection has no pace if the load has neither. Its times are virtual.
type pace struct {
	profile   profile.Profile
	thinkTime *session.ThinkTime
	random    *rand.Rand

	// until is the time at which the profile next excludes the connection. from is the time
	// from which it is included. thinkUntil is the end of its think time.
	from, until, thinkUntil time.Duration
	known                   bool
}

// thinkTimeStream separates the random numbers of think times from those of requests.
const thinkTimeStream = 1 << 62

// newPace returns the pace of a connection, or nil if it has none.
func newPace(plan *session.Plan, amount session.Amount, connection int) *pace {
	if plan.Arrivals != nil || plan.ThinkTime == nil && len(amount.Profile) == 0 {
		return nil
	}
	p := &pace{profile: amount.Profile, thinkTime: plan.ThinkTime}
	if plan.ThinkTime != nil && plan.ThinkTime.MaxMicroseconds > plan.ThinkTime.MinMicroseconds {
		p.random = rand.New(rand.NewPCG(plan.Seed, thinkTimeStream|uint64(connection)))
	}
	return p
}

// next returns the earliest time for the connection's next request, or profile.Never if
// there is none. leaves reports whether the profile excludes the connection until then,
// so that it must be closed.
func (p *pace) next(connection int, now time.Duration) (at time.Duration, leaves bool) {
	at = max(now, p.thinkUntil)
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

// beginThinkTime starts the think time after a request that ended at now.
func (p *pace) beginThinkTime(now time.Duration) {
	if p.thinkTime == nil {
		return
	}
	minimum, maximum := p.thinkTime.MinMicroseconds, p.thinkTime.MaxMicroseconds
	d := minimum
	if p.random != nil {
		d += p.random.Int64N(maximum - minimum + 1)
	}
	p.thinkUntil = now + time.Duration(d)*time.Microsecond
}

// await waits until a connection's next request may start. It returns false if the stage
// ends first.
func (s *Stage) await(c *connection) bool {
	p := c.pace
	if c.made {
		p.beginThinkTime(s.slices.Virtual(c.last))
	}
	now := s.slices.Virtual(s.now())
	at, leaves := p.next(c.index, now)
	if leaves && c.user != nil {
		c.user.end()
	} else if leaves {
		c.end()
	}
	if at == profile.Never || s.amount.Requests == 0 && at >= s.amount.Duration() {
		return false
	}
	sleeps := at > now
	if sleeps && !c.sleep(s.slices.Wall(at)) {
		return false
	}
	if sleeps || p.thinkTime != nil { // a client that is late has paused, too
		c.checkIdle(s.now())
	}
	return true
}

const (
	// minBackoff and maxBackoff limit the delay after a failure to open a connection. The delay
	// doubles with each consecutive failure. Without it, a server that refuses connections would
	// get a flood of attempts, and a load with a number of requests would be over in no time.
	minBackoff = 10 * time.Millisecond
	maxBackoff = 100 * time.Millisecond
)

// backOff waits after consecutive failures to open a connection, but not beyond the stage's end.
func (c *connection) backOff() {
	s := c.stage
	c.sleep(min(s.now()+min(minBackoff<<min(c.failures-1, 10), maxBackoff), s.until))
}
