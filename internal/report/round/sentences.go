package round

import (
	"fmt"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/number"
)

// Headline returns the verdict in words.
func (r *Report) Headline() string {
	verdict, reason := verdictOf(r.Round)
	return capital(verdict) + reason
}

// headline returns the verdict in capital letters.
func headline(r *benchmark.Round) string {
	verdict, reason := verdictOf(r)
	return strings.ToUpper(verdict) + reason
}

// verdictOf returns the verdict in small letters and, if it doesn't follow from the claims, the reason.
func verdictOf(r *benchmark.Round) (verdict, reason string) {
	switch r.Verdict {
	case v1alpha1.BenchmarkPassed, v1alpha1.BenchmarkFailed, v1alpha1.BenchmarkMeasured:
	case v1alpha1.BenchmarkInconclusive:
		if r.Reason != "" && r.Reason != benchmark.ReasonCompleted && r.Reason != v1alpha1.ReasonInconclusive {
			reason = ": " + r.Reason
		}
	case v1alpha1.BenchmarkError:
		reason = ": " + r.Reason
	default:
		return "no verdict", ""
	}
	return strings.ToLower(string(r.Verdict)), reason
}

// CountsAsFailed says what an inconclusive round counts as, or is empty if it doesn't count as failed.
func (r *Report) CountsAsFailed() string {
	if r.Verdict != v1alpha1.BenchmarkInconclusive || r.Spec.OnInconclusive == v1alpha1.InconclusivePasses {
		return ""
	}
	return "Counts as failed: onInconclusive is Fail."
}

// Sentences returns what became of the claims, those that are contradicted first.
func (r *Report) Sentences() []doc.Sentence {
	rows := r.claimRows()
	sentences := make([]doc.Sentence, len(rows))
	for i := range rows {
		sentences[i] = r.sentence(&rows[i])
	}
	return sentences
}

// sentence returns what became of a claim.
func (r *Report) sentence(e *EffectRow) doc.Sentence {
	s := doc.Sentence{Tone: e.Tone(), Lead: e.Word(), Text: statement(e, e.Label, e.BaselineLabel) + "."}
	if !e.Claim.Gate { // whose name says the same
		s.Text = e.Claim.Name + ": " + s.Text
	}
	switch {
	case e.Message != "":
		s.Text += " Not compared: " + e.Message
	case e.Percent == nil:
		s.Text += fmt.Sprintf(" The difference is unknown: %s.", e.Missing)
	case e.LowPercent == nil && e.HighPercent == nil:
		s.Text += fmt.Sprintf(" It is %s, with too few blocks for an interval.", e.Change())
	default:
		s.Text += fmt.Sprintf(" It is %s (%s).", e.Change(), e.Interval())
	}
	if e.DifferentTimes && e.Message == "" {
		s.Text += " Measured at different times."
	}
	if e.Claim.Verdict == v1alpha1.ClaimUndecided {
		s.Text += r.toDecide(e)
	}
	return s
}

// statement returns what a claim says, with the names of both sides: "p99 of apr is at least 10% lower than that of nio".
func statement(e *EffectRow, cell, than string) string {
	return fmt.Sprintf("%s of %s is %s that of %s", leveled(e.Metric, e.Claim.Level), cell, e.Claim.Statement(), than)
}

// toDecide says what is missing for a claim to be decided.
func (r *Report) toDecide(e *EffectRow) (text string) {
	if e.DetectablePercent != nil {
		text += fmt.Sprintf(" %s find differences of %s.", r.withBlocks(), Detectable(e.Effect))
	}
	if e.Claim.BlocksToDecide > 0 {
		text += fmt.Sprintf(" About %d blocks would decide.", e.Claim.BlocksToDecide)
	}
	return text
}

func (r *Report) withBlocks() string {
	if r.Blocks == 0 { // the status has no figures
		return "A round like this one can"
	}
	return fmt.Sprintf("With %s this round can", number.Plural(r.Blocks, "block"))
}

// The tones of verdicts; others are unsure.
var (
	claimTones = map[v1alpha1.ClaimVerdict]doc.Tone{v1alpha1.ClaimConfirmed: doc.Good, v1alpha1.ClaimContradicted: doc.Bad}
	tones      = map[v1alpha1.BenchmarkVerdict]doc.Tone{
		v1alpha1.BenchmarkPassed: doc.Good, v1alpha1.BenchmarkFailed: doc.Bad, v1alpha1.BenchmarkError: doc.Bad, v1alpha1.BenchmarkMeasured: doc.Same,
	}
)
