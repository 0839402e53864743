package trend_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/benchmark/lifecycle"
	"github.com/assay-dev/assay/internal/benchmark/trend"
	"github.com/assay-dev/assay/test/benchtest"
)

// trendRound returns a round whose cells a=x and a=y have medians of LatencyP99, the only metric of the gate. NaN and a
// missing one are the same.
func trendRound(number int64, medians ...float64) *benchmark.Round {
	r := &benchmark.Round{
		Number: number, Ended: benchtest.Begin.Add(time.Duration(number) * time.Hour), Cells: []cells.Cell{{Name: "a=x"}, {Index: 1, Name: "a=y"}},
		Spec: v1alpha1.BenchmarkSpec{Comparison: benchtest.Compare("x", "LatencyP99")},
	}
	r.Spec.Comparison.Metrics = append(r.Spec.Comparison.Metrics, v1alpha1.ComparedMetric{Name: "ErrorRate", Role: v1alpha1.RoleReport})
	for cell, median := range medians {
		r.Estimates = append(r.Estimates, benchmark.Estimate{Cell: cell, Metric: "LatencyP99", Median: median}, benchmark.Estimate{Cell: cell, Metric: "ErrorRate", Median: float64(number)})
	}
	return r
}

// TestTrend has one cell whose level rises by a fifth with round 9 and one whose level stays, both with the noise of
// medians.
func TestTrend(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 0))
	var history *benchmark.Trend
	for number := range int64(16) {
		level := 1000.0
		if number+1 >= 9 {
			level = 1200
		}
		noise := func() float64 { return 1 + 0.03*random.NormFloat64() }
		history = trend.Next(history, trendRound(number+1, level*noise(), 1000*noise()))
	}
	if len(history.Rounds) != 16 || len(history.Series) != 2 || history.Rounds[0] != (benchmark.TrendRound{Number: 1, Ended: benchtest.Begin.Add(time.Hour)}) {
		t.Fatalf("%+v", history)
	}
	rising, steady := history.Series[0], history.Series[1]
	if rising.Cell != "a=x" || rising.Metric != "LatencyP99" || len(rising.Medians) != 16 || len(rising.Changes) != 1 {
		t.Fatalf("%+v", rising)
	}
	change := rising.Changes[0]
	if change.Round != 9 || *change.Percent() < 15 || *change.Percent() > 25 || change.P > 0.01 {
		t.Errorf("%+v", change)
	}
	if len(steady.Changes) != 0 {
		t.Errorf("a change in a steady series: %+v", steady.Changes)
	}
	want := []v1alpha1.LevelChange{{Cell: "a=x", Metric: "LatencyP99", Round: 9, Percent: benchmark.Decimal(*change.Percent())}}
	if diff := cmp.Diff(want, lifecycle.LevelChanges(history)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestTrendSkips has rounds without medians, cells that come and go, and rounds without a gate.
func TestTrendSkips(t *testing.T) {
	history := trend.Next(nil, trendRound(1, 10))
	history = trend.Next(history, trendRound(2))
	history = trend.Next(history, trendRound(3, 12, 20))
	f := ptr.To[float64]
	want := &benchmark.Trend{
		Rounds: []benchmark.TrendRound{{Number: 1, Ended: benchtest.Begin.Add(time.Hour)}, {Number: 3, Ended: benchtest.Begin.Add(3 * time.Hour)}},
		Series: []benchmark.TrendSeries{
			{Cell: "a=x", Metric: "LatencyP99", Medians: []*float64{f(10), f(12)}},
			{Cell: "a=y", Metric: "LatencyP99", Medians: []*float64{nil, f(20)}},
		},
	}
	if diff := cmp.Diff(want, history); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	other := trendRound(4, 12)
	other.Cells = []cells.Cell{{Name: "a=y"}}
	history = trend.Next(history, other)
	if len(history.Series) != 1 || len(history.Series[0].Medians) != 3 || *history.Series[0].Medians[2] != 12 {
		t.Errorf("%+v", history)
	}
	other.Spec.Comparison = nil
	if history := trend.Next(history, other); history != nil {
		t.Errorf("without a gate: %+v", history)
	}
	if history := trend.Next(nil, trendRound(1)); history != nil {
		t.Errorf("without medians: %+v", history)
	}
}

// TestFoundIn checks that a change is found with the first round up to which the trend has it.
func TestFoundIn(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 1))
	var history *benchmark.Trend
	found := map[int64]int64{} // the round with which a change was found first, by its round
	for number := range int64(16) {
		level := 10_000.0
		if number >= 8 {
			level = 12_000
		}
		history = trend.Next(history, trendRound(number+1, level*(1+0.02*random.NormFloat64())))
		for _, c := range history.Series[0].Changes {
			if _, known := found[c.Round]; !known {
				found[c.Round] = number + 1
			}
		}
	}
	s := &history.Series[0]
	if len(s.Changes) != 1 || s.Changes[0].Round != 9 {
		t.Fatalf("%+v", s.Changes)
	}
	if got, want := trend.FoundIn(history, s, &s.Changes[0]), found[9]; got != want || got < 11 {
		t.Errorf("found in round %d, want %d", got, want)
	}
	if got := trend.FoundIn(history, s, &benchmark.TrendChange{Round: 77}); got != 0 {
		t.Errorf("a change that isn't there was found in round %d", got)
	}
}

