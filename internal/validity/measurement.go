package validity

import (
	"fmt"

	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/steady"
)

const (
	// minMicroseconds is the shortest measurement that has more than one sample second.
	minMicroseconds = 1_000_000
	// minRequests is the smallest number of requests whose 99th percentile rests on ten of them.
	minRequests = 1_000
	// minBeyond is the smallest number of requests above a percentile that is more than a few of them. How
	// many there are varies by its square root: of ten by a third.
	minBeyond = 10
)

// tooShort finds short measurements. They are dominated by the opening of connections, the filling
// of caches and scheduling, and a percentile of few requests is one of them.
func tooShort(r *result.Result) *result.Finding {
	succeeded := r.Merged.Succeeded()
	if succeeded == 0 || (r.DurationMicroseconds >= minMicroseconds && succeeded >= minRequests) {
		return nil
	}
	unjudged := ""
	if r.DurationMicroseconds < minMicroseconds {
		unjudged = " What the clients used in so short a time isn't judged."
	}
	return found(ReasonTooShort, result.Warns,
		"The measurement has %d successful requests in %s. With fewer than %d, or in less than %s, high percentiles rest on a few requests.%s Make more requests, or measure for longer.",
		succeeded, seconds(r.DurationMicroseconds), minRequests, seconds(minMicroseconds), unjudged)
}

// tooFewSamples finds percentiles that few requests decide: the 99.9th, and those that thresholds use. What
// tooShort has found has too few of all requests for the others as well. Of several it has that with the fewest requests above it.
func tooFewSamples(r *result.Result) *result.Finding {
	if result.Prints(r.Run.Tool) { // tools print no percentile as high as that
		return nil
	}
	var worst *result.Finding
	fewest := int64(minBeyond)
	judge := func(p percentile.Percentile, n int64, of, because string) {
		if beyond := n - percentile.Rank(p.Percent(), n); beyond < fewest {
			more := "requests"
			if of != "" {
				more = "of them"
			}
			fewest = beyond
			worst = found(ReasonTooFewSamples, result.Warns,
				"Only %d of %d successful requests%s are above the %sth percentile%s so that it rests on them. Make at least %.0f %s, or use a lower percentile.",
				beyond, n, of, p, because, minBeyond/(1-p.Percent()/100), more)
		}
	}
	highest, because := percentile.P999, ","
	for _, p := range percentile.Common {
		for i := range r.Thresholds {
			t := &r.Thresholds[i]
			switch uses := fmt.Sprintf(", which the threshold %s uses,", t.Name()); {
			case t.Metric != "Latency"+p.Name():
			case t.Request == "" && p >= highest:
				highest, because = p, uses
			case t.Request != "":
				if m := r.Request(t.Request); m != nil && m.Requests > m.Errors.Total() {
					judge(p, m.Requests-m.Errors.Total(), " with the name "+t.Request, uses)
				}
			}
		}
	}
	if n := r.Merged.Succeeded(); n >= minRequests {
		judge(highest, n, "", because)
	}
	return worst
}

// noWarmup finds measurements of a cold target: the first requests meet cold caches and code that
// is not yet compiled. A Java server gets several times faster over its first ten thousand
// requests, for which reason published benchmarks discard their first rounds.
func noWarmup(r *result.Result) *result.Finding {
	switch {
	case r.Warmup != nil && r.Warmup.Succeeded() > 0:
		return nil
	case r.Warmup != nil && r.Warmup.Requests > 0:
		return happened(found(ReasonNoWarmup, result.Warns,
			"None of the %d requests of the warm-up succeeded, so the target was measured cold. Find the cause of their errors.", r.Warmup.Requests), 0, 0)
	case r.Run.Load == result.LoadScript:
		return happened(found(ReasonNoWarmup, result.Warns, "The target was measured cold, unless the script's setup() has warmed it up, which Assay cannot detect."), 0, 0)
	}
	return happened(found(ReasonNoWarmup, result.Warns, "The target was measured cold. Set warmup, long enough for its code to be compiled and its caches to be filled."), 0, 0)
}

// warmupNotSteady finds measurements of a target that was not steady. While the
// metrics still move, a result depends on when it is measured, and two runs of the
// same differ (Georges, Buytaert and Eeckhout, OOPSLA 2007).
func warmupNotSteady(r *result.Result) *result.Finding {
	if r.Warmup == nil || r.Warmup.Steady == nil || r.Warmup.Steady.Reached {
		return nil
	}
	return happened(found(ReasonWarmupNotSteady, result.Warns,
		"The target was not steady when its warm-up timed out after %s: %s. Increase warmup.steady.timeoutSeconds, or windowSeconds and the bounds if its metrics vary by nature.",
		seconds(r.Warmup.DurationMicroseconds), steady.Describe(r.Warmup.Steady)), 0, 0)
}

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
