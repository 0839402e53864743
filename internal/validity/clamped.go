package validity

import "github.com/assay-dev/assay/internal/result"

// latencyClamped: a duration outside a histogram's geometry is counted at its
// nearest end, so that percentiles which reach it are bounds, not values.
func latencyClamped(r *result.Result) *result.Finding {
	var clamped int64
	var where result.Phase
	for phase := range result.AllPhases() {
		if n := r.Merged.Latencies.Get(phase).Clamped(); n > clamped {
			clamped, where = n, phase
		}
	}
	if clamped == 0 {
		return nil
	}
	h := r.Merged.Latencies.Get(where)
	return warns(ReasonLatencyClamped,
		"%d of %d durations (%s) were outside the histogram's range of %d µs to %s, the longest %s: percentiles that reach them are too low, mean and maximum are exact; lower connection.timeoutSeconds or the load",
		clamped, h.Count(), where, result.LowestMicroseconds, seconds(result.HighestMicroseconds), seconds(h.Max()))
}
