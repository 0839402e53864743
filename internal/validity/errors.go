package validity

import "github.com/assay-dev/assay/internal/result"

const (
	// errorsInvalidatePercent of all requests failing leaves a result about
	// something else than the server's speed.
	errorsInvalidatePercent = 10.0
	// errorsWarnPercent of all requests failing is more than chance.
	errorsWarnPercent = 1.0
)

// nothingSucceeded: latencies and rates are of requests that succeeded; without
// one there are none.
func nothingSucceeded(r *result.Result) *result.Finding {
	if r.Merged.Succeeded() > 0 {
		return nil
	}
	if r.Script != nil && r.Script.Iterations > 0 && r.Merged.Requests == 0 {
		return warns(ReasonNoRequests, "the script made no HTTP requests: rates and latencies are of those alone, see k6's metrics for what it did")
	}
	return invalidates(ReasonNothingSucceeded,
		"of %d requests none succeeded (%s); see the errors by kind, and whether the target serves the paths that are asked for",
		r.Merged.Requests, worstError(r.Merged.Errors))
}

// errorsDominate: a failed request costs the server less, or more, than one
// that succeeds, and its time is in no latency. The wider the share, the less
// rate and latencies say about the load that was asked for. (Sun's comparison
// of 2003 took 5 % of users failing for the breaking point of a server; a rate
// beyond that is no longer one at which the server works.)
func errorsDominate(r *result.Result) *result.Finding {
	percent := r.Merged.ErrorPercent()
	if r.Merged.Succeeded() == 0 || percent < errorsWarnPercent {
		return nil
	}
	const format = "%.3g %% of the requests failed (%d of %d, %s); %s"
	if percent >= errorsInvalidatePercent {
		return invalidates(ReasonErrorsDominate, format, percent, r.Merged.Errors.Total(), r.Merged.Requests,
			worstError(r.Merged.Errors), "remove their cause, or lower the load until the target can serve it")
	}
	return warns(ReasonErrorsDominate, format, percent, r.Merged.Errors.Total(), r.Merged.Requests,
		worstError(r.Merged.Errors), "latencies are of the others only; look for their cause")
}

// worstError names the kind of error that occurred most.
func worstError(errors result.ErrorCounts) string {
	worst := result.ErrorKind(0)
	for k := range errors {
		if errors[k] > errors[worst] {
			worst = result.ErrorKind(k)
		}
	}
	if errors[worst] == 0 {
		return "no errors"
	}
	return "mostly " + worst.String()
}
