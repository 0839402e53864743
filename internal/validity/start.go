package validity

import "github.com/assay-dev/assay/internal/result"

const (
	// startSkewInvalidatesShare of the measurement without the full load is as
	// large as the differences that benchmarks look for.
	startSkewInvalidatesShare = 0.01
	// startSkewInvalidates is too much whatever the measurement's length, in
	// microseconds.
	startSkewInvalidates = 100_000
	// startSkewWarns is what clients on one node keep to, in microseconds.
	startSkewWarns = 5_000

	// overlapWarns and overlapInvalidates are the shares of the whole measurement
	// during which all clients must have measured.
	overlapWarns       = 0.90
	overlapInvalidates = 0.50

	// clockErrorWarns is the error of a client's clock, in microseconds, from
	// which on its start skew says little.
	clockErrorWarns = 5_000
)

// startSkew: until the last client has started, the target bears less than the
// load that the result is labelled with.
func startSkew(r *result.Result) *result.Finding {
	skew := r.StartSkewMicroseconds()
	const format = "the clients started within %s of each other, in a measurement of %s; %s"
	const mend = "look for overloaded nodes or a slow network between clients and manager, or measure for longer"
	tooWide := float64(skew) > startSkewInvalidatesShare*float64(r.DurationMicroseconds)
	switch {
	case skew > startSkewInvalidates, tooWide:
		return invalidates(ReasonStartSkew, format, milliseconds(skew), seconds(r.DurationMicroseconds), mend)
	case skew > startSkewWarns:
		return warns(ReasonStartSkew, format, milliseconds(skew), seconds(r.DurationMicroseconds), mend)
	}
	return nil
}

// clientsUneven: requests per second are taken from the first client's start to
// the last one's end; while some of them don't measure, the target bears less
// than the load that the result is labelled with.
func clientsUneven(r *result.Result) *result.Finding {
	started, ended, any := result.Window(r.Clients)
	if !any || len(r.Clients) < 2 || ended <= started {
		return nil
	}
	together := overlap(r.Clients)
	share := float64(together) / float64(ended-started)
	const format = "all clients measured at the same time for %s of %s (%.1f %%): some were faster than others or started late; give the load as durationSeconds rather than requests, and put the clients on equal nodes"
	switch {
	case share < overlapInvalidates:
		return invalidates(ReasonClientsUneven, format, seconds(together), seconds(ended-started), 100*share)
	case share < overlapWarns:
		return warns(ReasonClientsUneven, format, seconds(together), seconds(ended-started), 100*share)
	}
	return nil
}

// overlap is for how long all clients measured, in microseconds.
func overlap(clients []result.Client) int64 {
	started, ended := clients[0].StartedAt, clients[0].EndedAt
	for i := range clients {
		if clients[i].StartedAt == 0 {
			return 0
		}
		started, ended = max(started, clients[i].StartedAt), min(ended, clients[i].EndedAt)
	}
	return max(0, ended-started)
}

// clockUncertain: start skew and the seconds of the series are by the manager's
// clock, to which each client's is compared over its session; half the round
// trip bounds the error (as in NTP, RFC 5905).
func clockUncertain(r *result.Result) *result.Finding {
	worst, count := -1, 0
	for i := range r.Clients {
		if r.Clients[i].ClockErrorMicroseconds <= clockErrorWarns {
			continue
		}
		count++
		if worst < 0 || r.Clients[i].ClockErrorMicroseconds > r.Clients[worst].ClockErrorMicroseconds {
			worst = i
		}
	}
	if count == 0 {
		return nil
	}
	return warns(ReasonClockUncertain,
		"the clocks of %d of %d clients are known to no better than %s, client %d's to ±%s: start skew and the second-by-second series are as uncertain; look for a slow network between clients and manager",
		count, len(r.Clients), milliseconds(clockErrorWarns), r.Clients[worst].Index,
		milliseconds(r.Clients[worst].ClockErrorMicroseconds))
}
