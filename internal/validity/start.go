package validity

import "github.com/assay-dev/assay/internal/result"

const (
	// startSkewInvalidatesShare of the measurement without the full load is as large
	// as the differences that benchmarks look for.
	startSkewInvalidatesShare = 0.01
	// startSkewInvalidates, in microseconds, is too much for any measurement.
	startSkewInvalidates = 100_000
	// startSkewWarns, in microseconds, is more than clients on one node have.
	startSkewWarns = 5_000

	// overlapWarns and overlapInvalidates are shares of the whole measurement during
	// which all clients must have measured.
	overlapWarns       = 0.90
	overlapInvalidates = 0.50

	// clockErrorWarns is the error of a client's clock, in microseconds, from which on
	// its start skew means little.
	clockErrorWarns = 5_000
)

// startSkew finds clients that started far apart. Until the last of them has
// started, the target has less than the declared load.
func startSkew(r *result.Result) *result.Finding {
	skew := r.StartSkewMicroseconds()
	severity := result.Warns
	switch tooWide := float64(skew) > startSkewInvalidatesShare*float64(r.DurationMicroseconds); {
	case skew > startSkewInvalidates || tooWide:
		severity = result.Invalidates
	case skew <= startSkewWarns:
		return nil
	}
	return happened(found(ReasonStartSkew, severity,
		"The clients started %s apart, in a measurement of %s. Look for overloaded nodes or a slow network between clients and manager, or measure for longer.",
		milliseconds(skew), seconds(r.DurationMicroseconds)), 0, 0)
}

// clientsUneven finds clients that did not measure at the same time. The rate is
// computed from the first client's start to the last one's end. While some of them
// do not measure, the target has less than the declared load.
func clientsUneven(r *result.Result) *result.Finding {
	started, ended, any := result.Window(r.Clients)
	if !any || len(r.Clients) < 2 || ended <= started {
		return nil
	}
	together := overlap(r.Clients)
	share := float64(together) / float64(ended-started)
	severity := result.Warns
	switch {
	case share < overlapInvalidates:
		severity = result.Invalidates
	case share >= overlapWarns:
		return nil
	}
	return found(ReasonClientsUneven, severity,
		"All clients measured at the same time for only %s of %s (%.1f%%): some were faster than others, or started late. "+
			"Specify the load as durationSeconds instead of requests, and run the clients on equal nodes.",
		seconds(together), seconds(ended-started), 100*share)
}

// overlap returns the time during which all clients measured, in microseconds.
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

// clockUncertain finds clients with an uncertain clock. Start skew and the seconds
// of the series are by the manager's clock, with which each client compares its own
// during its session; half the round trip bounds the error (as in NTP, RFC 5905).
func clockUncertain(r *result.Result) *result.Finding {
	clockError := func(c *result.Client) float64 { return float64(c.ClockErrorMicroseconds) }
	c, _, count := worst(r, clockError, func(microseconds float64) bool { return microseconds > clockErrorWarns })
	if c == nil {
		return nil
	}
	return found(ReasonClockUncertain, result.Warns,
		"The clocks of %s are uncertain by more than %s (worst: client %d, ±%s), and so are start skew and the second-by-second series. "+
			"A slow network between clients and manager causes this, and so does a wall clock that is set: let NTP slew it.",
		ofClients(count, r), milliseconds(clockErrorWarns), c.Index, milliseconds(c.ClockErrorMicroseconds))
}

// clockStepped finds a wall clock that was set, or a host that slept, while the manager attended to the
// run. Durations are measured with the monotonic clock, but time limits aren't; and a host that slept
// may be one that measured.
func clockStepped(r *result.Result) *result.Finding {
	step := r.Environment.ClockStepMicroseconds
	if step == 0 {
		return nil
	}
	return found(ReasonClockStepped, result.Warns,
		"The wall clock of the manager's host advanced by %s more than its monotonic clock during the run: it was set, or the host slept. "+
			"Repeat the measurement. Let NTP slew the clock, and keep the host from sleeping.",
		seconds(step))
}
