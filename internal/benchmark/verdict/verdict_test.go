package verdict_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/benchmark/lifecycle"
	"github.com/assay-dev/assay/internal/benchmark/verdict"
	"github.com/assay-dev/assay/internal/statistics"
	"github.com/assay-dev/assay/test/benchtest"
)

// effectTexts returns effects with one decimal, as the documentation has them.
func effectTexts(effects []benchmark.Effect) (texts []string) {
	for _, e := range effects {
		text := fmt.Sprintf("%s %s %s", e.Metric, e.Role, e.Word)
		for _, p := range []*float64{e.Percent, e.LowPercent, e.HighPercent, e.DetectablePercent} {
			if p == nil {
				text += " -"
			} else {
				text += fmt.Sprintf(" %.1f", *p)
			}
		}
		texts = append(texts, fmt.Sprintf("%s %s %d", text, e.Verdict, e.BlocksToDecide))
	}
	return texts
}

func TestRoundAsDocumented(t *testing.T) {
	end := benchtest.ExampleRound(t, 5).Finish(t).End
	want := []string{
		"RequestsPerSecond Gate CannotTell -1.9 -9.6 3.2 15.0 Inconclusive 90",
		"LatencyP99 Report CannotTell 2.0 -3.1 10.7 17.3  0",
	}
	if diff := cmp.Diff(want, effectTexts(end.Evaluation.Effects)); diff != "" {
		t.Errorf("effects: (-want +got)\n%s", diff)
	}
	var medians []string
	for _, e := range end.Evaluation.Estimates {
		medians = append(medians, fmt.Sprintf("%d %s %.1f (%.0f to %.0f) %d", e.Cell, e.Metric, e.Median, *e.Low, *e.High, e.Runs))
	}
	wantMedians := []string{
		"0 LatencyP99 68320.0 (65647 to 74906) 10", "0 RequestsPerSecond 14637.0 (13350 to 15233) 10",
		"1 LatencyP99 71067.8 (65172 to 81460) 10", "1 RequestsPerSecond 14083.5 (12276 to 15344) 10",
	}
	if diff := cmp.Diff(wantMedians, medians); diff != "" {
		t.Errorf("estimates: (-want +got)\n%s", diff)
	}
	message := "1 of 1 gate comparison could not be decided after 10 blocks: RequestsPerSecond of a=y -1.92% (-9.64% to +3.2%), tolerance 5%, about 90 blocks would decide."
	if end.Verdict != v1alpha1.BenchmarkInconclusive || end.Message != message {
		t.Errorf("%s: %s", end.Verdict, end.Message)
	}
	end = benchtest.ExampleRound(t, 10).Finish(t).End
	if end.Verdict != v1alpha1.BenchmarkPassed || end.Message != "1 gate comparison passed after 10 blocks." || end.Evaluation.Effects[0].Word != v1alpha1.EffectNoDifference {
		t.Errorf("with a tolerance of 10%%: %s: %s", end.Verdict, end.Message)
	}
}

