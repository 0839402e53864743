package driver

import (
	"math/rand/v2"
	"time"

	"github.com/assay-dev/assay/internal/session"
)

// schedule is the instants at which one client of an open load is to make its
// requests. Each is computed from its number, so that nothing adds up: evenly
// spaced, the requests of all clients are those that a single one would make,
// of which a client of n makes every n-th. Poisson arrivals of all clients
// together are those of as many independent ones with an equal part of the rate.
type schedule struct {
	arrivals *session.Arrivals
	amount   session.Amount
	random   *rand.Rand // nil when evenly spaced
	made     int64
	// area is what the rate of all clients adds up to until the last instant.
	area float64
}

// arrivalsStream tells the random numbers of arrivals from those of connections,
// which have their numbers.
const arrivalsStream = 1 << 63

func newSchedule(plan *session.Plan, amount session.Amount) schedule {
	s := schedule{arrivals: plan.Arrivals, amount: amount}
	if plan.Arrivals.Poisson {
		s.random = rand.New(rand.NewPCG(plan.Seed, arrivalsStream))
	}
	return s
}

// next is the next instant, from the stage's start; false when there is none.
func (s *schedule) next() (time.Duration, bool) {
	if s.amount.Requests > 0 && s.made == s.amount.Requests {
		return 0, false
	}
	area := float64(int64(s.arrivals.Share) + s.made*int64(s.arrivals.Shares))
	if s.random != nil {
		area = s.area + s.random.ExpFloat64()*float64(s.arrivals.Shares)
	}
	at := s.amount.Profile.When(area)
	if s.amount.Requests == 0 && at >= s.amount.Duration() {
		return 0, false
	}
	s.area = area
	s.made++
	return at, true
}

// planned is the time in which the requests are to be made: the duration, or
// the instant at which somebody's next request would be due.
func (s *schedule) planned() time.Duration {
	switch {
	case s.amount.Requests == 0:
		return s.amount.Duration()
	case s.random != nil:
		return s.amount.Profile.When(s.area)
	}
	return s.amount.Profile.When(s.area + 1)
}