// TestTrendConditions has the verdict of each round, and the conditions of the first cell's first valid run.
func TestTrendConditions(t *testing.T) {
	r := trendRound(1, 10)
	r.Verdict = v1alpha1.BenchmarkInconclusive
	for i, run := range []benchmark.Run{
		{RunKey: benchmark.RunKey{Cell: 1}, Valid: true, Conditions: benchmark.Conditions{Kernel: "another cell"}},
		{RunKey: benchmark.RunKey{Trial: true}, Valid: true, Conditions: benchmark.Conditions{Kernel: "a trial"}},
		{Conditions: benchmark.Conditions{Kernel: "not valid"}},
		{Valid: true, Conditions: benchmark.Conditions{Kernel: "6.1"}},
		{Valid: true, Conditions: benchmark.Conditions{Kernel: "a later one"}},
	} {
		run.Ended = benchtest.Begin.Add(time.Duration(i) * time.Minute)
		r.Runs = append(r.Runs, run)
	}
	got := trend.Next(nil, r).Rounds[0]
	if want := (benchmark.TrendRound{Number: 1, Ended: benchtest.Begin.Add(time.Hour), Verdict: v1alpha1.BenchmarkInconclusive, Conditions: benchmark.Conditions{Kernel: "6.1"}}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// longTrend returns a trend of 100 rounds, and the round of 256 cells that continues it. The levels of
// 20 cells rise by a half.
func longTrend(t testing.TB, blocks, metrics int) (*benchmark.Trend, *benchmark.Round) {
	r := benchtest.Large(t, blocks)
	r.Number, r.Spec.Comparison = 101, benchtest.Compare("x", benchmark.MetricNames[:metrics]...)
	random := rand.New(rand.NewPCG(2, 0))
	level := func(cell, number int) float64 {
		if number >= benchmark.MaxTrendRounds-6 && cell < 20 {
			return 1500
		}
		return 1000
	}
	history := &benchmark.Trend{}
	for number := range int64(benchmark.MaxTrendRounds) {
		history.Rounds = append(history.Rounds, benchmark.TrendRound{
			Number: number + 1, Ended: benchtest.Begin.Add(time.Duration(number) * time.Hour), Verdict: v1alpha1.BenchmarkInconclusive,
			Conditions: benchmark.Conditions{NodeType: "m7i.2xlarge", Kernel: fmt.Sprintf("6.1.0-%d-amd64", number/10), Image: fmt.Sprintf("sha256:%064d", number), CPUExclusivity: "Exclusive"},
		})
	}
	for cell := range r.Cells {
		for _, m := range benchmark.MetricNames[:metrics] {
			s := benchmark.TrendSeries{Cell: r.Cells[cell].Name, Metric: m}
			for number := range benchmark.MaxTrendRounds {
				s.Medians = append(s.Medians, ptr.To(benchmark.Rounded(level(cell, number)*(1+0.05*random.Float64()))))
			}
			history.Series = append(history.Series, s)
			r.Estimates = append(r.Estimates, benchmark.Estimate{Cell: cell, Metric: m, Median: level(cell, benchmark.MaxTrendRounds)})
		}
	}
	return history, r
}

// TestTrendIsBounded continues long trends of few and of many series.
func TestTrendIsBounded(t *testing.T) {
	for metrics, rounds := range map[int]int{1: 32, 14: 12} {
		previous, r := longTrend(t, 2, metrics)
		r.Trend = trend.Next(previous, r)
		if n := len(r.Trend.Rounds); n != rounds || r.Trend.Rounds[n-1].Number != 101 || len(r.Trend.Series[0].Medians) != n || len(r.Trend.Series) != 256*metrics {
			t.Errorf("%d metrics: %d rounds, %d series", metrics, n, len(r.Trend.Series))
		}
		if changes := r.Trend.Series[0].Changes; len(changes) != 1 || changes[0].Round != 95 {
			t.Errorf("%d metrics: %+v", metrics, changes)
		}
		if n := len(lifecycle.LevelChanges(r.Trend)); n != 16 {
			t.Errorf("%d metrics: %d changes in the status", metrics, n)
		}
		data, err := r.Encode(artifact.ConfigMapLimit)
		if err != nil {
			t.Fatal(err)
		}
		if decoded, err := benchmark.DecodeRound(data); err != nil || !cmp.Equal(decoded.Trend, r.Trend) {
			t.Errorf("%d metrics: decoded %v", metrics, err)
		}
		t.Logf("%d metrics: %d bytes", metrics, len(data))
	}
	previous, r := longTrend(t, 1, 1)
	previous.Series = previous.Series[:1]
	r.Cells, r.Estimates, r.Runs = r.Cells[:1], r.Estimates[:1], nil
	if r.Trend = trend.Next(previous, r); len(r.Trend.Rounds) != benchmark.MaxTrendRounds || r.Trend.Rounds[0].Number != 2 {
		t.Errorf("%d rounds from %d", len(r.Trend.Rounds), r.Trend.Rounds[0].Number)
	}

	// A round is stored without its trend rather than not at all.
	data, err := r.Encode(1000)
	if err != nil {
		t.Fatal(err)
	}
	if decoded, err := benchmark.DecodeRound(data); err != nil || decoded.Trend != nil || decoded.Number != 101 {
		t.Errorf("%+v: %v", decoded, err)
	}
}

// BenchmarkNextTrend continues the trend of a large round, as the manager does at its end.
func BenchmarkNextTrend(b *testing.B) {
	previous, r := longTrend(b, 1, 1)
	for b.Loop() {
		trend.Next(previous, r)
	}
}
