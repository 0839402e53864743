package watch

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark/blocks"
	"github.com/assay-dev/assay/internal/benchmark/lifecycle"
	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/plugin/exit"
	"github.com/assay-dev/assay/internal/printable"
)

// rounds returns how to follow the round of a Benchmark that is under way or, if request is not empty, the
// round that this value of the annotation assay.dev/run-round asks for.
func rounds(request string) subject {
	underWay := int64(0) // the number of the round that was last seen under way
	return subject{
		kind:    cluster.Benchmark,
		newList: func() client.ObjectList { return &v1alpha1.BenchmarkList{} },
		finished: func(o client.Object) bool {
			b := o.(*v1alpha1.Benchmark)
			if lifecycle.IsActive(b) {
				underWay = b.Status.Round.Number
			}
			return roundFinished(b, request)
		},
		view:  func(o client.Object) view { return viewOfBenchmark(o.(*v1alpha1.Benchmark)) },
		retry: func(o client.Object) string { return retried(o.(*v1alpha1.Benchmark).Status.Conditions) },
		verdict: func(o client.Object) verdict {
			b := o.(*v1alpha1.Benchmark)
			followed := ptr.Deref(b.Status.LastRequest, "") == request
			if request == "" {
				followed = b.Status.Round != nil && b.Status.Round.Number == underWay
			}
			return verdictOfBenchmark(b, followed)
		},
	}
}

// roundFinished reports whether no round is under way of the spec as it is. With a request it also wants a round
// that began after it, unless the spec is invalid, so that none will begin.
func roundFinished(b *v1alpha1.Benchmark, request string) bool {
	s := &b.Status
	if ptr.Deref(s.ObservedGeneration, -1) < b.Generation || !meta.IsStatusConditionTrue(s.Conditions, v1alpha1.ConditionFinished) {
		return false
	}
	return request == "" || ptr.Deref(s.LastRequest, "") == request || lifecycle.IsRejected(b)
}

func viewOfBenchmark(b *v1alpha1.Benchmark) view {
	state, round := lifecycle.Succeeded(b), b.Status.Round
	switch {
	case state.Reason == "":
		return view{state: "New", percent: -1, details: "waiting for the operator"}
	case meta.IsStatusConditionTrue(b.Status.Conditions, v1alpha1.ConditionFinished):
		return view{state: "Requested", percent: -1, details: "waiting for the operator to begin a round"}
	case round == nil:
		return view{state: printable.Text(state.Reason), percent: -1, details: withoutRetry(state.Message)}
	}
	v := view{state: printable.Text(state.Reason), percent: -1}
	texts := []string{fmt.Sprintf("round %d", round.Number)}
	if run := round.CurrentRun; run != nil && run.Trial != nil {
		texts = append(texts, fmt.Sprintf("trial of %d, %d runs finished", *run.Trial, ptr.Deref(round.FinishedRuns, 0)))
	} else {
		var text string
		text, v.percent = blocksOf(b)
		texts = append(texts, text)
	}
	if n := ptr.Deref(round.InvalidRuns, 0); n > 0 {
		texts = append(texts, fmt.Sprintf("%d invalid", n))
	}
	suspended := round.CurrentRun == nil && state.Reason == v1alpha1.ReasonSuspended
	switch run := round.CurrentRun; {
	case suspended:
		texts = append(texts, fmt.Sprintf("resume it with \"kubectl assay benchmark resume %s --namespace %s\"", b.Name, b.Namespace))
	case run != nil:
		texts = append(texts, printable.Text(run.Cell))
	default:
		texts = append(texts, "no run under way")
	}
	if end := round.ExpectedCompletionTime; end != nil && !suspended {
		texts = append(texts, "ends about "+end.UTC().Format("2006-01-02 15:04 UTC"))
	}
	v.details = strings.Join(texts, "; ")
	return v
}

