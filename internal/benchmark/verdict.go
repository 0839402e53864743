package benchmark

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/statistics"
)

// The reasons of the end of a round.
const (
	// ReasonCompleted: all blocks and capacity searches are complete.
	ReasonCompleted = "Completed"
	// ReasonInvalidRuns: more runs were invalid than are replaced.
	ReasonInvalidRuns = "InvalidRuns"
	// ReasonIncomparable: runs that must be compared were made under different conditions.
	ReasonIncomparable = "Incomparable"
	// ReasonBaselineMissing: no stored run is there to compare with.
	ReasonBaselineMissing = "BaselineMissing"
	// ReasonRunRejected: a run could not be created.
	ReasonRunRejected = "RunRejected"
)

// Verdict returns the verdict of effects: Failed if one of the gate is, else Inconclusive if one is, else
// Passed.
func Verdict(effects []Effect) v1alpha1.BenchmarkVerdict {
	verdict := v1alpha1.BenchmarkPassed
	for i := range effects {
		switch effects[i].Verdict {
		case v1alpha1.BenchmarkFailed:
			return v1alpha1.BenchmarkFailed
		case v1alpha1.BenchmarkInconclusive:
			verdict = v1alpha1.BenchmarkInconclusive
		}
	}
	return verdict
}

// Rejected returns the end of a round one of whose runs can't be created, for the reason that message gives.
func Rejected(run, message string) *End {
	return &End{Verdict: v1alpha1.BenchmarkError, Reason: ReasonRunRejected, Message: fmt.Sprintf("Run %s could not be created: %s", run, message)}
}

// cutShort returns the end of a round that can't be completed, or nil.
func (p *Planner) cutShort(l *ledger, blocks int) *End {
	if c := p.Spec.Comparison; c != nil && c.Baseline.Cell == nil && c.Baseline.LastPassed == nil && len(p.Stored) == 0 {
		what := "The Benchmark of spec.comparison.baseline.benchmark has no round with valid runs of a cell of the same name."
		if c.Baseline.Runs != nil {
			what = "No valid finished run matches spec.comparison.baseline.runs.selector."
		}
		return &End{Verdict: v1alpha1.BenchmarkError, Reason: ReasonBaselineMissing, Message: what + " Measure the baseline first."}
	}
	end := &End{Verdict: v1alpha1.BenchmarkInconclusive}
	mixed := p.mixed(l)
	at := slices.IndexFunc(mixed, func(message string) bool { return message != "" })
	switch {
	case at >= 0:
		end.Reason = ReasonIncomparable
		end.Message = fmt.Sprintf("The runs of cell %s can't be compared. %s Let all runs have the same nodes with target.pod.nodeSelector and clients.placement, and name images by digest.",
			p.Cells[at].Name, mixed[at])
	case len(l.invalid) > p.replace():
		end.Reason = ReasonInvalidRuns
		end.Message = fmt.Sprintf("%d of %d runs had no valid result, and repetitions.invalidRuns.replace is %d. %s",
			len(l.invalid), l.finished, p.replace(), listed(l.invalid, " ", func(r *Run) string { return r.Name + ": " + r.Message }))
	default:
		return nil
	}
	end.Evaluation = p.evaluate(l, blocks)
	return end
}

// complete returns the end of a round of which nothing is missing.
func (p *Planner) complete(l *ledger, blocks int, narrow bool) *End {
	end := &End{Reason: ReasonCompleted, Evaluation: p.evaluate(l, blocks)}
	var texts []string
	if blocks > 0 {
		text := p.conclusion(end.Evaluation.Effects, blocks)
		if narrow {
			text += " The intervals were narrow enough for repetitions.until."
		}
		texts = append(texts, text)
	}
	end.Verdict = Verdict(end.Evaluation.Effects)
	if p.Spec.Capacity != nil {
		capacities := p.capacities(l)
		limited := slices.DeleteFunc(capacities, func(c Capacity) bool {
			return c.Limit == v1alpha1.LimitServer || c.Limit == v1alpha1.LimitMaximum
		})
		if len(limited) == 0 {
			texts = append(texts, fmt.Sprintf("The capacity of %s was found.", cellCount(len(p.Cells))))
		} else {
			end.Verdict = worse(end.Verdict, v1alpha1.BenchmarkInconclusive)
			texts = append(texts, fmt.Sprintf("The capacity of %d of %s was not found. %s", len(limited), cellCount(len(p.Cells)),
				listed(limited, " ", func(c Capacity) string { return p.Cells[c.Cell].Name + ": " + c.obstacle() })))
		}
	}
	end.Message = strings.Join(texts, " ")
	return end
}

// worse returns the worse of two verdicts.
func worse(a, b v1alpha1.BenchmarkVerdict) v1alpha1.BenchmarkVerdict {
	if a == v1alpha1.BenchmarkFailed {
		return a
	}
	return b
}

