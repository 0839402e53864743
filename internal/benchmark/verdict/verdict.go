// Package verdict says how a round ended, and why.
package verdict

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/blocks"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/benchmark/inference"
)

// obstacle says why a search that has ended found no capacity.
func obstacle(c benchmark.Capacity) string {
	if c.Limit == v1alpha1.LimitClients {
		return "the clients were saturated at " + strconv.FormatInt(c.Failed, 10) + ". Increase clients.resources.cpu or clients.replicas."
	}
	return "the trials contradict each other after " + strconv.Itoa(c.Trials) + " of them. Increase capacity.trialSeconds or precisionPercent."
}

// Verdict returns the verdict of effects: Failed if one of the gate is, else Inconclusive if one is, else
// Passed.
func Verdict(effects []benchmark.Effect) v1alpha1.BenchmarkVerdict {
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

// End is the outcome of a round.
type End struct {
	Verdict v1alpha1.BenchmarkVerdict
	// Reason is a CamelCase word for the condition.
	Reason  string
	Message string
	// Evaluation holds the estimates and effects of the full blocks.
	Evaluation benchmark.Evaluation
}

// Rejected returns the end of a round one of whose runs can't be created, for the reason that message gives.
func Rejected(run, message string) *End {
	return &End{Verdict: v1alpha1.BenchmarkError, Reason: benchmark.ReasonRunRejected, Message: fmt.Sprintf("Run %s could not be created: %s", run, message)}
}

// CutShort returns the end of a round that can't be completed, or nil.
func CutShort(d *inference.Design, l *blocks.Ledger) *End {
	if c := d.Spec.Comparison; c != nil && c.Baseline.Cell == nil && c.Baseline.LastPassed == nil && len(d.Stored) == 0 {
		what := "The Benchmark of spec.comparison.baseline.benchmark has no round with valid runs of a cell of the same name."
		if c.Baseline.Runs != nil {
			what = "No valid finished run matches spec.comparison.baseline.runs.selector."
		}
		return &End{Verdict: v1alpha1.BenchmarkError, Reason: benchmark.ReasonBaselineMissing, Message: what + " Measure the baseline first."}
	}
	end := &End{Verdict: v1alpha1.BenchmarkInconclusive}
	mixed, replace := d.Mixed(l), replacements(d.Spec)
	at := slices.IndexFunc(mixed, func(message string) bool { return message != "" })
	switch {
	case at >= 0:
		end.Reason = benchmark.ReasonIncomparable
		end.Message = fmt.Sprintf("The runs of cell %s can't be compared. %s Let all runs have the same nodes with target.nodeSelector and clients.placement, and name images by digest.",
			d.Cells[at].Name, mixed[at])
	case len(l.Invalid) > replace:
		end.Reason = benchmark.ReasonInvalidRuns
		end.Message = fmt.Sprintf("%d of %d runs had no valid result, and repetitions.invalidRuns.replace is %d. %s",
			len(l.Invalid), l.Finished, replace, listed(l.Invalid, " ", func(r *benchmark.Run) string { return r.Name + ": " + r.Message }))
	default:
		return nil
	}
	end.Evaluation = d.Evaluate(l)
	return end
}

// replacements returns the number of invalid runs that are replaced.
func replacements(spec *v1alpha1.BenchmarkSpec) int {
	const usual = 3
	if r := spec.Repetitions; r != nil {
		return int(ptr.Deref(r.InvalidRuns.Replace, usual))
	}
	return usual
}

// Complete returns the end of a round of which nothing is missing. narrow reports whether it has fewer blocks than it could,
// because the intervals are narrow enough.
func Complete(d *inference.Design, l *blocks.Ledger, narrow bool, capacities []benchmark.Capacity) *End {
	end := &End{Reason: benchmark.ReasonCompleted, Evaluation: d.Evaluate(l)}
	var texts []string
	if blocks := end.Evaluation.Blocks; blocks > 0 {
		text := conclusion(d, end.Evaluation.Effects, blocks)
		if narrow {
			text += " The intervals were narrow enough for repetitions.until."
		}
		texts = append(texts, text)
	}
	end.Verdict = Verdict(end.Evaluation.Effects)
	if d.Spec.Capacity != nil {
		limited := slices.DeleteFunc(capacities, func(c benchmark.Capacity) bool {
			return c.Limit == v1alpha1.LimitServer || c.Limit == v1alpha1.LimitMaximum
		})
		if len(limited) == 0 {
			texts = append(texts, fmt.Sprintf("The capacity of %s was found.", cellCount(len(d.Cells))))
		} else {
			end.Verdict = worse(end.Verdict, v1alpha1.BenchmarkInconclusive)
			texts = append(texts, fmt.Sprintf("The capacity of %d of %s was not found. %s", len(limited), cellCount(len(d.Cells)),
				listed(limited, " ", func(c benchmark.Capacity) string { return d.Cells[c.Cell].Name + ": " + obstacle(c) })))
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
func conclusion(d *inference.Design, effects []benchmark.Effect, blocks int) string {
	measured := fmt.Sprintf("%s measured in %s.", cellCount(len(d.Cells)), benchmark.Plural(blocks, "block"))
	switch {
	case d.Spec.Comparison == nil:
		return measured
	case len(effects) == 0:
		return measured + " No earlier round passed, so there was nothing to compare with."
	}
	describe := func(e benchmark.Effect) string { return describe(d.Cells, e) }
	var gate, failed, open []benchmark.Effect
	for _, e := range benchmark.Ranked(effects) {
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
	compared := benchmark.Plural(len(gate), "gate comparison")
	switch {
	case len(gate) == 0:
		return measured + " No metric is a gate."
	case len(failed) > 0:
		return fmt.Sprintf("%d of %s failed after %s: %s.", len(failed), compared, benchmark.Plural(blocks, "block"), listed(failed, "; ", describe))
	case len(open) > 0:
		return fmt.Sprintf("%d of %s could not be decided after %s: %s.", len(open), compared, benchmark.Plural(blocks, "block"), listed(open, "; ", describe))
	}
	return fmt.Sprintf("%s passed after %s.", compared, benchmark.Plural(blocks, "block"))
}

// describe says what an effect is: "LatencyP99 of connector=apr +12.3% (+8.1% to +16%), tolerance 5%".
func describe(cells []cells.Cell, e benchmark.Effect) string {
	text := fmt.Sprintf("%s of %s", e.Metric, cells[e.Cell].Name)
	switch {
	case e.Message != "":
		return text + " is incomparable: " + strings.TrimSuffix(e.Message, ".")
	case e.Percent == nil:
		return text + " is unknown"
	case e.LowPercent == nil && e.HighPercent == nil:
		text += fmt.Sprintf(" %s without an interval", benchmark.Percent(*e.Percent))
	default:
		text += fmt.Sprintf(" %s (%s to %s)", benchmark.Percent(*e.Percent), end(e.LowPercent, "unbounded"), end(e.HighPercent, "unbounded"))
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
	return benchmark.Percent(*percent)
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

func cellCount(n int) string { return benchmark.Plural(n, "cell") }
