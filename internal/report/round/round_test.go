package round_test

import (
	"bytes"
	"encoding/json"
	"strconv"
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
		t.Run(format, func(t *testing.T) { compareGolden(t, "connectors."+format, write(t, format, r)) })
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
		t.Run(format, func(t *testing.T) { compareGolden(t, "trend."+format, write(t, format, only)) })
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
		r.Claims = []benchmark.Claim{{Than: cells.NoBaseline, Is: v1alpha1.ClaimLower, BoundPercent: -5, Gate: true, Effect: benchmark.Effect{Metric: "LatencyP99", Percent: ptr.To(12.0)}}}
		if text := write(t, "text", &round.Report{Round: r}); !strings.Contains(text, "than that of "+want+". It is ") {
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
	if len(read.Runs) != len(r.Runs) || len(read.Claims) != 3 || len(read.Effects) != 3 || len(read.Estimates) != 28 || len(read.Capacities) != 4 || read.Notes[0] != "a note" {
		t.Errorf("%d runs, %d effects, %d estimates, %d capacities", len(read.Runs), len(read.Effects), len(read.Estimates), len(read.Capacities))
	}
	if strings.ContainsRune(document, '\x1b') {
		t.Error("a control character")
	}
}

// TestSentences has every conclusion about a claim.
func TestSentences(t *testing.T) {
	claim := func(verdict v1alpha1.ClaimVerdict, percent, low, high *float64) benchmark.Claim {
		return benchmark.Claim{
			Name: "not-worse", Is: v1alpha1.ClaimLower, BoundPercent: -5, Gate: true, Verdict: verdict,
			Effect: benchmark.Effect{Cell: 1, Metric: "LatencyP99", Percent: percent, LowPercent: low, HighPercent: high, ConfidencePercent: 97.5, DetectablePercent: ptr.To(9.25)},
		}
	}
	f := ptr.To[float64]
	stored := claim(v1alpha1.ClaimConfirmed, f(-12), f(-14), f(-10.5))
	stored.DifferentTimes, stored.Than = true, cells.NoBaseline
	open := claim(v1alpha1.ClaimUndecided, f(3), f(-2), f(9))
	open.BlocksToDecide = 23
	incomparable := claim(v1alpha1.ClaimUndecided, nil, nil, nil)
	incomparable.Message = "The kernel of b is 6.1, that of a is 5.10."
	faster := claim(v1alpha1.ClaimConfirmed, f(31), f(25.5), f(36))
	faster.Name, faster.Metric, faster.Level, faster.Is, faster.BoundPercent, faster.Gate = "faster", "RequestsPerSecond", 3, v1alpha1.ClaimHigher, 20, false
	lower := claim(v1alpha1.ClaimContradicted, f(2), f(1), f(3))
	lower.BoundPercent, lower.Gate = 0, false
	same := claim(v1alpha1.ClaimConfirmed, f(1), f(-1), f(3))
	same.Is, same.BoundPercent, same.Gate = v1alpha1.ClaimSame, 5, false
	strict := claim(v1alpha1.ClaimContradicted, f(2), f(1), f(3))
	strict.BoundPercent = 0
	for want, c := range map[string]benchmark.Claim{
		"Contradicted: p99 of x=b is at most 5% higher than that of x=a. It is +12.0% (+10.5% to +14.0%).":                                                                        claim(v1alpha1.ClaimContradicted, f(12), f(10.5), f(14)),
		"Confirmed: p99 of x=b is at most 5% higher than that of x=a. It is -4.00% (-8.00% to +4.98%).":                                                                           claim(v1alpha1.ClaimConfirmed, f(-4), f(-8), f(4.98)),
		"Confirmed: p99 of x=b is at most 5% higher than that of the baseline. It is -12.0% (-14.0% to -10.5%). Measured at different times.":                                     stored,
		"Confirmed: faster: requests/s at level 3 of x=b is at least 20% higher than that of x=a. It is +31% (+26% to +36%).":                                                     faster,
		"Contradicted: not-worse: p99 of x=b is lower than that of x=a. It is +2.0% (+1.0% to +3.0%).":                                                                            lower,
		"Contradicted: p99 of x=b is not higher than that of x=a. It is +2.0% (+1.0% to +3.0%).":                                                                                  strict,
		"Confirmed: not-worse: p99 of x=b is within 5% of that of x=a. It is +1.0% (-1.0% to +3.0%).":                                                                             same,
		"Undecided: p99 of x=b is at most 5% higher than that of x=a. It is +3% (-2% to +9%). A round like this one can find differences of 9%. About 23 blocks would decide.":    open,
		"Undecided: p99 of x=b is at most 5% higher than that of x=a. It is +3.00%, with too few blocks for an interval. A round like this one can find differences of 9%.":       claim(v1alpha1.ClaimUndecided, f(3), nil, nil),
		"Undecided: p99 of x=b is at most 5% higher than that of x=a. It is +3.00% (-2.00% to unbounded). A round like this one can find differences of 9%.":                      claim(v1alpha1.ClaimUndecided, f(3), f(-2), nil),
		"Undecided: p99 of x=b is at most 5% higher than that of x=a. The difference is unknown: a side has no value. A round like this one can find differences of 9%.":          claim(v1alpha1.ClaimUndecided, nil, nil, nil),
		"Undecided: p99 of x=b is at most 5% higher than that of x=a. Not compared: The kernel of b is 6.1, that of a is 5.10. A round like this one can find differences of 9%.": incomparable,
	} {
		r := &benchmark.Round{Cells: []cells.Cell{{Name: "x=a", Baseline: cells.NoBaseline}, {Index: 1, Name: "x=b", Baseline: 0}}}
		r.Claims = []benchmark.Claim{c}
		if text := write(t, "text", &round.Report{Round: r}); !strings.Contains(text, "  "+want+"\n") {
			t.Errorf("want %q in:\n%s", want, text)
		}
	}
}

func TestHeadlines(t *testing.T) {
	for want, r := range map[string]benchmark.Round{
		"PASSED\n":                    {Verdict: v1alpha1.BenchmarkPassed, Reason: benchmark.ReasonCompleted},
		"MEASURED\n":                  {Verdict: v1alpha1.BenchmarkMeasured, Reason: benchmark.ReasonCompleted},
		"FAILED\n":                    {Verdict: v1alpha1.BenchmarkFailed, Reason: benchmark.ReasonCompleted},
		"INCONCLUSIVE\n":              {Verdict: v1alpha1.BenchmarkInconclusive, Reason: benchmark.ReasonCompleted},
		"INCONCLUSIVE: InvalidRuns\n": {Verdict: v1alpha1.BenchmarkInconclusive, Reason: benchmark.ReasonInvalidRuns},
		"ERROR: Cancelled\n":          {Verdict: v1alpha1.BenchmarkError, Reason: v1alpha1.ReasonCancelled},
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
		"text":      {"p99 (checkout) of apr is at most 5% higher than that of nio", "LatencyP99:checkout ms", "not-worse/LatencyP99:checkout/connector=apr"},
		"markdown":  {"p99 (checkout) of apr is at most 5% higher than that of nio", "LatencyP99:checkout ms"},
		"csv":       {",LatencyP99:checkout ms,"},
		"json":      {`"metric": "LatencyP99:checkout"`},
		"junit":     {"not-worse/LatencyP99:checkout/connector=apr"},
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

// TestWarnings checks that text and Markdown of a round have the warnings of its runs that count, with the cells that have them.
func TestWarnings(t *testing.T) {
	r := roundtest.Failed(t)
	own := 0
	for i := range r.Runs {
		run := &r.Runs[i]
		run.Warnings = []string{"TargetThrottled"}
		if run.Cell == 0 && run.Valid && !run.Trial && run.Number < r.Blocks {
			own++
			run.Warnings = append(run.Warnings, "ClientStalls")
		}
	}
	for _, format := range []string{"text", "markdown"} {
		var b bytes.Buffer
		if err := round.Formats.Write(&b, format, &round.Report{Round: r}); err != nil {
			t.Fatal(err)
		}
		text := strings.Join(strings.Fields(strings.ReplaceAll(b.String(), "|", " ")), " ")
		for _, want := range []string{"TargetThrottled " + strconv.Itoa(own*len(r.Cells)) + " all", "ClientStalls " + strconv.Itoa(own) + " " + r.Cells[0].Name + " (" + strconv.Itoa(own) + ")"} {
			if own == 0 || !strings.Contains(text, want) {
				t.Errorf("%s has no %q:\n%s", format, want, b.String())
			}
		}
	}
}
