package inference_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/test/benchtest"
)

// staged returns a result of levels of 200, 400 and so on up to a number of connections, held for 10 s each. A connection
// has 5 requests/s, the server's CPU passes 90% at some number of connections, or never at 0.
func staged(most, broken int64) *result.Result {
	r := &result.Result{
		DurationMicroseconds: 10_000_000, Environment: result.Environment{TargetCPULimit: 1000},
		BreakingPoints: []result.BreakingPoint{{Kind: result.BreakingCPU, Container: "server"}},
	}
	for n := int64(200); n <= most; n += 200 {
		l := result.Level{TargetConnections: n, Start: n / 20, End: n/20 + 10}
		l.Requests = 50 * n
		l.Latencies.Of(result.Total).Record(n)
		l.SetTarget(&result.TargetUsage{Server: &result.Used{UserCPU: 10_000 * n}})
		r.Levels = append(r.Levels, l)
	}
	if broken > 0 {
		r.BreakingPoints[0].Reached, r.BreakingPoints[0].Connections = true, broken
	}
	return r
}

// withLevels returns a round of two cells, of which the runs of each block have the given results.
func withLevels(t *testing.T, results ...[2]*result.Result) *benchtest.Round {
	r := &benchtest.Round{Planner: benchtest.Planner(t, &v1alpha1.BenchmarkSpec{Axes: []v1alpha1.Axis{benchtest.Options("a", "x", "y")}, Repetitions: benchtest.Repetitions(int32(len(results)))})}
	r.Measure = func(run *benchmark.Run) { run.Complete(results[run.Number][run.Cell], "") }
	return r
}

func TestLevels(t *testing.T) {
	// The second run of y was ended at 400.
	r := withLevels(t, [2]*result.Result{staged(600, 0), staged(600, 500)}, [2]*result.Result{staged(600, 0), staged(400, 350)}, [2]*result.Result{staged(600, 0), staged(600, 520)})
	stored := benchtest.Ended(t, r)
	type level struct {
		Cell, Level, Runs int
		Load              int64
		Rate, Mean, CPU   float64
	}
	var got []level
	for _, l := range stored.Levels {
		got = append(got, level{l.Cell, l.Level, l.Runs, l.Load, l.Medians["RequestsPerSecond"], l.Medians["LatencyMean"], l.Medians["TargetCPU"]})
	}
	want := []level{
		{0, 0, 3, 200, 1000, 200, 20}, {0, 1, 3, 400, 2000, 400, 40}, {0, 2, 3, 600, 3000, 600, 60},
		{1, 0, 3, 200, 1000, 200, 20}, {1, 1, 3, 400, 2000, 400, 40}, {1, 2, 2, 600, 3000, 600, 60},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for metric, want := range map[v1alpha1.BenchmarkMetric]int64{
		v1alpha1.MetricBreakingPointCPU: 600, v1alpha1.MetricBreakingPointErrorRate: 600, "RequestsPerSecond": 0,
		v1alpha1.MetricBreakingPointLatencyP99: 0, // no run had a bound
	} {
		if got := stored.NoneUpTo(0, metric); got != want {
			t.Errorf("%s: none up to %d, want %d", metric, got, want)
		}
	}
	if a, b := stored.PeakLevels(0, 1); a == nil || a.Cell != 0 || b.Cell != 1 || a.Load != 600 || b.Load != 600 {
		t.Errorf("peak levels %+v and %+v", a, b)
	}

	// A stored round has all of it, but for the levels of single runs.
	data, err := stored.Encode(artifact.ConfigMapLimit)
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := benchmark.DecodeRound(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(stored, decoded, cmpopts.IgnoreUnexported(cells.Cell{}), cmpopts.IgnoreFields(benchmark.Run{}, "Levels")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for limit := len(data); ; limit -= 20 { // the levels go last
		small, err := stored.Encode(limit)
		if err != nil {
			break
		}
		data = small
	}
	if decoded, err = benchmark.DecodeRound(data); err != nil || !decoded.LevelsOmitted || len(decoded.Levels) > 0 || len(decoded.Estimates) != len(stored.Estimates) {
		t.Errorf("in the least space: %v, %d levels", err, len(decoded.Levels))
	}
	stored.Levels[3].Cell = 2
	if data, err = stored.Encode(artifact.ConfigMapLimit); err != nil {
		t.Fatal(err)
	}
	if _, err := benchmark.DecodeRound(data); err == nil || !strings.Contains(err.Error(), "there is no cell 2") {
		t.Errorf("a level of no cell: %v", err)
	}
}

// TestBreakingPoints checks the median of breaking points of which some weren't met.
func TestBreakingPoints(t *testing.T) {
	for _, c := range []struct {
		broken []int64
		want   float64
		runs   int
	}{
		{[]int64{0, 0, 0, 0, 0}, 0, 0},
		{[]int64{0, 0, 0, 500, 510}, 0, 0}, // most met none, so that the median is above all
		{[]int64{0, 0, 500, 505, 510}, 510, 3},
		{[]int64{0, 500, 505, 510, 400}, 505, 4},
		{[]int64{500, 505, 510, 400, 450}, 500, 5},
	} {
		var results [][2]*result.Result
		for _, load := range c.broken {
			results = append(results, [2]*result.Result{staged(600, load), staged(600, 100)})
		}
		stored := benchtest.Ended(t, withLevels(t, results...))
		at := slices.IndexFunc(stored.Estimates, func(e benchmark.Estimate) bool { return e.Cell == 0 && e.Metric == v1alpha1.MetricBreakingPointCPU })
		if at < 0 {
			if c.runs > 0 {
				t.Errorf("%v: no estimate, want %v", c.broken, c.want)
			}
			continue
		}
		if e := stored.Estimates[at]; e.Median != c.want || e.Runs != c.runs {
			t.Errorf("%v: %v of %d runs, want %v of %d", c.broken, e.Median, e.Runs, c.want, c.runs)
		}
	}
}

// TestLevelsFit checks that the largest table of levels fits into an artifact with the metrics of all runs.
func TestLevelsFit(t *testing.T) {
	r := benchtest.Large(t, 6)
	for cell := range r.Cells {
		for level := range benchmark.MaxLevels {
			e := benchmark.LevelEstimate{Cell: cell, Level: level, Load: int64(200 * level), Runs: 6, Medians: map[v1alpha1.BenchmarkMetric]float64{}}
			for n, m := range result.LevelMetrics {
				e.Medians[v1alpha1.BenchmarkMetric(m.Name)] = benchmark.Rounded(1000 / float64(1+cell*benchmark.MaxLevels*len(result.LevelMetrics)+level*len(result.LevelMetrics)+n))
			}
			r.Levels = append(r.Levels, e)
		}
	}
	data, err := r.Encode(artifact.ConfigMapLimit)
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := benchmark.DecodeRound(data)
	if err != nil || decoded.LevelsOmitted {
		t.Errorf("%d levels: %v", len(r.Levels), err)
	}
	t.Logf("%d levels take %d bytes with the runs; without %v", len(r.Levels), len(data), decoded.Omitted)
}
