package session

import "fmt"

// mostPerSecond bounds rates of arrivals, over all clients.
const mostPerSecond = 100_000_000

// MaxLevels bounds the levels of a load.
const MaxLevels = 20

// Arrivals says how the requests of an open load are made: each at an instant
// of its own, whatever became of those before. The rate is that of all clients
// together, of which each has a share: all of them make the requests that one
// would make alone.
type Arrivals struct {
	// Share counts the clients from 0, Shares is their number.
	Share  int `json:"share"`
	Shares int `json:"shares"`
	// Poisson is whether the instants are random, with independent intervals, and
	// not evenly spaced.
	Poisson bool `json:"poisson,omitempty"`
}

// ThinkTime is a time between two requests of a connection, drawn evenly from
// between two bounds.
type ThinkTime struct {
	MinMicroseconds int64 `json:"minMicroseconds"`
	MaxMicroseconds int64 `json:"maxMicroseconds"`
}

func (a *Arrivals) check(amount Amount) error {
	switch {
	case a.Share < 0 || a.Share >= a.Shares:
		return fmt.Errorf("share %d of %d of the arrivals", a.Share, a.Shares)
	case amount.Profile.Final() == 0:
		return fmt.Errorf("arrivals that end at a rate of 0")
	}
	return amount.Profile.Check(mostPerSecond)
}

// checkShape returns an error that says what no client could carry out of a
// stage's shape.
func (p *Plan) checkShape(amount Amount) error {
	if p.Arrivals != nil {
		return p.Arrivals.check(amount)
	}
	return amount.Profile.Check(int64(p.Connections))
}