// blocksOf returns how far the blocks of the round have come, and in percent of all of their runs: -1 if capacity
// searches follow, which need nobody knows how many runs. Rounds that stop early end below 100%.
func blocksOf(b *v1alpha1.Benchmark) (text string, percent int32) {
	round := b.Status.Round
	least, most := blocks.Bounds(&b.Spec)
	cells, whole := int(ptr.Deref(round.Cells, 0)), int(ptr.Deref(round.CompletedBlocks, 0))
	valid := int(ptr.Deref(round.FinishedRuns, 0) - ptr.Deref(round.InvalidRuns, 0))
	text = fmt.Sprintf("%d of %s blocks, %d of %d cells of the next", whole, blocks.Range(least, most), max(0, valid-whole*cells), cells)
	if b.Spec.Capacity != nil || most*cells == 0 {
		return text, -1
	}
	return text, int32(min(100, max(0, 100*valid/(most*cells))))
}

// verdictOfBenchmark returns the verdict of the last round, or of the spec if none begins for it. A round that was
// followed keeps its own verdict if the spec became invalid since.
func verdictOfBenchmark(b *v1alpha1.Benchmark, followed bool) verdict {
	var v verdict
	state, round, rejected := lifecycle.Succeeded(b), b.Status.Round, lifecycle.IsRejected(b)
	name, decided := b.Name, b.Status.Verdict
	ofRound := round != nil && (followed || !rejected)
	if ofRound {
		name = fmt.Sprintf("%s, round %d", b.Name, round.Number)
	}
	if ofRound && rejected {
		v.printf("No further round begins: %s: %s", state.Reason, state.Message)
		decided, state.Reason, state.Message = round.Verdict, round.Reason, "The round ended before the spec became invalid. Its report has the details."
	}
	switch decided {
	case v1alpha1.BenchmarkPassed:
		v.printf("%s passed: %s", name, state.Message)
	case v1alpha1.BenchmarkMeasured:
		v.printf("%s was measured: %s", name, state.Message)
	case v1alpha1.BenchmarkFailed:
		v.code = exit.GateFailed
		v.printf("%s FAILED: %s", name, state.Message)
	case v1alpha1.BenchmarkInconclusive:
		v.code = exit.Inconclusive
		v.printf("%s is INCONCLUSIVE: %s: %s", name, state.Reason, state.Message)
		if b.Spec.OnInconclusive == v1alpha1.InconclusivePasses {
			v.code = exit.Success
			v.printf("It counts as passed, because onInconclusive is Pass.")
		}
	case v1alpha1.BenchmarkError:
		v.code = exit.Failed
		v.printf("%s ended with an error: %s: %s", name, state.Reason, state.Message)
	default:
		v.code = exit.Unknown
		v.printf("%s finished, but its status has no verdict", name)
	}
	if ofRound && decided != "" {
		v.claims(round.Claims)
		v.printf("To print the report: kubectl assay report benchmark/%s --namespace %s", b.Name, b.Namespace)
	}
	return v
}

// maxClaims is the largest number of claims in a verdict; the report has all.
const maxClaims = 10

// claims adds a line for each claim, those that are contradicted first, as in the status.
func (v *verdict) claims(claims []v1alpha1.ClaimStatus) {
	for i, c := range claims {
		if i == maxClaims {
			v.printf("  and %d more in the report", len(claims)-i)
			break
		}
		v.printf("  %s: %s%s", c.Name, strings.ToLower(string(c.Verdict)), interval(&c))
	}
}

// interval returns the effect of a claim as text that follows its verdict.
func interval(c *v1alpha1.ClaimStatus) string {
	end := func(percent string) string {
		if percent == "" {
			return "unbounded"
		}
		return withSign(percent) + "%"
	}
	switch {
	case c.Percent == "":
		return ""
	case c.LowPercent == "" && c.HighPercent == "":
		return fmt.Sprintf(", %s%% without an interval", withSign(c.Percent))
	}
	return fmt.Sprintf(", %s%% (%s to %s)", withSign(c.Percent), end(c.LowPercent), end(c.HighPercent))
}

func withSign(percent string) string {
	if strings.HasPrefix(percent, "-") || percent == "0" {
		return percent
	}
	return "+" + percent
}
