package round

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/benchmark/inference"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/number"
)

// Headline returns the verdict in words.
func (r *Report) Headline() string {
	verdict, reason := verdictOf(r.Round)
	switch {
	case r.Verdict == v1alpha1.BenchmarkInconclusive && r.Reason == benchmark.ReasonIncomparable:
		return "Inconclusive: not compared"
	case r.Verdict == v1alpha1.BenchmarkInconclusive:
		return "Inconclusive: " + verdict + reason
	}
	return capital(verdict) + reason
}

// headline returns the verdict in capital letters.
func headline(r *benchmark.Round) string {
	verdict, reason := verdictOf(r)
	return strings.ToUpper(verdict) + reason
}

// verdictOf returns the verdict in small letters and, if it doesn't follow from the effects, the reason.
func verdictOf(r *benchmark.Round) (verdict, reason string) {
	switch r.Verdict {
	case v1alpha1.BenchmarkPassed:
		return "passed", ""
	case v1alpha1.BenchmarkFailed:
		return "failed", ""
	case v1alpha1.BenchmarkInconclusive:
		if r.Reason != "" && r.Reason != benchmark.ReasonCompleted && r.Reason != v1alpha1.ReasonInconclusive {
			reason = ": " + r.Reason
		}
		return "can't tell yet", reason
	case v1alpha1.BenchmarkError:
		return "error", ": " + r.Reason
	}
	return "no verdict", ""
}

// CountsAsFailed says what an inconclusive round counts as, or is empty if it doesn't count as failed.
func (r *Report) CountsAsFailed() string {
	c := r.Spec.Comparison
	if r.Verdict != v1alpha1.BenchmarkInconclusive || c == nil || c.OnInconclusive == v1alpha1.InconclusivePasses {
		return ""
	}
	return "Counts as failed: comparison.onInconclusive is Fail."
}

// Sentences returns what the effects of the gate mean, the worst first.
func (r *Report) Sentences() []doc.Sentence {
	var sentences []doc.Sentence
	for _, e := range benchmark.Ranked(r.Effects) {
		if e.Role == v1alpha1.RoleGate {
			sentences = append(sentences, r.Sentence(&e))
		}
	}
	return sentences
}

// Sentence returns what an effect means.
func (r *Report) Sentence(e *benchmark.Effect) doc.Sentence {
	what := fmt.Sprintf("%s of %s", MetricName(e.Metric), r.Label(e.Cell))
	s := lead(e)
	switch {
	case e.Word == v1alpha1.EffectIncomparable:
		return doc.Sentence{Tone: doc.Unsure, Lead: "Not compared", Text: fmt.Sprintf("%s with %s. %s", what, r.ComparedWith(e), e.Message)}
	case e.Percent == nil:
		return doc.Sentence{Tone: doc.Unsure, Lead: "Can't tell yet", Text: what + " is unknown."}
	case e.Word == v1alpha1.EffectBetter, e.Word == v1alpha1.EffectWorse:
		s.Text = fmt.Sprintf("%s is %s (%s).", what, r.than(e, *e.Percent), sizes(e))
	case e.Word == v1alpha1.EffectNoDifference:
		s.Text = fmt.Sprintf("%s is %s (%s).", what, r.bound(e), changes(e))
	case e.Verdict == v1alpha1.BenchmarkPassed:
		s.Text = fmt.Sprintf("%s is %s (%s): not worse.", what, r.bound(e), changes(e))
	default:
		s.Text = fmt.Sprintf("%s is %s; the tolerance is %d%%.", what, r.span(e), e.TolerancePercent) + r.toDecide(e)
	}
	return s
}

// toDecide says what is missing for an effect to be decided.
func (r *Report) toDecide(e *benchmark.Effect) (text string) {
	if e.DifferentTimes {
		text += " Measured at different times."
	}
	if e.DetectablePercent != nil {
		text += fmt.Sprintf(" %s find differences of %s.", r.withBlocks(), Detectable(e))
	}
	if e.BlocksToDecide > 0 {
		text += fmt.Sprintf(" About %d blocks would decide.", e.BlocksToDecide)
	}
	return text
}

func (r *Report) withBlocks() string {
	if r.Blocks == 0 { // the status has no figures
		return "A round like this one can"
	}
	return fmt.Sprintf("With %s this round can", number.Plural(r.Blocks, "block"))
}

// lead returns the lead of a sentence: the verdict of an effect of the gate, else its word.
func lead(e *benchmark.Effect) doc.Sentence {
	switch e.Verdict {
	case v1alpha1.BenchmarkFailed:
		return doc.Sentence{Tone: doc.Bad, Lead: "Failed"}
	case v1alpha1.BenchmarkPassed:
		return doc.Sentence{Tone: doc.Good, Lead: "Passed"}
	}
	return doc.Sentence{Tone: Tone(e.Word), Lead: capital(inference.Phrase(e.Word))}
}

