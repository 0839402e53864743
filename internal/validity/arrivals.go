package validity

import "github.com/assay-dev/assay/internal/result"

const (
	// shortfallWarnsPercent of the rate asked for is more than what rounding and
	// the end of a measurement cost; shortfallInvalidatesPercent is another load
	// than the one asked for.
	shortfallWarnsPercent       = 1.0
	shortfallInvalidatesPercent = 5.0
	// lateStarts is how late one request in a hundred may start, in microseconds,
	// before its delay shows in the latencies as if it were the target's.
	lateStarts = 10_000
)

// rateNotAchieved finds an open load that was less than asked for. Of stages,
// whose purpose may be to find where that begins, it only warns.
func rateNotAchieved(r *result.Result) *result.Finding {
	a := r.Arrivals
	if a == nil || a.AskedPerSecond() == 0 {
		return nil
	}
	dropped := r.Merged.Dropped
	asked, achieved := a.AskedPerSecond(), a.AchievedPerSecond(dropped)
	short := 100 * (asked - achieved) / asked
	if short < shortfallWarnsPercent && dropped == 0 {
		return nil
	}
	const format = "%.2f of %.2f requests/s were started (%.1f %% less), %d of %d were dropped since no connection was free for them in time; lower the rate or, if the target can do more, raise maxConnections or clients.replicas"
	if short >= shortfallInvalidatesPercent && len(r.Levels) == 0 {
		return invalidates(ReasonRateNotAchieved, format, achieved, asked, short, dropped, a.Due)
	}
	return warns(ReasonRateNotAchieved, format, achieved, asked, short, dropped, a.Due)
}

// startsLate finds an open load whose requests didn't start when they were
// meant to.
func startsLate(r *result.Result) *result.Finding {
	late := r.Merged.Latencies.Get(result.Delay).Percentile(99)
	if late <= lateStarts {
		return nil
	}
	return warns(ReasonStartsLate,
		"one request in a hundred started %s or more after it was meant to, for lack of a free connection or of CPU in the client; the latencies have that in them, the service times don't: compare the two, and raise maxConnections or clients.resources.cpu if the target isn't the cause",
		milliseconds(late))
}
