// Package verdict says how a round ended, and why.
package verdict

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

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

// Verdict returns the verdict of a round: Failed if a claim is contradicted, else Inconclusive if one is undecided, else
// Passed. It is Measured if the spec has neither claims nor gate metrics.
func Verdict(spec *v1alpha1.BenchmarkSpec, claims []benchmark.Claim) v1alpha1.BenchmarkVerdict {
	is := func(verdict v1alpha1.ClaimVerdict) bool {
		return slices.ContainsFunc(claims, func(c benchmark.Claim) bool { return c.Verdict == verdict })
	}
	switch {
	case is(v1alpha1.ClaimContradicted):
		return v1alpha1.BenchmarkFailed
	case is(v1alpha1.ClaimUndecided):
		return v1alpha1.BenchmarkInconclusive
	case len(spec.Claims) == 0 && len(benchmark.GateMetrics(spec)) == 0:
		return v1alpha1.BenchmarkMeasured
	}
	return v1alpha1.BenchmarkPassed
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
	mixed, replace := d.Mixed(l), blocks.Replacements(d.Spec)
	at := slices.IndexFunc(mixed, func(message string) bool { return message != "" })
	switch {
	case at >= 0:
		end.Reason = benchmark.ReasonIncomparable
		end.Message = fmt.Sprintf("The runs of cell %s can't be compared. %s Let all runs have the same nodes with target.nodeSelector and clients.placement, and name images by digest.",
			d.Cells[at].Name, mixed[at])
	case l.Replaced > replace:
		end.Reason = benchmark.ReasonInvalidRuns
		end.Message = fmt.Sprintf("%d of %d runs had no valid result, and repetitions.invalidRuns.replace is %d. %s",
			len(l.Invalid), l.Finished, replace, listed(l.Invalid, " ", func(r *benchmark.Run) string { return r.Name + ": " + r.Message }))
	default:
		return nil
	}
	end.Evaluation = d.Evaluate(l)
	return end
}

// Complete returns the end of a round of which nothing is missing.
func Complete(d *inference.Design, l *blocks.Ledger, capacities []benchmark.Capacity) *End {
	end := &End{Reason: benchmark.ReasonCompleted, Evaluation: d.Evaluate(l)}
	var texts []string
	if end.Evaluation.Blocks > 0 {
		texts = append(texts, conclusion(d, &end.Evaluation))
	}
	end.Verdict = Verdict(d.Spec, end.Evaluation.Claims)
	if d.Spec.Capacity != nil {
		limited := slices.DeleteFunc(capacities, func(c benchmark.Capacity) bool {
			return c.Limit == v1alpha1.LimitServer || c.Limit == v1alpha1.LimitMaximum
		})
		if len(limited) == 0 {
			texts = append(texts, fmt.Sprintf("The capacity of %s was found.", cellCount(len(d.Cells))))
		} else {
			if end.Verdict != v1alpha1.BenchmarkFailed {
				end.Verdict = v1alpha1.BenchmarkInconclusive
			}
			texts = append(texts, fmt.Sprintf("The capacity of %d of %s was not found. %s", len(limited), cellCount(len(d.Cells)),
				listed(limited, " ", func(c benchmark.Capacity) string { return d.Cells[c.Cell].Name + ": " + obstacle(c) })))
		}
	}
	end.Message = strings.Join(texts, " ")
	return end
}

// conclusion says what became of a round's claims.
func conclusion(d *inference.Design, e *benchmark.Evaluation) string {
	after := benchmark.Plural(e.Blocks, "block")
	if _, most := blocks.Bounds(d.Spec); most > e.Blocks {
		after += fmt.Sprintf(" of at most %d", most)
	}
	measured := fmt.Sprintf("%s measured in %s.", cellCount(len(d.Cells)), after)
	if len(e.Claims) == 0 && Verdict(d.Spec, nil) == v1alpha1.BenchmarkPassed {
		return measured + " No earlier round passed, so there was nothing to compare with."
	}
	if len(e.Claims) == 0 {
		return measured + " No claim was made."
	}
	worst := benchmark.Ranked(e.Claims)[0].Verdict
	if worst == v1alpha1.ClaimConfirmed {
		return fmt.Sprintf("%s confirmed after %s.", benchmark.Plural(len(e.Claims), "claim"), after)
	}
	open := slices.DeleteFunc(slices.Clone(e.Claims), func(c benchmark.Claim) bool { return c.Verdict != worst })
	return fmt.Sprintf("%d of %s %s after %s: %s.", len(open), benchmark.Plural(len(e.Claims), "claim"), strings.ToLower(string(worst)), after,
		listed(open, "; ", func(c benchmark.Claim) string { return describe(d.Cells, &c) }))
}

// describe says what became of a claim: "apr-faster: LatencyP99 of connector=apr must be at least 10% lower than that of
// connector=nio, and is +12.3% (+8.1% to +16%)".
func describe(all []cells.Cell, c *benchmark.Claim) string {
	metric, than := string(c.Metric), "that of the baseline"
	if c.Level > 0 {
		metric += fmt.Sprintf(" at level %d", c.Level)
	}
	if c.Than != cells.NoBaseline {
		than = "that of " + all[c.Than].Name
	}
	text := fmt.Sprintf("%s: %s of %s must be %s %s, and ", c.Name, metric, all[c.Cell].Name, c.Statement(), than)
	switch {
	case c.Message != "":
		return text + "is incomparable: " + strings.TrimSuffix(c.Message, ".")
	case c.Percent == nil:
		return text + "is unknown"
	case c.LowPercent == nil && c.HighPercent == nil:
		text += fmt.Sprintf("is %s without an interval", benchmark.Percent(*c.Percent))
	default:
		text += fmt.Sprintf("is %s (%s to %s)", benchmark.Percent(*c.Percent), end(c.LowPercent), end(c.HighPercent))
	}
	if c.BlocksToDecide > 0 {
		text += fmt.Sprintf(", about %d blocks would decide", c.BlocksToDecide)
	}
	return text
}

func end(percent *float64) string {
	if percent == nil {
		return "unbounded"
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
