package verdict_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/benchmark/lifecycle"
	"github.com/assay-dev/assay/internal/benchmark/verdict"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/test/benchtest"
)

// texts returns the effects of claims and others with one decimal, as the documentation has them.
func texts(evaluation *benchmark.Evaluation) (texts []string) {
	add := func(e *benchmark.Effect, answer string) {
		text := string(e.Metric)
		for _, p := range []*float64{e.Percent, e.LowPercent, e.HighPercent, e.DetectablePercent} {
			if p == nil {
				text += " -"
			} else {
				text += fmt.Sprintf(" %.1f", *p)
			}
		}
		texts = append(texts, text+answer)
	}
	for i := range evaluation.Claims {
		c := &evaluation.Claims[i]
		add(&c.Effect, fmt.Sprintf(" %s: %s %d", c.Name, c.Verdict, c.BlocksToDecide))
	}
	for i := range evaluation.Effects {
		add(&evaluation.Effects[i], "")
	}
	return texts
}

func TestRoundAsDocumented(t *testing.T) {
	end := benchtest.ExampleRound(t, 5).Finish(t).End
	want := []string{
		"RequestsPerSecond -1.9 -9.6 3.2 15.0 not-worse/RequestsPerSecond/a=y: Undecided 90",
		"LatencyP99 2.0 -3.1 10.7 11.7",
	}
	if diff := cmp.Diff(want, texts(&end.Evaluation)); diff != "" {
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
	message := "1 of 1 claim undecided after 10 blocks: not-worse/RequestsPerSecond/a=y: RequestsPerSecond of a=y must be at most 5% lower than that of a=x, and is -1.92% (-9.64% to +3.2%), about 90 blocks would decide."
	if end.Verdict != v1alpha1.BenchmarkInconclusive || end.Message != message {
		t.Errorf("%s: %s", end.Verdict, end.Message)
	}
	end = benchtest.ExampleRound(t, 10).Finish(t).End
	if end.Verdict != v1alpha1.BenchmarkPassed || end.Message != "1 claim confirmed after 10 blocks." || end.Evaluation.Claims[0].Verdict != v1alpha1.ClaimConfirmed {
		t.Errorf("with a tolerance of 10%%: %s: %s", end.Verdict, end.Message)
	}
}

// Each gate metric decides by its interval, in the direction of its metric.
func TestRoundVerdict(t *testing.T) {
	for name, c := range map[string]struct {
		factor  float64 // by which the candidate's metrics differ
		metrics []v1alpha1.ComparedMetric
		verdict v1alpha1.BenchmarkVerdict
		words   string // of the claims
		message string
	}{
		"slower": {
			1.5, []v1alpha1.ComparedMetric{{Name: "LatencyP99"}, {Name: "RequestsPerSecond"}}, "Failed", "Contradicted Confirmed",
			"1 of 2 claims contradicted after 10 blocks: not-worse/LatencyP99/a=y: LatencyP99 of a=y must be at most 5% higher than that of a=x, and is +50% (+50% to +50%).",
		},
		"fewer requests": {
			0.5, []v1alpha1.ComparedMetric{{Name: "LatencyP99"}, {Name: "RequestsPerSecond"}}, "Failed", "Confirmed Contradicted",
			"1 of 2 claims contradicted after 10 blocks: not-worse/RequestsPerSecond/a=y: RequestsPerSecond of a=y must be at most 5% lower than that of a=x, and is -50% (-50% to -50%).",
		},
		"more bytes": {
			1.5, []v1alpha1.ComparedMetric{{Name: "BytesPerSecond"}}, "Passed", "Confirmed", "1 claim confirmed after 10 blocks.",
		},
		"a direction of its own": {
			1.5, []v1alpha1.ComparedMetric{{Name: "BytesPerSecond", Better: "Lower"}}, "Failed", "Contradicted",
			"1 of 1 claim contradicted after 10 blocks: not-worse/BytesPerSecond/a=y: BytesPerSecond of a=y must be at most 5% higher than that of a=x, and is +50% (+50% to +50%).",
		},
		"within the tolerance": {
			1.05, []v1alpha1.ComparedMetric{{Name: "LatencyP99"}}, "Passed", "Confirmed", "1 claim confirmed after 10 blocks.",
		},
		"beyond a tolerance of 0": {
			1.001, []v1alpha1.ComparedMetric{{Name: "LatencyP99", TolerancePercent: ptr.To(int32(0))}}, "Failed", "Contradicted",
			"1 of 1 claim contradicted after 10 blocks: not-worse/LatencyP99/a=y: LatencyP99 of a=y must be not higher than that of a=x, and is +0.1% (+0.1% to +0.1%).",
		},
		"only reported": {
			1.5, []v1alpha1.ComparedMetric{{Name: "LatencyP99", Role: "Report"}}, "Measured", "", "2 cells measured in 10 blocks. No claim was made.",
		},
		"a metric that is missing": {
			1, []v1alpha1.ComparedMetric{{Name: "LatencyP99"}, {Name: "TargetPeakMemory"}}, "Inconclusive", "Confirmed Undecided",
			"1 of 2 claims undecided after 10 blocks: not-worse/TargetPeakMemory/a=y: TargetPeakMemory of a=y must be at most 5% higher than that of a=x, and is unknown.",
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
			var words []string
			for _, c := range end.Evaluation.Claims {
				words = append(words, string(c.Verdict))
			}
			if diff := cmp.Diff(c.words, strings.Join(words, " ")); diff != "" {
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
	if e := end.Evaluation.Claims[0]; e.LowPercent != nil || e.HighPercent != nil || e.Percent == nil || e.ConfidencePercent != 100 || e.DetectablePercent != nil {
		t.Errorf("%+v", e)
	}
	if want := "1 of 1 claim undecided after 5 blocks: not-worse/RequestsPerSecond/a=y: "; !strings.HasPrefix(end.Message, want) || !strings.Contains(end.Message, "% without an interval") {
		t.Errorf("message %q", end.Message)
	}
}

func TestVerdict(t *testing.T) {
	gate := &v1alpha1.BenchmarkSpec{Comparison: benchtest.Compare("x", "LatencyP99")}
	claims := &v1alpha1.BenchmarkSpec{Claims: make([]v1alpha1.Claim, 1)}
	reported := &v1alpha1.BenchmarkSpec{Comparison: benchtest.Compare("x", "LatencyP99")}
	reported.Comparison.Metrics[0].Role = v1alpha1.RoleReport
	for _, c := range []struct {
		spec   *v1alpha1.BenchmarkSpec
		claims string
		want   v1alpha1.BenchmarkVerdict
	}{
		{&v1alpha1.BenchmarkSpec{}, "", "Measured"},
		{reported, "", "Measured"},
		{gate, "", "Passed"}, // there is nothing to compare with yet
		{gate, "Confirmed Confirmed", "Passed"},
		{claims, "Confirmed Undecided Confirmed", "Inconclusive"},
		{claims, "Undecided Contradicted Confirmed", "Failed"},
	} {
		var all []benchmark.Claim
		for _, word := range strings.Fields(c.claims) {
			all = append(all, benchmark.Claim{Verdict: v1alpha1.ClaimVerdict(word)})
		}
		if got := verdict.Verdict(c.spec, all); got != c.want {
			t.Errorf("%q: %s, want %s", c.claims, got, c.want)
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

// Claims about two cells end by their intervals, with those of the gate.
func TestClaims(t *testing.T) {
	selector := func(cell string) v1alpha1.CellSelector { return v1alpha1.CellSelector{"a": cell} }
	spec := &v1alpha1.BenchmarkSpec{
		Axes: []v1alpha1.Axis{benchtest.Options("a", "x", "y", "z")}, Repetitions: benchtest.Repetitions(10), Comparison: benchtest.Compare("x", "LatencyP99"),
		Claims: []v1alpha1.Claim{
			{Name: "y-lower", Metric: "LatencyP99", Cell: selector("y"), Than: selector("z"), Is: v1alpha1.ClaimLower, ByAtLeastPercent: ptr.To(int32(10))},
			{Name: "y-twice", Metric: "RequestsPerSecond", Cell: selector("y"), Than: selector("z"), Is: v1alpha1.ClaimHigher, ByAtLeastPercent: ptr.To(int32(100))},
			{Name: "same", Metric: "LatencyP99", Cell: selector("x"), Than: selector("y"), Is: v1alpha1.ClaimSame, WithinPercent: ptr.To(int32(20))},
			{Name: "at-2", Metric: "LatencyP99", Level: ptr.To(int32(2)), Cell: selector("x"), Than: selector("y"), Is: v1alpha1.ClaimHigher},
		},
	}
	r := benchtest.Round{Planner: benchtest.Planner(t, spec)}
	at := slices.IndexFunc(result.LevelMetrics, func(m result.LevelMetric) bool { return m.Name == "LatencyP99" })
	r.Measure = func(run *benchmark.Run) {
		latency := benchtest.Example[0][run.Number] * []float64{1, 1.02, 1.3}[run.Cell]
		run.Metrics = map[v1alpha1.BenchmarkMetric]float64{"LatencyP99": latency, "RequestsPerSecond": 1e9 / latency}
		for _, factor := range []float64{1, []float64{3, 2, 1}[run.Cell]} {
			level := benchmark.RunLevel{Metrics: make([]float32, len(result.LevelMetrics))}
			level.Metrics[at] = float32(latency * factor)
			run.Levels = append(run.Levels, level)
		}
	}
	end := r.Finish(t).End
	var got []string
	for _, c := range end.Evaluation.Claims {
		got = append(got, fmt.Sprintf("%s %s %.1f", c.Name, c.Verdict, *c.Percent))
	}
	want := []string{
		"y-lower Confirmed -21.5", "y-twice Contradicted 27.5", "same Confirmed -2.0", "at-2 Confirmed 47.1",
		"not-worse/LatencyP99/a=y Confirmed 2.0", "not-worse/LatencyP99/a=z Contradicted 30.0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if end.Verdict != v1alpha1.BenchmarkFailed || math.Abs(end.Evaluation.ClaimErrorPercent-5.0/6) > 1e-9 {
		t.Errorf("%s, %g%%", end.Verdict, end.Evaluation.ClaimErrorPercent)
	}
	message := "2 of 6 claims contradicted after 10 blocks: y-twice: RequestsPerSecond of a=y must be at least 100% higher than that of a=z, and is +27.45% (+27.45% to +27.45%); " +
		"not-worse/LatencyP99/a=z: LatencyP99 of a=z must be at most 5% higher than that of a=x, and is +30% (+30% to +30%)."
	if end.Message != message {
		t.Errorf("message %q", end.Message)
	}
}

func TestStatuses(t *testing.T) {
	claim := func(name string, verdict v1alpha1.ClaimVerdict) benchmark.Claim {
		return benchmark.Claim{Name: name, Verdict: verdict}
	}
	e := &benchmark.Evaluation{Blocks: 7, Claims: []benchmark.Claim{
		claim("1", "Confirmed"), claim("2", "Undecided"), claim("3", "Contradicted"), claim("4", "Confirmed"), claim("5", "Contradicted"),
	}}
	var order []string
	for _, s := range lifecycle.Claims(e) {
		order = append(order, s.Name)
	}
	if diff := cmp.Diff("3 5 2 1 4", strings.Join(order, " ")); diff != "" {
		t.Errorf("order: (-want +got)\n%s", diff)
	}
	full := benchmark.Effect{Cell: 1, Metric: "LatencyP99:pay", Percent: ptr.To(-3.2), LowPercent: ptr.To(-12.345), HighPercent: ptr.To(1e300), DetectablePercent: ptr.To(0.004), Message: "why"}
	e.Claims = []benchmark.Claim{{Name: "a", Effect: full, Verdict: v1alpha1.ClaimUndecided, BlocksToDecide: 30}}
	claims := []v1alpha1.ClaimStatus{{
		Name: "a", Verdict: "Undecided", Percent: "-3.2", LowPercent: "-12.35", HighPercent: "1e+300", DetectablePercent: "0", Blocks: ptr.To(int32(7)), BlocksToDecide: ptr.To(int32(30)), Message: "why",
	}}
	if diff := cmp.Diff(claims, lifecycle.Claims(e)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	cells := []cells.Cell{{Name: "a=x"}, {Index: 1, Name: "a=y"}}
	effects := []v1alpha1.EffectStatus{{
		Cell: "a=y", Metric: "LatencyP99", Request: "pay", Percent: "-3.2", LowPercent: "-12.35", HighPercent: "1e+300", DetectablePercent: "0", Message: "why",
	}}
	if diff := cmp.Diff(effects, lifecycle.Effects(cells, []benchmark.Effect{full})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	e.Claims = make([]benchmark.Claim, 4000)
	if n, m := len(lifecycle.Claims(e)), len(lifecycle.Effects(cells, make([]benchmark.Effect, 4000))); n != 64 || m != 64 {
		t.Errorf("%d of 4000 claims and %d effects are in the status", n, m)
	}
}
