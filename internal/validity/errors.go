package validity

import "github.com/assay-dev/assay/internal/result"

const (
	// errorsInvalidatePercent of failed requests makes a result one about something
	// else than the server's speed.
	errorsInvalidatePercent = 10.0
	// errorsWarnPercent of failed requests is more than chance.
	errorsWarnPercent = 1.0
)

// nothingSucceeded finds a result without latencies and rates, which are those of
// successful requests.
func nothingSucceeded(r *result.Result) *result.Finding {
	if r.Merged.Succeeded() > 0 {
		return nil
	}
	if r.Script != nil && r.Script.Iterations > 0 && r.Merged.Requests == 0 {
		return found(ReasonNoRequests, result.Warns,
			"The script made no HTTP requests. Rates and latencies are those of HTTP requests only: see k6's metrics for what the script did.")
	}
	return found(ReasonNothingSucceeded, result.Invalidates,
		"None of %d requests succeeded (%s). See the errors by kind, and check that the target serves the requested paths.",
		r.Merged.Requests, worstError(r.Merged.Errors))
}

// errorsDominate finds many failed requests. A failed request costs the server less, or more, than
// a successful one, and its time is in no latency. The larger their share, the less rate and
// latencies say about the declared load. Sun's comparison of 2003 took 5% of users failing for the
// breaking point of a server: a rate beyond that is no longer one at which the server works.
func errorsDominate(r *result.Result) *result.Finding {
	percent := r.Merged.ErrorPercent()
	if r.Merged.Succeeded() == 0 || percent < errorsWarnPercent {
		return nil
	}
	severity, remedy := result.Warns, "Latencies are those of the others only. Find the cause of the errors."
	if percent >= errorsInvalidatePercent {
		severity, remedy = result.Invalidates, "Fix the cause of the errors, or lower the load until the target can serve it."
	}
	return found(ReasonErrorsDominate, severity, "%.3g%% of the requests failed (%d of %d, %s). %s",
		percent, r.Merged.Errors.Total(), r.Merged.Requests, worstError(r.Merged.Errors), remedy)
}

// worstError names the most frequent kind of error.
func worstError(errors result.ErrorCounts) string {
	worst, most := result.ErrorKind(0), int64(0)
	for k, n := range errors.Occurred() {
		if n > most {
			worst, most = k, n
		}
	}
	if most == 0 {
		return "no errors"
	}
	return "mostly " + worst.String()
}
