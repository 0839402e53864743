package lifecycle_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/benchmark/inference"
	"github.com/assay-dev/assay/internal/benchmark/lifecycle"
	"github.com/assay-dev/assay/internal/benchmark/objects"
	"github.com/assay-dev/assay/internal/benchmark/plan"
	"github.com/assay-dev/assay/internal/benchmark/verdict"
	"github.com/assay-dev/assay/test/benchtest"
)

// maxObject is the largest size of a Benchmark as JSON.
const maxObject = 256 << 10

// hostile takes six bytes as JSON for each of its own.
func hostile(n int) string { return strings.Repeat("<", n) }

// largest returns a Benchmark of 256 cells with the longest names, all metrics and the largest spec.
func largest(t *testing.T) (*v1alpha1.Benchmark, []cells.Cell) {
	t.Helper()
	b := &v1alpha1.Benchmark{ObjectMeta: metav1.ObjectMeta{
		Name: strings.Repeat("b", 34), Namespace: strings.Repeat("n", 63), UID: "01234567-89ab-cdef-0123-456789abcdef", Generation: math.MaxInt32,
		ResourceVersion: "12345678901234567890", CreationTimestamp: metav1.NewTime(benchtest.Begin),
		Annotations: map[string]string{v1alpha1.AnnotationRunRound: hostile(300), v1alpha1.AnnotationAcceptRound: hostile(300)},
	}}
	for i := range 8 {
		name := fmt.Sprintf("%s%d", strings.Repeat("a", 62), i)
		b.Spec.Axes = append(b.Spec.Axes, benchtest.Values(name, "/x", `"`+hostile(62)+`x"`, `"`+hostile(62)+`y"`))
	}
	b.Spec.Comparison = benchtest.Compare("", benchmark.MetricNames...)
	b.Spec.Comparison.Baseline = v1alpha1.Baseline{LastPassed: &v1alpha1.LastPassed{}}
	b.Spec.Capacity = &v1alpha1.Capacity{Path: "/load/open/requestsPerSecond", From: 1, Max: 10_000_000}
	b.Spec.History = v1alpha1.History{Passed: ptr.To(int32(100)), Failed: ptr.To(int32(100))}
	b.Spec.Template.Metadata.Annotations = map[string]string{"a": ""}
	encoded, err := json.Marshal(b.Spec)
	if err != nil {
		t.Fatal(err)
	}
	b.Spec.Template.Metadata.Annotations["a"] = strings.Repeat("x", lifecycle.MaxSpec-len(encoded))
	if err := lifecycle.CheckSize(&b.Spec, 1); err != nil { // its rounds are too large
		t.Fatal(err)
	}
	applied, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	b.Annotations["kubectl.kubernetes.io/last-applied-configuration"] = string(applied)
	all, err := cells.Of(&b.Spec)
	if err != nil || len(all) != cells.Max {
		t.Fatalf("%d cells: %v", len(all), err)
	}
	return b, all
}