// Each effect decides by its interval, in the direction of its metric.
func TestRoundVerdict(t *testing.T) {
	for name, c := range map[string]struct {
		factor  float64 // by which the candidate's metrics differ
		metrics []v1alpha1.ComparedMetric
		verdict v1alpha1.BenchmarkVerdict
		words   []v1alpha1.EffectWord
		message string
	}{
		"slower": {
			1.5, []v1alpha1.ComparedMetric{{Name: "LatencyP99"}, {Name: "RequestsPerSecond"}}, "Failed", []v1alpha1.EffectWord{"Worse", "Better"},
			"1 of 2 gate comparisons failed after 10 blocks: LatencyP99 of a=y +50% (+50% to +50%), tolerance 5%.",
		},
		"fewer requests": {
			0.5, []v1alpha1.ComparedMetric{{Name: "LatencyP99"}, {Name: "RequestsPerSecond"}}, "Failed", []v1alpha1.EffectWord{"Better", "Worse"},
			"1 of 2 gate comparisons failed after 10 blocks: RequestsPerSecond of a=y -50% (-50% to -50%), tolerance 5%.",
		},
		"more bytes": {
			1.5, []v1alpha1.ComparedMetric{{Name: "BytesPerSecond"}}, "Passed", []v1alpha1.EffectWord{"Better"}, "1 gate comparison passed after 10 blocks.",
		},
		"a direction of its own": {
			1.5, []v1alpha1.ComparedMetric{{Name: "BytesPerSecond", Better: "Lower"}}, "Failed", []v1alpha1.EffectWord{"Worse"},
			"1 of 1 gate comparison failed after 10 blocks: BytesPerSecond of a=y +50% (+50% to +50%), tolerance 5%.",
		},
		"within the tolerance": {
			1.05, []v1alpha1.ComparedMetric{{Name: "LatencyP99"}}, "Passed", []v1alpha1.EffectWord{"NoDifference"}, "1 gate comparison passed after 10 blocks.",
		},
		"beyond a tolerance of 0": {
			1.001, []v1alpha1.ComparedMetric{{Name: "LatencyP99", TolerancePercent: ptr.To(int32(0))}}, "Failed", []v1alpha1.EffectWord{"Worse"},
			"1 of 1 gate comparison failed after 10 blocks: LatencyP99 of a=y +0.1% (+0.1% to +0.1%), tolerance 0%.",
		},
		"only reported": {
			1.5, []v1alpha1.ComparedMetric{{Name: "LatencyP99", Role: "Report"}}, "Passed", []v1alpha1.EffectWord{"Worse"}, "2 cells measured in 10 blocks. No metric is a gate.",
		},
		"a metric that is missing": {
			1, []v1alpha1.ComparedMetric{{Name: "LatencyP99"}, {Name: "TargetPeakMemory"}}, "Inconclusive", []v1alpha1.EffectWord{"NoDifference", "CannotTell"},
			"1 of 2 gate comparisons could not be decided after 10 blocks: TargetPeakMemory of a=y is unknown.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := benchtest.ExampleRound(t, 5)
			r.Spec.Comparison.Metrics = c.metrics
			r.Measure = func(run *benchmark.Run) {
				run.Metrics = map[v1alpha1.BenchmarkMetric]float64{}
				for _, m := range []v1alpha1.BenchmarkMetric{"LatencyP99", "RequestsPerSecond", "BytesPerSecond"} {
					run.Metrics[m] = benchtest.Example[0][run.Number] * map[int]float64{0: 1, 1: c.factor}[run.Cell]
				}
			}
			end := r.Finish(t).End
			var words []v1alpha1.EffectWord
			for _, e := range end.Evaluation.Effects {
				words = append(words, e.Word)
			}
			if diff := cmp.Diff(c.words, words); diff != "" {
				t.Errorf("words: (-want +got)\n%s", diff)
			}
			if end.Verdict != c.verdict || end.Message != c.message {
				t.Errorf("%s: %s", end.Verdict, end.Message)
			}
		})
	}
}

// Few blocks, or many comparisons, leave an interval open.
func TestRoundUnboundedInterval(t *testing.T) {
	r := benchtest.ExampleRound(t, 5)
	r.Spec.Repetitions.Min = ptr.To(int32(5))
	r.Spec.Comparison.Metrics = r.Spec.Comparison.Metrics[:1]
	end := r.Finish(t).End
	if e := end.Evaluation.Effects[0]; e.LowPercent != nil || e.HighPercent != nil || e.Percent == nil || e.ConfidencePercent != 100 || e.DetectablePercent != nil {
		t.Errorf("%+v", e)
	}
	if want := "1 of 1 gate comparison could not be decided after 5 blocks: RequestsPerSecond of a=y "; !strings.HasPrefix(end.Message, want) || !strings.Contains(end.Message, "% without an interval, tolerance 5%") {
		t.Errorf("message %q", end.Message)
	}
}

func TestVerdict(t *testing.T) {
	gate := func(verdicts ...v1alpha1.BenchmarkVerdict) (effects []benchmark.Effect) {
		for _, v := range verdicts {
			effects = append(effects, benchmark.Effect{Verdict: v})
		}
		return effects
	}
	for _, c := range []struct {
		effects []benchmark.Effect
		want    v1alpha1.BenchmarkVerdict
	}{
		{nil, "Passed"},
		{gate("Passed", "", "Passed"), "Passed"},
		{gate("Passed", "Inconclusive", "Passed"), "Inconclusive"},
		{gate("Inconclusive", "Failed", "Passed"), "Failed"},
	} {
		if got := verdict.Verdict(c.effects); got != c.want {
			t.Errorf("%v: %s, want %s", c.effects, got, c.want)
		}
	}
	if got, want := *verdict.Rejected("bm-r1-c000-b00", "quota exceeded"), (verdict.End{Verdict: "Error", Reason: benchmark.ReasonRunRejected, Message: "Run bm-r1-c000-b00 could not be created: quota exceeded"}); !cmp.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}

