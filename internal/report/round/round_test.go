package round_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/benchmark/trend"
	"github.com/assay-dev/assay/internal/report/round"
	"github.com/assay-dev/assay/internal/report/round/roundtest"
)

func write(t *testing.T, format string, r *round.Report) string {
	t.Helper()
	var out bytes.Buffer
	if err := round.Formats.Write(&out, format, r); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestGolden(t *testing.T) {
	r := &round.Report{Round: roundtest.Connectors(t), Notes: []string{"Round 4 is under way."}}
	for _, format := range []string{"text", "markdown", "benchstat", "csv", "junit"} {
		t.Run(format, func(t *testing.T) { golden(t, "connectors."+format, []byte(write(t, format, r))) })
	}
}

// TestTrend has a cell whose level rises with round 9, and one whose level stays.
func TestTrend(t *testing.T) {
	r := roundtest.Trending(t)
	history := r.Trend
	only := &round.Report{Round: &benchmark.Round{
		Namespace: "default", Benchmark: "connectors", Number: 14, Verdict: v1alpha1.BenchmarkPassed, Reason: benchmark.ReasonCompleted, Trend: history,
	}}
	for _, format := range []string{"text", "markdown"} {
		t.Run(format, func(t *testing.T) { golden(t, "trend."+format, []byte(write(t, format, only))) })
	}
	var read struct{ Trend benchmark.Trend }
	if err := json.Unmarshal([]byte(write(t, "json", only)), &read); err != nil || len(read.Trend.Rounds) != 14 || len(read.Trend.Series[1].Changes) != 1 {
		t.Errorf("%+v: %v", read.Trend, err)
	}

	// Without a change the report says so, and of a single round nothing.
	history.Series = history.Series[:1]
	if text := write(t, "text", only); !strings.Contains(text, "A change of level decides nothing. None was found.") {
		t.Error(text)
	}
	only.Trend = trend.Next(nil, r)
	if text := write(t, "text", only); strings.Contains(text, "Trend") {
		t.Error(text)
	}
}

// TestBaselines names the round that a round was compared with.
func TestBaselines(t *testing.T) {
	for want, baseline := range map[string]*v1alpha1.RoundReference{
		"round 2, the last that passed": {Number: 2},
		"round 3, which was accepted":   {Number: 3, AcceptanceTime: &metav1.Time{Time: roundtest.Start}},
		"the last round that passed":    nil,
	} {
		r := &benchmark.Round{Cells: []cells.Cell{{Name: "template", Baseline: cells.NoBaseline}}, Baseline: baseline}
		r.Spec.Comparison = &v1alpha1.Comparison{Baseline: v1alpha1.Baseline{LastPassed: &v1alpha1.LastPassed{}}}
		r.Effects = []benchmark.Effect{{Metric: "LatencyP99", Role: v1alpha1.RoleGate, Word: v1alpha1.EffectWorse, Percent: ptr.To(12.0)}}
		if text := write(t, "text", &round.Report{Round: r}); !strings.Contains(text, "than that of "+want+" (") || !strings.Contains(text, "  "+want+"  ") {
			t.Errorf("want %q in:\n%s", want, text)
		}
	}
}

func TestJSON(t *testing.T) {
	r := &round.Report{Round: roundtest.Connectors(t), Notes: []string{"a note"}}
	document := write(t, "json", r)
	var read struct {
		benchmark.Round
		Notes []string
	}
	if err := json.Unmarshal([]byte(document), &read); err != nil {
		t.Fatal(err)
	}
	if len(read.Runs) != len(r.Runs) || len(read.Effects) != 6 || len(read.Estimates) != 28 || len(read.Capacities) != 4 || read.Notes[0] != "a note" {
		t.Errorf("%d runs, %d effects, %d estimates, %d capacities", len(read.Runs), len(read.Effects), len(read.Estimates), len(read.Capacities))
	}
	if strings.ContainsRune(document, '\x1b') {
		t.Error("a control character")
	}
}

// TestSentences has every conclusion that an effect can have.
func TestSentences(t *testing.T) {
	effect := func(word v1alpha1.EffectWord, verdict v1alpha1.BenchmarkVerdict, percent, low, high *float64) benchmark.Effect {
		return benchmark.Effect{
			Cell: 1, Metric: "LatencyP99", Role: v1alpha1.RoleGate, Better: v1alpha1.LowerIsBetter, TolerancePercent: 5, Word: word, Verdict: verdict,
			Percent: percent, LowPercent: low, HighPercent: high, ConfidencePercent: 97.5, DetectablePercent: ptr.To(9.25),
		}
	}
	f := ptr.To[float64]
	stored := effect(v1alpha1.EffectBetter, v1alpha1.BenchmarkPassed, f(-12), f(-14), f(-10.5))
	stored.DifferentTimes = true
	open := effect(v1alpha1.EffectCannotTell, v1alpha1.BenchmarkInconclusive, f(3), f(-2), f(9))
	open.BlocksToDecide = 23
	incomparable := effect(v1alpha1.EffectIncomparable, v1alpha1.BenchmarkInconclusive, nil, nil, nil)
	incomparable.Message = "The kernel of b is 6.1, that of a is 5.10."
	throughput := effect(v1alpha1.EffectWorse, v1alpha1.BenchmarkFailed, f(-12), f(-14), f(-10.5))
	throughput.Metric, throughput.Better = "RequestsPerSecond", v1alpha1.HigherIsBetter
	for want, e := range map[string]benchmark.Effect{
		"Failed: p99 of x=b is 12.0% worse than x=a's (10.5% to 14.0%, tolerance 5%).":                                                                                                  effect(v1alpha1.EffectWorse, v1alpha1.BenchmarkFailed, f(12), f(10.5), f(14)),
		"Failed: requests/s of x=b is 12.0% worse than x=a's (10.5% to 14.0%, tolerance 5%).":                                                                                           throughput,
		"Failed: p99 of x=b is 2.4 times x=a's (2.1 times to 2.8 times, tolerance 5%).":                                                                                                 effect(v1alpha1.EffectWorse, v1alpha1.BenchmarkFailed, f(140), f(110), f(180)),
		"Passed: p99 of x=b is 12.0% better than x=a's (10.5% to 14.0%, tolerance 5%, measured at different times).":                                                                    stored,
		"Passed: p99 of x=b is at most 2.0% worse than x=a's (-3.0% to +2.0%, tolerance 5%).":                                                                                           effect(v1alpha1.EffectNoDifference, v1alpha1.BenchmarkPassed, f(-1), f(-3), f(2)),
		"Passed: p99 of x=b is at most 1% worse than x=a's (-8% to +1%, tolerance 5%): not worse.":                                                                                      effect(v1alpha1.EffectCannotTell, v1alpha1.BenchmarkPassed, f(-4), f(-8), f(1)),
		"Passed: p99 of x=b is at most 4.98% worse than x=a's (-8.00% to +4.98%, tolerance 5%): not worse.":                                                                             effect(v1alpha1.EffectCannotTell, v1alpha1.BenchmarkPassed, f(-4), f(-8), f(4.98)),
		"Can't tell yet: p99 of x=b is between 2% better and 9% worse than x=a's; the tolerance is 5%. A round like this one can find differences of 9%. About 23 blocks would decide.": open,
		"Can't tell yet: p99 of x=b is 3.00% worse than x=a's, with too few blocks for an interval; the tolerance is 5%. A round like this one can find differences of 9%.":             effect(v1alpha1.EffectCannotTell, v1alpha1.BenchmarkInconclusive, f(3), nil, nil),
		"Can't tell yet: p99 of x=b is 3.00% worse than x=a's, at most 2.00% better; the tolerance is 5%. A round like this one can find differences of 9%.":                            effect(v1alpha1.EffectCannotTell, v1alpha1.BenchmarkInconclusive, f(3), f(-2), nil),
		"Can't tell yet: p99 of x=b is unknown.":                                        effect(v1alpha1.EffectCannotTell, v1alpha1.BenchmarkInconclusive, nil, nil, nil),
		"Not compared: p99 of x=b with x=a. The kernel of b is 6.1, that of a is 5.10.": incomparable,
	} {
		r := &benchmark.Round{Cells: []cells.Cell{{Name: "x=a", Baseline: cells.NoBaseline}, {Index: 1, Name: "x=b", Baseline: 0}}}
		r.Effects = []benchmark.Effect{e}
		if text := write(t, "text", &round.Report{Round: r}); !strings.Contains(text, "  "+want+"\n") {
			t.Errorf("want %q in:\n%s", want, text)
		}
	}
}

func TestHeadlines(t *testing.T) {
	for want, r := range map[string]benchmark.Round{
		"PASSED\n":                      {Verdict: v1alpha1.BenchmarkPassed, Reason: benchmark.ReasonCompleted},
		"FAILED\n":                      {Verdict: v1alpha1.BenchmarkFailed, Reason: benchmark.ReasonCompleted},
		"CAN'T TELL YET\n":              {Verdict: v1alpha1.BenchmarkInconclusive, Reason: benchmark.ReasonCompleted},
		"CAN'T TELL YET: InvalidRuns\n": {Verdict: v1alpha1.BenchmarkInconclusive, Reason: benchmark.ReasonInvalidRuns},
		"ERROR: Cancelled\n":            {Verdict: v1alpha1.BenchmarkError, Reason: v1alpha1.ReasonCancelled},
	} {
		if text := write(t, "text", &round.Report{Round: &r}); !strings.Contains(text, ": "+want) {
			t.Errorf("want %q in:\n%s", want, text)
		}
	}
}

// TestHostileTexts checks that what users and servers wrote neither controls a terminal nor is markup.
func TestHostileTexts(t *testing.T) {
	const hostile = "\x1b[2J\u202e<img src=x>[a](javascript:b)`c`|d*e*_f_&lt;\nhttps://g www.h # i"
	r := roundtest.Connectors(t)
	for i := range r.Cells {
		r.Cells[i].Name = hostile
	}
	for i := range r.Runs {
		r.Runs[i].Message, r.Runs[i].Valid, r.Runs[i].Conditions.Kernel = hostile, i%2 == 0, hostile
	}
	r.Message, r.Benchmark, r.Hash, r.Reason = hostile, hostile, hostile, hostile
	for _, format := range round.Formats.Names() {
		document := write(t, format, &round.Report{Round: r, Notes: []string{hostile}})
		for _, c := range document {
			if c != '\n' && !unicode.IsPrint(c) {
				t.Fatalf("%s: the character %q", format, c)
			}
		}
		if format != "markdown" {
			continue
		}
		for _, markup := range []string{"<img", "[a](", "`c`", "|d", "*e*", "_f_", "&lt;http", "https://", "www.", " # i"} {
			if strings.Contains(strings.NewReplacer(`\[`, "", "\\`", "", `\*`, "", `\_`, "", `\#`, "").Replace(document), markup) {
				t.Errorf("the markup %q in:\n%s", markup, document)
			}
		}
	}
}

func TestUnknownFormat(t *testing.T) {
	if err := round.Formats.Write(&bytes.Buffer{}, "yaml", &round.Report{Round: &benchmark.Round{}}); err == nil || err.Error() != `unknown output format "yaml": use one of benchstat, csv, json, junit, markdown, text` {
		t.Error(err)
	}
}

// TestMetricOfARequest has a metric of a single request in all formats.
func TestMetricOfARequest(t *testing.T) {
	r := &round.Report{Round: roundtest.Requests(t)}
	for format, wants := range map[string][]string{
		"text":      {"p99 (checkout) of apr is 2.0 times nio", "LatencyP99:checkout ms", "LatencyP99:checkout of connector=apr"},
		"markdown":  {"p99 (checkout) of apr is 2.0 times nio", "LatencyP99:checkout ms"},
		"csv":       {",LatencyP99:checkout ms,"},
		"json":      {`"metric": "LatencyP99:checkout"`},
		"junit":     {"LatencyP99:checkout of connector=apr"},
		"benchstat": {" checkout:p99-sec"},
	} {
		text := write(t, format, r)
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", format, want, text)
			}
		}
	}
	if title := r.AxisTitle("LatencyP99:checkout"); title != "p99 (checkout, service time), ms" {
		t.Error(title)
	}
	p, err := round.NewPivot(r.Round, round.PivotOptions{Metric: "LatencyP99:checkout"})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := round.PivotFormats.Write(&out, "text", p); err != nil || !strings.Contains(out.String(), "median of LatencyP99:checkout ms") {
		t.Errorf("%v\n%s", err, out.String())
	}
}
