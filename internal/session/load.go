package session

import "fmt"

// maxPerSecond bounds arrival rates, over all clients.
const maxPerSecond = 100_000_000

// MaxLevels bounds the levels of a load.
const MaxLevels = 20

// Arrivals sets the intended start times of the requests of an open load, which don't depend on the
// responses to earlier ones. The arrival rate is that of all clients together. Each client has a
// share: together they send the requests that a single one would send.
type Arrivals struct {
	// Share is the client's number, from 0. Shares is the number of clients.
	Share  int `json:"share"`
	Shares int `json:"shares"`
	// Poisson makes the inter-arrival times independent and exponentially
	// distributed, instead of constant.
	Poisson bool `json:"poisson,omitempty"`
}

// ThinkTime is the time between two requests of a connection. It is uniformly
// distributed between two bounds.
type ThinkTime struct {
	MinMicroseconds int64 `json:"minMicroseconds"`
	MaxMicroseconds int64 `json:"maxMicroseconds"`
}

func (a *Arrivals) check(amount Amount) error {
	switch {
	case a.Share < 0 || a.Share >= a.Shares:
		return fmt.Errorf("share %d of %d arrivals", a.Share, a.Shares)
	case amount.Profile.Final() == 0:
		return fmt.Errorf("arrivals that end at rate 0")
	}
	return amount.Profile.Check(maxPerSecond)
}

// checkShape returns an error for a profile that no client could follow.
func (p *Plan) checkShape(amount Amount) error {
	if p.Arrivals != nil {
		return p.Arrivals.check(amount)
	}
	return amount.Profile.Check(int64(p.Connections))
}