func TestStoredBaselineMissing(t *testing.T) {
	for name, c := range map[string]struct {
		baseline v1alpha1.Baseline
		want     verdict.End
	}{
		"the first round": {
			v1alpha1.Baseline{LastPassed: &v1alpha1.LastPassed{}},
			verdict.End{Verdict: "Passed", Reason: benchmark.ReasonCompleted, Message: "1 cell measured in 6 blocks. No earlier round passed, so there was nothing to compare with."},
		},
		"no such runs": {
			v1alpha1.Baseline{Runs: &v1alpha1.RunSelector{}},
			verdict.End{Verdict: "Error", Reason: benchmark.ReasonBaselineMissing, Message: "No valid finished run matches spec.comparison.baseline.runs.selector. Measure the baseline first."},
		},
		"no such round": {
			v1alpha1.Baseline{Benchmark: &v1alpha1.BenchmarkReference{Name: "x"}},
			verdict.End{Verdict: "Error", Reason: benchmark.ReasonBaselineMissing, Message: "The Benchmark of spec.comparison.baseline.benchmark has no round with valid runs of a cell of the same name. Measure the baseline first."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			comparison := &v1alpha1.Comparison{Baseline: c.baseline, Metrics: []v1alpha1.ComparedMetric{{Name: "LatencyP99"}}}
			r := benchtest.Round{Planner: benchtest.Planner(t, &v1alpha1.BenchmarkSpec{Repetitions: benchtest.Repetitions(6), Comparison: comparison})}
			got := *r.Finish(t).End
			got.Evaluation = benchmark.Evaluation{}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if c.want.Verdict == "Error" && len(r.Runs) > 0 {
				t.Errorf("%d runs were made", len(r.Runs))
			}
		})
	}
}

func TestEffectStatuses(t *testing.T) {
	cells := []cells.Cell{{Name: "a=x"}, {Index: 1, Name: "a=y"}}
	effect := func(metric v1alpha1.BenchmarkMetric, verdict v1alpha1.BenchmarkVerdict, word v1alpha1.EffectWord, better v1alpha1.Direction, percent float64) benchmark.Effect {
		return benchmark.Effect{Cell: 1, Metric: metric, Verdict: verdict, Word: word, Better: better, Percent: statistics.Finite(percent)}
	}
	effects := []benchmark.Effect{
		effect("1", "", "Better", "Lower", -9),
		effect("2", "Passed", "NoDifference", "Lower", 1),
		effect("3", "Failed", "Worse", "Lower", 12),
		effect("4", "", "Worse", "Lower", 9),
		effect("5", "Inconclusive", "CannotTell", "Lower", math.NaN()),
		effect("6", "Inconclusive", "Incomparable", "Lower", math.NaN()),
		effect("7", "Inconclusive", "CannotTell", "Higher", -3),
		effect("8", "Failed", "Worse", "Higher", -22.333),
		effect("9", "Inconclusive", "CannotTell", "Higher", 3),
	}
	var order []string
	for _, s := range lifecycle.Effects(cells, effects) {
		order = append(order, string(s.Metric))
	}
	if diff := cmp.Diff("8 3 6 7 9 5 2 4 1", strings.Join(order, " ")); diff != "" {
		t.Errorf("order: (-want +got)\n%s", diff)
	}

	full := benchmark.Effect{
		Cell: 1, Metric: "LatencyP99", Role: "Gate", Percent: ptr.To(-3.2), LowPercent: ptr.To(-12.345), HighPercent: ptr.To(1e300),
		DetectablePercent: ptr.To(0.004), Word: "CannotTell", Verdict: "Inconclusive", BlocksToDecide: 30,
	}
	want := []v1alpha1.EffectStatus{{
		Cell: "a=y", Metric: "LatencyP99", Role: "Gate", Percent: "-3.2", LowPercent: "-12.35", HighPercent: "1e+300",
		DetectablePercent: "0", Word: "CannotTell", Verdict: "Inconclusive", BlocksToDecide: ptr.To(int32(30)),
	}}
	if diff := cmp.Diff(want, lifecycle.Effects(cells, []benchmark.Effect{full})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if n := len(lifecycle.Effects(cells, make([]benchmark.Effect, 4000))); n != 64 {
		t.Errorf("%d of 4000 effects are in the status", n)
	}
}
