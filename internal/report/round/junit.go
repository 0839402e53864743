package round

import (
	"cmp"
	"fmt"
	"io"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/report"
)

// writeJUnit writes a case for the verdict and one for each claim. What is undecided is skipped with
// its reason. Invalid runs have no case: the round replaced them, or its verdict says that they were too many.
func writeJUnit(w io.Writer, r *Report) error {
	class := r.Namespace + "." + r.Benchmark
	s := report.NewTestSuite(fmt.Sprintf("Benchmark %s/%s", r.Namespace, r.Benchmark), r.Started, r.Ended.Sub(r.Started))
	verdict := report.TestCase{Class: class, Name: "verdict", Output: fmt.Sprintf("round %d: %s", r.Number, headline(r.Round))}
	setOutcome(&verdict, r.Verdict, r.Message)
	s.Add(verdict)
	for _, row := range r.claimRows() {
		sentence := r.sentence(&row).String()
		c := report.TestCase{Class: class + ".claims", Name: row.Claim.Name, Output: sentence}
		setOutcome(&c, map[v1alpha1.ClaimVerdict]v1alpha1.BenchmarkVerdict{
			v1alpha1.ClaimConfirmed: v1alpha1.BenchmarkPassed, v1alpha1.ClaimContradicted: v1alpha1.BenchmarkFailed, v1alpha1.ClaimUndecided: v1alpha1.BenchmarkInconclusive,
		}[row.Claim.Verdict], sentence)
		s.Add(c)
	}
	return report.WriteJUnit(w, s)
}

// setOutcome sets the outcome of a case by a verdict.
func setOutcome(c *report.TestCase, verdict v1alpha1.BenchmarkVerdict, reason string) {
	reason = cmp.Or(reason, string(verdict))
	switch verdict {
	case v1alpha1.BenchmarkPassed, v1alpha1.BenchmarkMeasured:
	case v1alpha1.BenchmarkFailed:
		c.Failure = &report.TestOutcome{Message: reason}
	case v1alpha1.BenchmarkInconclusive:
		c.Skipped = &report.TestOutcome{Message: reason}
	default:
		c.Error = &report.TestOutcome{Message: reason}
	}
}
