package validity

import "github.com/assay-dev/assay/internal/result"

const (
	// shortfallWarnsPercent of the target rate is more than rounding and the end of a measurement
	// account for. shortfallInvalidatesPercent makes it another load than the one declared.
	shortfallWarnsPercent       = 1.0
	shortfallInvalidatesPercent = 5.0
	// lateStarts is the start delay in microseconds that one request in a hundred may
	// have before it shows in the latencies as if the target had caused it.
	lateStarts = 10_000
)

// rateNotAchieved finds an open load below its target rate. A load of stages, whose
// purpose may be to find where that begins, is only warned about.
func rateNotAchieved(r *result.Result) *result.Finding {
	a := r.Arrivals
	if a == nil || a.TargetRatePerSecond() == 0 {
		return nil
	}
	dropped := r.Merged.Dropped
	target, achieved := a.TargetRatePerSecond(), a.AchievedPerSecond(dropped)
	short := 100 * (target - achieved) / target
	if short < shortfallWarnsPercent && dropped == 0 {
		return nil
	}
	severity := result.Warns
	if short >= shortfallInvalidatesPercent && len(r.Levels) == 0 {
		severity = result.Invalidates
	}
	return found(ReasonRateNotAchieved, severity,
		"Clients started %.2f requests/s, %.1f%% less than the target rate of %.2f. %d of %d requests were dropped because no connection was free in time. "+
			"Lower the rate or, if the target is not saturated, increase maxConnections or clients.replicas.",
		achieved, short, target, dropped, a.Due)
}

// startsLate finds an open load whose requests did not start at their intended times.
func startsLate(r *result.Result) *result.Finding {
	late := r.Merged.Latencies.Get(result.Delay).Percentile(99)
	if late <= lateStarts {
		return nil
	}
	return found(ReasonStartsLate, result.Warns,
		"1%% of the requests started %s or more after their intended start time. Either no connection was free, or the client lacked CPU time. "+
			"Response times include this delay, service times do not: compare them, and increase maxConnections or clients.resources.cpu unless the target is the cause.",
		milliseconds(late))
}
