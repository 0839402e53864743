package validity

import "github.com/assay-dev/assay/internal/result"

// rulesSoFar are the rules whose evidence a measurement under way has: its merged counts, its seconds and what the
// target's containers have used. The others need the clients' totals, or can only be judged at the end.
var rulesSoFar = []rule{
	nothingSucceeded,
	errorsDominate,
	saturatedForAPart,
	targetThrottled,
	nodeBusy,
	acceptQueueOverflow,
	latencyClamped,
}

// SoFar returns the findings of a measurement under way, most severe first. Of the result's clients, only the start and
// the end so far are used. The result may have other findings in the end. There are none until a request has completed.
func SoFar(r *result.Result) []result.Finding {
	if r.Merged.Requests == 0 {
		return nil
	}
	var findings []result.Finding
	for _, check := range rulesSoFar {
		if f := check(r); f != nil {
			findings = append(findings, *f)
		}
	}
	sortFindings(findings)
	return findings
}
