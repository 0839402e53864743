package round

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/report"
)

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

// maxConclusions is the largest number of effects that are written as sentences; the table has all.
const maxConclusions = 6

// writeConclusions writes what the gate's effects mean in sentences, the worst first.
func (r *Report) writeConclusions(d document) {
	var sentences []string
	more := 0
	for _, e := range benchmark.Ranked(r.Effects) {
		switch {
		case e.Role != v1alpha1.RoleGate:
		case len(sentences) == maxConclusions:
			more++
		default:
			sentences = append(sentences, r.sentence(&e))
		}
	}
	if more > 0 {
		sentences = append(sentences, fmt.Sprintf("%d more are in the table.", more))
	}
	d.list(sentences...)
}

// sentence says what an effect means.
func (r *Report) sentence(e *benchmark.Effect) string {
	cell, baseline := r.Cells[e.Cell].Name, r.baselineOf(e)
	what := fmt.Sprintf("%s of %s", e.Metric, cell)
	switch {
	case e.Word == v1alpha1.EffectIncomparable:
		return fmt.Sprintf("Incomparable: %s with %s. %s", what, baseline, e.Message)
	case e.Percent == nil:
		return fmt.Sprintf("Can't tell yet: %s is unknown.", what)
	case e.Word == v1alpha1.EffectBetter, e.Word == v1alpha1.EffectWorse:
		return fmt.Sprintf("%s: %s is %s than of %s. %s", capital(e.Word), what, by(e), baseline, sureness(e))
	case e.Word == v1alpha1.EffectNoDifference:
		return fmt.Sprintf("No difference: %s differs by %s from that of %s, by %s at most. The tolerance is %d%%. %s",
			what, benchmark.Percent(*e.Percent), baseline, widest(e), e.TolerancePercent, sureness(e))
	case e.Verdict == v1alpha1.BenchmarkPassed:
		return fmt.Sprintf("Not worse: %s is %s than of %s, which may also be no difference. %s", what, by(e), baseline, sureness(e))
	}
	text := fmt.Sprintf("Can't tell yet: %s is %s than of %s. The tolerance is %d%%.", what, by(e), baseline, e.TolerancePercent)
	if e.DetectablePercent != nil {
		text += fmt.Sprintf(" A round like this one finds %s in 4 of 5 cases.", benchmark.Decimal(*e.DetectablePercent)+"%")
	}
	if e.BlocksToDecide > 0 {
		text += fmt.Sprintf(" About %d blocks would decide.", e.BlocksToDecide)
	}
	return text
}

// by returns an effect as in "12.3% higher (8.1% to 16%)".
func by(e *benchmark.Effect) string {
	size := func(percent float64) string { return benchmark.Decimal(math.Abs(percent)) + "%" }
	way := func(percent float64) string {
		if percent < 0 {
			return size(percent) + " lower"
		}
		return size(percent) + " higher"
	}
	text := way(*e.Percent)
	switch low, high := e.LowPercent, e.HighPercent; {
	case low != nil && high != nil && *low >= 0:
		return text + fmt.Sprintf(" (%s to %s)", size(*low), size(*high))
	case low != nil && high != nil && *high < 0:
		return text + fmt.Sprintf(" (%s to %s)", size(*high), size(*low))
	case low == nil && high == nil:
		return text + " (too few blocks for an interval)"
	case low == nil:
		return text + fmt.Sprintf(" (at most %s)", way(*high))
	case high == nil:
		return text + fmt.Sprintf(" (at least %s)", way(*low))
	default:
		return text + fmt.Sprintf(" (%s to %s)", way(*low), way(*high))
	}
}

// widest returns the end of an interval that is farthest from no difference.
func widest(e *benchmark.Effect) string {
	if e.LowPercent == nil || e.HighPercent == nil {
		return "an unknown share"
	}
	if -*e.LowPercent > *e.HighPercent {
		return benchmark.Percent(*e.LowPercent)
	}
	return benchmark.Percent(*e.HighPercent)
}

func sureness(e *benchmark.Effect) string {
	if e.ConfidencePercent == 0 { // the status doesn't say
		return ""
	}
	text := fmt.Sprintf("Confidence: %s%%.", strconv.FormatFloat(e.ConfidencePercent, 'f', 1, 64))
	if e.DifferentTimes {
		text += " The two were measured at different times: what changed in between is part of it."
	}
	return text
}

func capital(word v1alpha1.EffectWord) string {
	phrase := benchmark.Phrase(word)
	return strings.ToUpper(phrase[:1]) + phrase[1:]
}

// baselineOf returns the name of what an effect's cell is compared with.
func (r *Report) baselineOf(e *benchmark.Effect) string {
	c := r.Spec.Comparison
	if cell := &r.Cells[e.Cell]; cell.Baseline != benchmark.NoBaseline {
		return r.Cells[cell.Baseline].Name
	}
	switch {
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

// writeEffects writes all effects: those of the gate, and those that are only reported.
func (r *Report) writeEffects(d document) {
	var gate, reported [][]string
	for _, e := range benchmark.Ranked(r.Effects) {
		row := []string{r.Cells[e.Cell].Name, r.baselineOf(&e), string(e.Metric), percent(e.Percent), between(&e), benchmark.Phrase(e.Word)}
		detectable := "-"
		if e.DetectablePercent != nil {
			detectable = benchmark.Decimal(*e.DetectablePercent) + "%"
		}
		if e.Role != v1alpha1.RoleGate {
			reported = append(reported, append(row, detectable))
			continue
		}
		blocks := "-"
		if e.BlocksToDecide > 0 {
			blocks = strconv.Itoa(e.BlocksToDecide)
		}
		gate = append(gate, append(row, string(e.Verdict), tolerance(&e), detectable, blocks))
	}
	columns := []any{report.Words("cell"), report.Words("compared with"), report.Words("metric"), "difference", "interval", report.Words("conclusion")}
	if len(gate) > 0 {
		d.section("Gate")
		d.paragraph(fmt.Sprintf("All intervals together hold the true differences with a confidence of %d%%. A round like this one finds a "+
			"difference to the worse of the size in the column \"detectable\" in 4 of 5 cases.", r.confidence()))
		d.table(append(columns[:len(columns):len(columns)], report.Words("verdict"), "tolerance", "detectable", "blocks to decide"), gate)
	}
	if len(reported) > 0 {
		d.section("Reported, not in the gate")
		d.paragraph(fmt.Sprintf("Of the differences that are found here at most %d%% are false on average. None of them decides.", 100-r.confidence()))
		d.table(append(columns[:len(columns):len(columns)], "detectable"), reported)
	}
}

func (r *Report) confidence() int32 {
	if c := r.Spec.Comparison; c != nil {
		return ptr.Deref(c.ConfidencePercent, 95)
	}
	return 95
}

func tolerance(e *benchmark.Effect) string {
	return strconv.Itoa(int(e.TolerancePercent)) + "%"
}

func percent(percent *float64) string {
	if percent == nil {
		return "-"
	}
	return benchmark.Percent(*percent)
}

// between returns the interval of an effect.
func between(e *benchmark.Effect) string {
	if e.LowPercent == nil && e.HighPercent == nil {
		return "-"
	}
	end := func(p *float64) string {
		if p == nil {
			return "unbounded"
		}
		return percent(p)
	}
	return end(e.LowPercent) + " to " + end(e.HighPercent)
}
