package round

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/report/picture"
)

// Headline returns the verdict in words.
func (r *Report) Headline() string {
	switch r.Verdict {
	case v1alpha1.BenchmarkPassed:
		return "Passed"
	case v1alpha1.BenchmarkFailed:
		return "Failed"
	case v1alpha1.BenchmarkInconclusive:
		switch r.Reason {
		case "", benchmark.ReasonCompleted, v1alpha1.ReasonInconclusive:
			return "Inconclusive: can't tell yet"
		case benchmark.ReasonIncomparable:
			return "Inconclusive: not compared"
		}
		return "Inconclusive: can't tell yet: " + r.Reason
	case v1alpha1.BenchmarkError:
		return "Error: " + r.Reason
	}
	return "No verdict"
}

// headline returns the verdict in capital letters.
func headline(r *benchmark.Round) string {
	switch r.Verdict {
	case v1alpha1.BenchmarkPassed:
		return "PASSED"
	case v1alpha1.BenchmarkFailed:
		return "FAILED"
	case v1alpha1.BenchmarkInconclusive:
		if r.Reason != benchmark.ReasonCompleted && r.Reason != v1alpha1.ReasonInconclusive {
			return "CAN'T TELL YET: " + r.Reason
		}
		return "CAN'T TELL YET"
	case v1alpha1.BenchmarkError:
		return "ERROR: " + r.Reason
	}
	return "NO VERDICT"
}

// CountsAsFailed says what an inconclusive round counts as, or is empty if it doesn't count as failed.
func (r *Report) CountsAsFailed() string {
	c := r.Spec.Comparison
	if r.Verdict != v1alpha1.BenchmarkInconclusive || c == nil || c.OnInconclusive == v1alpha1.InconclusivePasses {
		return ""
	}
	return "Counts as failed: comparison.onInconclusive is Fail."
}

// Sentence says what an effect means.
type Sentence struct {
	// Lead is the verdict of a metric of the gate, else the word of the effect.
	Lead string
	Text string
}

// String returns the sentence with its lead.
func (s Sentence) String() string { return s.Lead + ": " + s.Text }

// Sentences returns what the effects of the gate mean, the worst first.
func (r *Report) Sentences() []Sentence {
	var sentences []Sentence
	for _, e := range benchmark.Ranked(r.Effects) {
		if e.Role == v1alpha1.RoleGate {
			sentences = append(sentences, r.Sentence(&e))
		}
	}
	return sentences
}

// Sentence returns what an effect means.
func (r *Report) Sentence(e *benchmark.Effect) Sentence {
	what, lead := fmt.Sprintf("%s of %s", MetricName(e.Metric), r.Label(e.Cell)), lead(e)
	switch {
	case e.Word == v1alpha1.EffectIncomparable:
		return Sentence{"Not compared", fmt.Sprintf("%s with %s. %s", what, r.ComparedWith(e), e.Message)}
	case e.Percent == nil:
		return Sentence{"Can't tell yet", what + " is unknown."}
	case e.Word == v1alpha1.EffectBetter, e.Word == v1alpha1.EffectWorse:
		return Sentence{lead, fmt.Sprintf("%s is %s (%s).", what, r.than(e, *e.Percent), sizes(e))}
	case e.Word == v1alpha1.EffectNoDifference:
		return Sentence{lead, fmt.Sprintf("%s is %s (%s).", what, r.bound(e), changes(e))}
	case e.Verdict == v1alpha1.BenchmarkPassed:
		return Sentence{lead, fmt.Sprintf("%s is %s (%s): not worse.", what, r.bound(e), changes(e))}
	}
	text := fmt.Sprintf("%s is %s; the tolerance is %d%%.", what, r.span(e), e.TolerancePercent)
	if e.DifferentTimes {
		text += " Measured at different times."
	}
	if e.DetectablePercent != nil {
		text += fmt.Sprintf(" %s find differences of %s.", r.withBlocks(), Detectable(e))
	}
	if e.BlocksToDecide > 0 {
		text += fmt.Sprintf(" About %d blocks would decide.", e.BlocksToDecide)
	}
	return Sentence{lead, text}
}

func (r *Report) withBlocks() string {
	if r.Blocks == 0 { // the status has no figures
		return "A round like this one can"
	}
	return fmt.Sprintf("With %s this round can", plural(r.Blocks, "block"))
}

// lead returns the verdict of an effect of the gate, else its word.
func lead(e *benchmark.Effect) string {
	switch e.Verdict {
	case v1alpha1.BenchmarkFailed:
		return "Failed"
	case v1alpha1.BenchmarkPassed:
		return "Passed"
	}
	phrase := benchmark.Phrase(e.Word)
	return strings.ToUpper(phrase[:1]) + phrase[1:]
}

const (
	// doubledPercent and halvedPercent are the changes from which on effects are written as ratios.
	doubledPercent = 100
	halvedPercent  = -50
)

// than returns a change in comparison with the baseline, as in "12% worse than nio's".
func (r *Report) than(e *benchmark.Effect, percent float64) string {
	baseline := "that of " + r.ComparedWith(e)
	if r.Cells[e.Cell].Baseline != benchmark.NoBaseline {
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
	return picture.Fixed(factor, max(1, picture.Decimals(factor, 0)-1))
}

// size returns a change in percent without its sign.
func size(e *benchmark.Effect, percent float64) string {
	return picture.Fixed(math.Abs(percent), percentDecimals(e)) + "%"
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

// Change returns the estimate of an effect in percent, with its sign: "-" if it is unknown.
func Change(e *benchmark.Effect) string { return signedPercent(e, e.Percent) }

// Interval returns the interval of an effect in percent: "-" if there is none.
func Interval(e *benchmark.Effect) string {
	if e.LowPercent == nil && e.HighPercent == nil {
		return "-"
	}
	end := func(p *float64) string {
		if p == nil {
			return "unbounded"
		}
		return signedPercent(e, p)
	}
	return end(e.LowPercent) + " to " + end(e.HighPercent)
}

func signedPercent(e *benchmark.Effect, p *float64) string {
	if p == nil {
		return "-"
	}
	text := picture.Fixed(*p, percentDecimals(e))
	if *p > 0 {
		text = "+" + text
	}
	return text + "%"
}

// Detectable returns the smallest difference that a round like this one finds in 4 of 5 cases: "-" if it is unknown.
func Detectable(e *benchmark.Effect) string {
	if e.DetectablePercent == nil {
		return "-"
	}
	return picture.Fixed(*e.DetectablePercent, max(0, picture.Decimals(*e.DetectablePercent, *e.DetectablePercent))) + "%"
}

// ComparedWith returns the name of what an effect's cell is compared with.
func (r *Report) ComparedWith(e *benchmark.Effect) string {
	c := r.Spec.Comparison
	switch cell := &r.Cells[e.Cell]; {
	case cell.Baseline != benchmark.NoBaseline:
		return r.Label(cell.Baseline)
	case c == nil:
	case c.Baseline.LastPassed != nil && r.Baseline != nil && r.Baseline.AcceptanceTime != nil:
		return fmt.Sprintf("round %d, which was accepted", r.Baseline.Number)
	case c.Baseline.LastPassed != nil && r.Baseline != nil:
		return fmt.Sprintf("round %d, the last that passed", r.Baseline.Number)
	case c.Baseline.LastPassed != nil:
		return "the last round that passed"
	case c.Baseline.Runs != nil:
		return "the selected runs"
	case c.Baseline.Benchmark != nil:
		return "Benchmark " + c.Baseline.Benchmark.Name
	}
	return "the baseline"
}