// Tone returns the tone of an effect's word.
func Tone(word v1alpha1.EffectWord) doc.Tone {
	switch word {
	case v1alpha1.EffectBetter:
		return doc.Good
	case v1alpha1.EffectWorse:
		return doc.Bad
	case v1alpha1.EffectNoDifference:
		return doc.Same
	}
	return doc.Unsure
}

const (
	// doubledPercent and halvedPercent are the changes from which on effects are written as ratios.
	doubledPercent = 100
	halvedPercent  = -50
)

// than returns a change in comparison with the baseline, as in "12% worse than nio's".
func (r *Report) than(e *benchmark.Effect, percent float64) string {
	baseline := "that of " + r.ComparedWith(e)
	if r.Cells[e.Cell].Baseline != cells.NoBaseline {
		baseline = r.ComparedWith(e) + "'s"
	}
	if isRatio(percent) {
		return fmt.Sprintf("%s times %s", ratio(percent), baseline)
	}
	return fmt.Sprintf("%s than %s", sided(e, percent), baseline)
}

func isRatio(percent float64) bool { return percent >= doubledPercent || percent <= halvedPercent }

// ratio returns a change as a factor.
func ratio(percent float64) string {
	factor := 1 + percent/100
	return number.Fixed(factor, max(1, number.Decimals(factor, 0)-1))
}

// size returns a change in percent without its sign.
func size(e *benchmark.Effect, percent float64) string {
	return number.Fixed(math.Abs(percent), percentDecimals(e)) + "%"
}

// sided returns a change with its direction, as in "12% worse".
func sided(e *benchmark.Effect, percent float64) string {
	if worse(e, percent) {
		return size(e, percent) + " worse"
	}
	return size(e, percent) + " better"
}

func worse(e *benchmark.Effect, percent float64) bool {
	return (percent > 0) != (direction(e) == v1alpha1.HigherIsBetter)
}

// direction returns in which direction a metric is better.
func direction(e *benchmark.Effect) v1alpha1.Direction {
	switch {
	case e.Better != "":
		return e.Better
	case benchmark.HigherIsBetter(e.Metric):
		return v1alpha1.HigherIsBetter
	}
	return v1alpha1.LowerIsBetter
}

// ends returns the end of the interval on the bad side, and that on the good one; nil where it isn't bounded.
func ends(e *benchmark.Effect) (bad, good *float64) {
	if direction(e) == v1alpha1.HigherIsBetter {
		return e.LowPercent, e.HighPercent
	}
	return e.HighPercent, e.LowPercent
}

// bound says how bad an effect is at most.
func (r *Report) bound(e *benchmark.Effect) string {
	bad, good := ends(e)
	switch {
	case bad != nil && (worse(e, *bad) || *bad == 0):
		return "at most " + r.than(e, *bad)
	case bad != nil && e.Word == v1alpha1.EffectCannotTell:
		return "at least " + r.than(e, *bad)
	case good != nil:
		return "at most " + r.than(e, *good)
	}
	return r.than(e, *e.Percent)
}

// span says between which changes an effect is.
func (r *Report) span(e *benchmark.Effect) string {
	bad, good := ends(e)
	switch {
	case bad == nil && good == nil:
		return r.than(e, *e.Percent) + ", with too few blocks for an interval"
	case good == nil && worse(e, *bad), bad == nil && !worse(e, *good):
		return fmt.Sprintf("%s, at most %s", r.than(e, *e.Percent), sided(e, *cmp.Or(bad, good)))
	case good == nil, bad == nil:
		return fmt.Sprintf("%s, at least %s", r.than(e, *e.Percent), sided(e, *cmp.Or(bad, good)))
	}
	from := sided(e, *good)
	if worse(e, *good) == worse(e, *bad) {
		from = size(e, *good)
	}
	return fmt.Sprintf("between %s and %s", from, r.than(e, *bad))
}

// sizes returns the interval of an effect all of which is on one side, and the tolerance.
func sizes(e *benchmark.Effect) string {
	percent, text := *e.Percent, "without an interval"
	write := func(p float64) string { return size(e, p) }
	if isRatio(percent) {
		write = func(p float64) string { return ratio(p) + " times" }
	}
	switch low, high := e.LowPercent, e.HighPercent; {
	case low == nil && high == nil:
	case low != nil && high != nil && percent < 0 && !isRatio(percent):
		text = write(*high) + " to " + write(*low)
	case low != nil && high != nil:
		text = write(*low) + " to " + write(*high)
	case percent < 0 && isRatio(percent):
		text = "at most " + write(*cmp.Or(low, high))
	default:
		text = "at least " + write(*cmp.Or(low, high))
	}
	return text + remarks(e)
}

// changes returns the interval of an effect with signs, and the tolerance.
func changes(e *benchmark.Effect) string {
	return Interval(e) + remarks(e)
}

// remarks returns what an interval has to be seen with.
func remarks(e *benchmark.Effect) string {
	text := fmt.Sprintf(", tolerance %d%%", e.TolerancePercent)
	if e.DifferentTimes {
		text += ", measured at different times"
	}
	return text
}