// conclusion says what a round's effects mean.
func (p *Planner) conclusion(effects []Effect, blocks int) string {
	measured := fmt.Sprintf("%s measured in %s.", cellCount(len(p.Cells)), plural(blocks, "block"))
	switch {
	case p.Spec.Comparison == nil:
		return measured
	case len(effects) == 0:
		return measured + " No earlier round passed, so there was nothing to compare with."
	}
	var gate, failed, open []Effect
	for _, e := range ranked(effects) {
		switch {
		case e.Role != v1alpha1.RoleGate:
			continue
		case e.Verdict == v1alpha1.BenchmarkFailed:
			failed = append(failed, e)
		case e.Verdict == v1alpha1.BenchmarkInconclusive:
			open = append(open, e)
		}
		gate = append(gate, e)
	}
	compared := plural(len(gate), "gate comparison")
	switch {
	case len(gate) == 0:
		return measured + " No metric is a gate."
	case len(failed) > 0:
		return fmt.Sprintf("%d of %s failed after %s: %s.", len(failed), compared, plural(blocks, "block"), listed(failed, "; ", p.describe))
	case len(open) > 0:
		return fmt.Sprintf("%d of %s could not be decided after %s: %s.", len(open), compared, plural(blocks, "block"), listed(open, "; ", p.describe))
	}
	return fmt.Sprintf("%s passed after %s.", compared, plural(blocks, "block"))
}

// describe says what an effect is: "LatencyP99 of connector=apr +12.3% (+8.1% to +16%), tolerance 5%".
func (p *Planner) describe(e Effect) string {
	text := fmt.Sprintf("%s of %s", e.Metric, p.Cells[e.Cell].Name)
	switch {
	case e.Message != "":
		return text + " is incomparable: " + strings.TrimSuffix(e.Message, ".")
	case e.Percent == nil:
		return text + " is unknown"
	case e.LowPercent == nil && e.HighPercent == nil:
		text += fmt.Sprintf(" %s%% without an interval", signed(*e.Percent))
	default:
		text += fmt.Sprintf(" %s%% (%s to %s)", signed(*e.Percent), end(e.LowPercent, "unbounded"), end(e.HighPercent, "unbounded"))
	}
	text += fmt.Sprintf(", tolerance %d%%", e.TolerancePercent)
	if e.BlocksToDecide > 0 {
		text += fmt.Sprintf(", about %d blocks would decide", e.BlocksToDecide)
	}
	return text
}

func end(percent *float64, unbounded string) string {
	if percent == nil {
		return unbounded
	}
	return signed(*percent) + "%"
}

func signed(percent float64) string {
	if percent > 0 {
		return "+" + decimal(percent)
	}
	return decimal(percent)
}

// decimal formats a number with at most two decimals.
func decimal(x float64) string {
	if math.Abs(x) >= 1e15 {
		return strconv.FormatFloat(x, 'g', 6, 64)
	}
	text := strings.TrimRight(strings.TrimRight(strconv.FormatFloat(x, 'f', 2, 64), "0"), ".")
	if text == "-0" {
		return "0"
	}
	return text
}

// listed joins the texts of the first few elements.
func listed[T any](all []T, separator string, text func(T) string) string {
	const most = 3
	var texts []string
	for _, x := range all[:min(len(all), most)] {
		texts = append(texts, text(x))
	}
	if more := len(all) - most; more > 0 {
		texts = append(texts, fmt.Sprintf("%d more", more))
	}
	return strings.Join(texts, separator)
}

func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

func cellCount(n int) string { return plural(n, "cell") }

// ranked returns effects in the order of the status: those of the gate first, of these the worst.
func ranked(effects []Effect) []Effect {
	order := slices.Clone(effects)
	rank := func(e *Effect) int {
		return slices.Index([]v1alpha1.BenchmarkVerdict{v1alpha1.BenchmarkFailed, v1alpha1.BenchmarkInconclusive, v1alpha1.BenchmarkPassed, ""}, e.Verdict)
	}
	word := func(e *Effect) int {
		return slices.Index([]v1alpha1.EffectWord{v1alpha1.EffectWorse, v1alpha1.EffectIncomparable, v1alpha1.EffectCannotTell, v1alpha1.EffectNoDifference, v1alpha1.EffectBetter}, e.Word)
	}
	badness := func(e *Effect) float64 {
		switch {
		case e.Percent == nil:
			return math.Inf(-1)
		case e.Better == v1alpha1.Direction(statistics.Higher):
			return -*e.Percent
		}
		return *e.Percent
	}
	slices.SortStableFunc(order, func(a, b Effect) int {
		return cmp.Or(cmp.Compare(rank(&a), rank(&b)), cmp.Compare(word(&a), word(&b)), cmp.Compare(badness(&b), badness(&a)))
	})
	return order
}

// maxStatus is the largest number of effects, and of capacities, in a status.
const maxStatus = 64

// EffectStatuses returns effects as the status has them: at most 64 of 32 KiB as JSON, those of the gate first, of
// these the worst.
func EffectStatuses(cells []Cell, effects []Effect) []v1alpha1.EffectStatus {
	order := ranked(effects)
	statuses := make([]v1alpha1.EffectStatus, min(len(order), maxStatus))
	for i := range statuses {
		e := &order[i]
		statuses[i] = v1alpha1.EffectStatus{
			Cell: cells[e.Cell].Name, Metric: e.Metric, Role: e.Role, Percent: optional(e.Percent), LowPercent: optional(e.LowPercent),
			HighPercent: optional(e.HighPercent), DetectablePercent: optional(e.DetectablePercent), Word: e.Word, Verdict: e.Verdict,
		}
		if e.BlocksToDecide > 0 {
			n := int32(e.BlocksToDecide)
			statuses[i].BlocksToDecide = &n
		}
	}
	return fitting(statuses, maxEffectsBytes)
}

func optional(percent *float64) string {
	if percent == nil {
		return ""
	}
	return decimal(*percent)
}