// TestABenchmarkIsNeverTooLarge fills a status through the functions that the manager fills it with, and measures
// each state.
func TestABenchmarkIsNeverTooLarge(t *testing.T) {
	b, cells := largest(t)
	biggest := 0
	measure := func() {
		t.Helper()
		encoded, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		if biggest = max(biggest, len(encoded)); len(encoded) > maxObject {
			t.Fatalf("%d bytes, must be at most %d", len(encoded), maxObject)
		}
	}
	f := ptr.To(-123456789012.34)
	var effects []benchmark.Effect
	var claims []benchmark.Claim
	var capacities []benchmark.Capacity
	trend := &benchmark.Trend{Rounds: []benchmark.TrendRound{{Number: math.MaxInt64}}}
	for i := range cells {
		for _, m := range benchmark.MetricNames {
			e := benchmark.Effect{Cell: i, Metric: m, Percent: f, LowPercent: f, HighPercent: f, DetectablePercent: f, Message: hostile(5000)}
			effects, claims = append(effects, e), append(claims, benchmark.Claim{Name: fmt.Sprintf("not-worse/%s/%s", m, cells[i].Name), Effect: e, Verdict: v1alpha1.ClaimUndecided, BlocksToDecide: 100})
			trend.Series = append(trend.Series, benchmark.TrendSeries{Cell: cells[i].Name, Metric: m, Changes: []benchmark.TrendChange{{Round: math.MaxInt64, Before: 3, After: 1}}})
		}
		capacities = append(capacities, benchmark.Capacity{Cell: i, Sustained: 9_999_998, Failed: 9_999_999, Limit: v1alpha1.LimitMaximum, Trials: 39, AchievedPerSecond: 9_999_998.99})
	}
	p := &plan.Planner{Design: inference.Design{Spec: &b.Spec, Cells: cells}, Benchmark: b.Name, Number: 1}
	const rounds = 230
	b.Status.LastScheduleTime, b.Status.NextScheduleTime = ptr.To(metav1.NewTime(benchtest.Begin)), ptr.To(metav1.NewTime(benchtest.Begin))
	b.Status.Round = &v1alpha1.RoundStatus{Number: math.MaxInt64 - rounds - 1}
	for i := range rounds {
		lifecycle.Begin(b, v1alpha1.TriggerRequested, strings.Repeat("0", 16), len(cells), math.MinInt64, benchtest.Begin)
		if i >= rounds-2 {
			run := benchmark.Run{RunKey: benchmark.RunKey{Round: b.Status.Round.Number, Cell: 255, Number: 99, Replacement: 99}, Started: benchtest.Begin}
			run.Name = run.RunKey.Name(b.Name)
			lifecycle.Track(b, p, []benchmark.Run{run}, plan.Step{Waiting: &run}, benchtest.Begin)
			lifecycle.Retry(b, errors.New(hostile(10_000)))
			measure()
		}
		b.Status.Round.ForeignRuns = ptr.To(int32(math.MaxInt32))
		b.Status.Round.Artifact = &v1alpha1.ArtifactReference{
			ConfigMap: &v1alpha1.ArtifactConfigMap{Name: objects.NewArtifact(b, nil).Name, Key: benchmark.ArtifactKey}, SizeBytes: ptr.To(int64(900 << 10)), SHA256: strings.Repeat("0", 64),
		}
		b.Status.Round.Claims = lifecycle.Claims(&benchmark.Evaluation{Blocks: 100, Claims: claims})
		b.Status.Round.Effects, b.Status.Round.Capacities = lifecycle.Effects(cells, effects), lifecycle.Capacities(cells, capacities)
		b.Status.Trend = lifecycle.LevelChanges(trend)
		outcome := v1alpha1.BenchmarkInconclusive
		if i%2 == 0 && i < rounds-1 {
			outcome = v1alpha1.BenchmarkPassed
		}
		lifecycle.Complete(b, &verdict.End{Verdict: outcome, Reason: benchmark.ReasonIncomparable, Message: hostile(20_000)}, benchtest.Begin.Add(time.Hour))
	}
	candidate, refusal := lifecycle.Acceptable(b)
	if refusal != "" {
		t.Fatal(refusal)
	}
	request := lifecycle.AcceptanceRequest(b)
	lifecycle.Accept(b, request, candidate, benchtest.Begin)
	measure()
	lifecycle.Refuse(b, request, hostile(5000), benchtest.Begin)
	lifecycle.Retry(b, errors.New(hostile(10_000)))
	measure()
	lifecycle.Reject(b, strings.Repeat("0", 16), hostile(20_000), benchtest.Begin)
	measure()
	if s := &b.Status; len(s.History) != 200 || len(s.Round.Claims) < 4 || len(s.Round.Effects) < 1 || len(s.Round.Capacities) < 6 || len(s.Trend) < 2 || len(request) == 0 {
		t.Errorf("%d rounds, %d claims, %d effects, %d capacities, %d changes", len(s.History), len(s.Round.Claims), len(s.Round.Effects), len(s.Round.Capacities), len(s.Trend))
	}
	t.Logf("%d bytes at most", biggest)

	b.Spec.Template.Metadata.Annotations["a"] += "x"
	if err := lifecycle.CheckSize(&b.Spec, 1); err == nil || err.Error() != "spec: 49153 bytes as JSON, must be at most 49152: use fewer values, or move content to ConfigMaps" {
		t.Errorf("a larger spec: %v", err)
	}
}

// TestOrdinaryStatusesAreWhole checks that the limits in bytes leave 64 effects of ordinary names alone.
func TestOrdinaryStatusesAreWhole(t *testing.T) {
	r := benchtest.Large(t, 1)
	var effects []benchmark.Effect
	var claims []benchmark.Claim
	var capacities []benchmark.Capacity
	for i := range r.Cells {
		percent := -12.34
		e := benchmark.Effect{Cell: i, Metric: "ErrorRate", Percent: &percent, LowPercent: &percent, HighPercent: &percent}
		effects, claims = append(effects, e), append(claims, benchmark.Claim{Name: "not-worse/TargetCPUPerRequest/" + r.Cells[i].Name, Effect: e, Verdict: v1alpha1.ClaimConfirmed, BlocksToDecide: 76})
		capacities = append(capacities, benchmark.Capacity{Cell: i, Sustained: 11_815, Failed: 12_338, Limit: v1alpha1.LimitServer, Trials: 15, AchievedPerSecond: 11_803.18})
	}
	a := lifecycle.Claims(&benchmark.Evaluation{Claims: claims})
	if e, c := lifecycle.Effects(r.Cells, effects), lifecycle.Capacities(r.Cells, capacities); len(a) != 64 || len(e) != 64 || len(c) != 64 {
		t.Errorf("%d claims, %d effects, %d capacities", len(a), len(e), len(c))
	}
}

func TestBounded(t *testing.T) {
	for _, text := range []string{"", "short", strings.Repeat("x", 100), hostile(100), strings.Repeat("é", 100), strings.Repeat("\x00", 100), strings.Repeat("\xff", 100)} {
		got := lifecycle.Bounded(text, 64)
		encoded, err := json.Marshal(got)
		if err != nil || len(encoded)-2 > 64 || !strings.HasPrefix(text, got) || len(text) > 64 && got == "" && text[0] != 0xff {
			t.Errorf("%.20q: %q", text, got)
		}
	}
}
