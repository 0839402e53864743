package validity

import "github.com/assay-dev/assay/internal/result"

// latencyClamped finds durations outside the geometry of the histograms. They are counted at its
// nearest end, so that percentiles which reach them are bounds, not values.
func latencyClamped(r *result.Result) *result.Finding {
	var clamped int64
	var where result.Phase
	for phase := range result.Phases {
		if n := r.Merged.Latencies.Get(phase).Clamped(); n > clamped {
			clamped, where = n, phase
		}
	}
	if clamped == 0 {
		return nil
	}
	h := r.Merged.Latencies.Get(where)
	return found(ReasonLatencyClamped, result.Warns,
		"%d of %d durations (%s) were outside the range of histograms, %d µs to %s; the longest was %s. "+
			"Percentiles that reach them are too low, mean and maximum are exact. Lower the timeout or the load.",
		clamped, h.Count(), where, result.LowestMicroseconds, seconds(result.HighestMicroseconds), seconds(h.Max()))
}
