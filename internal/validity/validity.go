// Package validity judges results: rules over a result that say what speaks
// against trusting it, and thresholds compared with it. Everything in it is
// pure, and nothing in it knows Kubernetes.
package validity

import (
	"slices"

	"github.com/assay-dev/assay/internal/result"
)

// rule looks at one thing in a result and returns what speaks against trusting
// it, or nil.
type rule func(*result.Result) *result.Finding

// rules are all rules, in the order in which findings of the same severity are
// listed.
var rules = []rule{
	nothingSucceeded,
	errorsDominate,
	scriptFailed,
	loadEndedEarly,
	targetUnproven,
	clientSaturated,
	clientThrottled,
	clientStalls,
	startSkew,
	clientsUneven,
	clockUncertain,
	rateNotAchieved,
	iterationsDropped,
	startsLate,
	tooShort,
	noWarmup,
	warmupNotSteady,
	targetUnseen,
	targetCPUShared,
	targetThrottled,
	latencyClamped,
	teardownFailed,
	metricsLeftOut,
}

// Judge returns what speaks against trusting the result: first what invalidates
// it, then what the reader should know. It looks only at what was measured,
// not at Findings already there.
func Judge(r *result.Result) []result.Finding {
	var findings []result.Finding
	for _, look := range rules {
		if f := look(r); f != nil {
			findings = append(findings, *f)
		}
	}
	slices.SortStableFunc(findings, func(a, b result.Finding) int {
		return rank(a.Severity) - rank(b.Severity)
	})
	return findings
}

// Valid is whether none of the findings invalidates the result.
func Valid(findings []result.Finding) bool {
	return !slices.ContainsFunc(findings, func(f result.Finding) bool {
		return f.Severity == result.Invalidates
	})
}

func rank(s result.Severity) int {
	if s == result.Invalidates {
		return 0
	}
	return 1
}
