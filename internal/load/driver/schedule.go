package driver

import (
	"math/rand/v2"
	"time"

	"github.com/assay-dev/assay/internal/session"
)

// schedule computes the intended start times of one client's requests in an open load.
// Each time is computed from the request's number, so that errors don't add up. With
// constant inter-arrival times the requests of all clients together are those of a single
// schedule, of which a client of n makes every n-th. With Poisson arrivals each client
// has an independent process with its share of the rate, which together make up the full rate.
type schedule struct {
	arrivals *session.Arrivals
	amount   session.Amount
	random   *rand.Rand // nil with constant inter-arrival times
	count    int64
	scale    float64 // of the rates in the profile
	// area is the integral of the rate of all clients up to the latest time.
	area float64
	// following is the time after the latest one, and followingArea its area, if followingKnown.
	following      time.Duration
	followingArea  float64
	followingKnown bool
}

// arrivalsStream separates the random numbers of arrivals from those of connections,
// which use their numbers.
const arrivalsStream = 1 << 63

func newSchedule(plan *session.Plan, amount session.Amount) schedule {
	s := schedule{arrivals: plan.Arrivals, amount: amount, scale: float64(max(1, plan.Arrivals.Scale))}
	if plan.Arrivals.Poisson {
		s.random = rand.New(rand.NewPCG(plan.Seed, arrivalsStream))
	}
	return s
}

// next returns the next intended start time, from the stage's start. It returns false if
// there is none.
func (s *schedule) next() (time.Duration, bool) {
	at, ok := s.peek()
	if ok {
		s.area, s.followingKnown = s.followingArea, false
		s.count++
	}
	return at, ok
}

// peek is like next, but the time remains the next one.
func (s *schedule) peek() (time.Duration, bool) {
	if s.amount.Requests > 0 && s.count == s.amount.Requests {
		return 0, false
	}
	if !s.followingKnown {
		s.followingKnown = true
		s.followingArea = float64(int64(s.arrivals.Share)+s.count*int64(s.arrivals.Shares)) * s.scale
		if s.random != nil {
			s.followingArea = s.area + s.random.ExpFloat64()*float64(s.arrivals.Shares)*s.scale
		}
		s.following = s.amount.Profile.When(s.followingArea)
	}
	if s.amount.Requests == 0 && s.following >= s.amount.Duration() {
		return 0, false
	}
	return s.following, true
}

// plannedDuration returns the planned duration of the stage. With a number of requests it
// ends when the next request, of any client, would be due.
func (s *schedule) plannedDuration() time.Duration {
	switch {
	case s.amount.Requests == 0:
		return s.amount.Duration()
	case s.random != nil:
		return s.amount.Profile.When(s.area)
	}
	return s.amount.Profile.When(s.area + s.scale)
}
