package validity

import (
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/steady"
)

const (
	// shortestMicroseconds is the shortest measurement that has more than one
	// sample second.
	shortestMicroseconds = 1_000_000
	// fewestRequests is the smallest number of requests whose 99th percentile
	// rests on ten of them.
	fewestRequests = 1_000
)

// tooShort: a short measurement is of connections opening, caches filling and
// the scheduler's chance, and a percentile of few requests is one of them.
func tooShort(r *result.Result) *result.Finding {
	succeeded := r.Merged.Succeeded()
	if succeeded == 0 || (r.DurationMicroseconds >= shortestMicroseconds && succeeded >= fewestRequests) {
		return nil
	}
	return warns(ReasonTooShort,
		"%d requests succeeded in %s, fewer than %d or in less than %s: high percentiles rest on a handful of requests; make more requests or measure for longer",
		succeeded, seconds(r.DurationMicroseconds), fewestRequests, seconds(shortestMicroseconds))
}

// noWarmup: the first requests meet cold caches and code that isn't compiled
// yet. A Java server gets several times faster over its first ten thousands of
// requests, for which reason published benchmarks discard their first rounds.
func noWarmup(r *result.Result) *result.Finding {
	if r.Warmup != nil && r.Warmup.Succeeded() > 0 {
		return nil
	}
	if r.Warmup != nil && r.Warmup.Requests > 0 {
		return warns(ReasonNoWarmup, "of %d requests before the measurement none succeeded: the target was measured cold; look for the cause of their errors",
			r.Warmup.Requests)
	}
	if r.Run.Load == result.LoadScript {
		return warns(ReasonNoWarmup, "the target was measured cold unless the script's setup() has warmed it up, which can't be seen here")
	}
	return warns(ReasonNoWarmup, "the target was measured cold; set warmup, long enough for its code to be compiled and its caches filled")
}

// warmupNotSteady: while the figures still move, what is measured depends on when
// it is measured, and two runs of the same differ (Georges, Buytaert and
// Eeckhout, OOPSLA 2007).
func warmupNotSteady(r *result.Result) *result.Finding {
	if r.Warmup == nil || r.Warmup.Steady == nil || r.Warmup.Steady.Reached {
		return nil
	}
	return warns(ReasonWarmupNotSteady,
		"the target wasn't steady when its warm-up ended by the limit, after %s: %s; raise warmup.steady.limitSeconds, or windowSeconds and the bounds if its figures vary by nature",
		seconds(r.Warmup.DurationMicroseconds), steady.Describe(r.Warmup.Steady))
}
