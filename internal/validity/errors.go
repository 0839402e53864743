package validity

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/assay-dev/assay/internal/result"
)

const (
	// errorsInvalidatePercent of failed requests makes a result one about something
	// else than the server's speed.
	errorsInvalidatePercent = 10.0
	// errorsWarnPercent of failed requests is more than chance.
	errorsWarnPercent = 1.0
	// unansweredShare of the measurement is what the 99th percentile is about.
	unansweredShare = 0.01
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
		"None of %d requests succeeded: %s. Check that the target serves the requested paths.",
		r.Merged.Requests, mainCauses(r))
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
		severity, remedy = result.Invalidates, errorsRemedy(r)
	}
	return found(ReasonErrorsDominate, severity, "%.3g%% of the requests failed (%d of %d): %s. %s",
		percent, r.Merged.Errors.Total(), r.Merged.Requests, mainCauses(r), remedy)
}

// requestsUnanswered finds requests that were under way for long when the load was stopped. They are in no latency and no count of
// errors: a target that hangs would look like one that is done.
func requestsUnanswered(r *result.Result) *result.Finding {
	m := &r.Merged
	if m.Unanswered == 0 || m.OldestUnanswered <= m.Latencies.Get(result.Total).Max() ||
		float64(m.OldestUnanswered) < unansweredShare*float64(r.DurationMicroseconds) {
		return nil
	}
	severity := result.Warns
	if 100*float64(m.Unanswered) >= errorsInvalidatePercent*float64(m.Unanswered+m.Requests) {
		severity = result.Invalidates
	}
	return found(ReasonRequestsUnanswered, severity,
		"%d requests were unanswered when the load was stopped, the oldest for %s, longer than any other took. They are not among the %d requests and in no latency. "+
			"Find out whether the target hangs, and let the load end as planned: then they complete, or time out and count as failed.",
		m.Unanswered, seconds(m.OldestUnanswered), m.Requests)
}

// maxNamedCauses is the number of causes that a message names.
const maxNamedCauses = 3

// mainCauses names the most frequent causes of errors with their kinds. Without any, as of some other load generators, it
// names the most frequent kind.
func mainCauses(r *result.Result) string {
	type cause struct {
		kind  result.ErrorKind
		text  string
		count int64
	}
	var all []cause
	worst, most := result.ErrorKind(0), int64(0)
	for kind, n := range r.Merged.Errors.Occurred() {
		if n > most {
			worst, most = kind, n
		}
		for _, c := range r.Causes[kind] {
			all = append(all, cause{kind, c.Text, c.Count})
		}
	}
	switch {
	case most == 0:
		return "no errors"
	case len(all) == 0:
		return "mostly " + worst.String()
	}
	slices.SortStableFunc(all, func(a, b cause) int { return cmp.Compare(b.count, a.count) })
	var texts []string
	for _, c := range all[:min(maxNamedCauses, len(all))] {
		texts = append(texts, fmt.Sprintf("%d %s (%s)", c.count, c.kind, c.text))
	}
	if more := len(all) - maxNamedCauses; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more causes", more))
	}
	return strings.Join(texts, ", ")
}
