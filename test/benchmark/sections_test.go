package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/benchmark/inference"
	"github.com/assay-dev/assay/internal/benchmark/search"
)

func TestChoose(t *testing.T) {
	if all, err := choose(""); err != nil || len(all) != len(sections) {
		t.Errorf("%d sections, %v", len(all), err)
	}
	if two, err := choose("capacity, slower"); err != nil || len(two) != 2 || two[0].name != "capacity" || two[1].name != "slower" {
		t.Errorf("%v, %v", two, err)
	}
	if _, err := choose("slower,x"); err == nil {
		t.Error("x is no section")
	}
}

// TestBenchmarks checks the Benchmarks as the manager does before their first run.
func TestBenchmarks(t *testing.T) {
	for name, test := range map[string]struct {
		benchmark *v1alpha1.Benchmark
		cells     []string
	}{
		"identical": {identicalBenchmark(testStage("identical")), []string{"variant=a", "variant=b"}},
		"slower":    {slowerBenchmark(testStage("slower")), []string{"path=/random/40000/100", "path=/random/44000/100"}},
		"fit":       {fitBenchmark(testStage("fit"), "planted", 1, 1.03, 1.01), []string{"path=/random/40000/100?0", "path=/random/41200/100?1", "path=/random/40400/100?2"}},
		"reversal":  {reversalBenchmark(testStage("reversal"), "starved", starvedClient, starvedReplace), []string{"path=/fixed/2500/100", "path=/fixed/3000/100"}},
		"capacity":  {capacityBenchmark(testStage("capacity"), "capacity-1", 300), []string{"template"}},
		"killed":    {killedBenchmark(testStage("killed")), []string{"path=/fixed/10000/100", "path=/fixed/20000/100"}},
		"scheduled": {scheduledBenchmark(testStage("scheduled")), []string{"template"}},
	} {
		spec := &test.benchmark.Spec
		cells, err := cells.Of(spec)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var names []string
		for i := range cells {
			names = append(names, cells[i].Name)
			if _, err := cells[i].Spec(&spec.Template.Spec); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if spec.Capacity == nil {
				continue
			}
			if trial, err := cells[i].TrialJSON(&spec.Template.Spec, spec.Capacity, 77); err != nil || !strings.Contains(string(trial), `"requestsPerSecond":77`) {
				t.Errorf("%s: %s, %v", name, trial, err)
			}
		}
		if err := inference.CheckClaims(spec, cells); err != nil || !slices.Equal(names, test.cells) {
			t.Errorf("%s: cells %q, want %q; %v", name, names, test.cells, err)
		}
		if want := "benchmark-" + name; spec.Template.Spec.Lane != want {
			t.Errorf("%s: lane %q, want %q", name, spec.Template.Spec.Lane, want)
		}
	}
}

// TestSlower makes rounds of runs with the noise and the constant that showSlower expects, and with a slower
// server that isn't.
func TestSlower(t *testing.T) {
	const constant = 500 // microseconds
	if got, want := expectedPercent(serviceMicroseconds+constant), 100*(44_500.0/40_500-1); math.Abs(got-want) > 1e-9 {
		t.Errorf("expected %.3f%%, want %.3f%%", got, want)
	}
	random := rand.New(rand.NewPCG(1, 0))
	found, same, half := 0, 0, 0.0
	const rounds = 200
	for range rounds {
		for slower, count := range map[float64]*int{1.1: &found, 1: &same} {
			round := made(t, slowerBenchmark(testStage("slower")), func(cell int) map[v1alpha1.BenchmarkMetric]float64 {
				service := serviceMicroseconds * (1 + 0.29/40*random.NormFloat64())
				return map[v1alpha1.BenchmarkMetric]float64{meanLatency: service*[]float64{1, slower}[cell] + constant}
			})
			e := claimOf(round, meanLatency)
			if slower > 1 {
				half += (*e.HighPercent - *e.LowPercent) / 2 / rounds
			}
			if foundSlower(&e) {
				*count++
			}
			if base := baseline(round); math.Abs(base-serviceMicroseconds-constant) > 500 {
				t.Fatalf("the baseline is %.0f", base)
			}
		}
	}
	// By design 198 of 200: the confidence is 99.2%.
	if found < 192 || same > 0 {
		t.Errorf("%d and %d of %d found", found, same, rounds)
	}
	if half < 1 || half > 2 {
		t.Errorf("half the width of the interval is %.2f points, want about 1.5", half)
	}
}

func TestNeverDiffers(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 0))
	for _, slower := range []float64{0.7, 1, 1.3} {
		round := made(t, identicalBenchmark(testStage("identical")), func(cell int) map[v1alpha1.BenchmarkMetric]float64 {
			metrics := map[v1alpha1.BenchmarkMetric]float64{}
			for _, metric := range identicalMetrics {
				metrics[metric] = 100 * math.Exp(0.02*random.NormFloat64()) * []float64{1, slower}[cell]
			}
			return metrics
		})
		if got := neverDiffers(round, identicalBlocks); got != (slower == 1) {
			t.Errorf("%g times as slow: %t, %s", slower, got, concluded(round))
		}
		if neverDiffers(round, identicalBlocks+1) {
			t.Error("a block is missing")
		}
	}
}

func TestFoundCapacity(t *testing.T) {
	for name, test := range map[string]struct {
		benchmark.Capacity
		want bool
	}{
		"found":     {benchmark.Capacity{Sustained: 302, AchievedPerSecond: 301.7, Limit: v1alpha1.LimitServer}, true},
		"too low":   {benchmark.Capacity{Sustained: 284, AchievedPerSecond: 284, Limit: v1alpha1.LimitServer}, false},
		"too high":  {benchmark.Capacity{Sustained: 316, AchievedPerSecond: 316, Limit: v1alpha1.LimitServer}, false},
		"short":     {benchmark.Capacity{Sustained: 300, AchievedPerSecond: 280, Limit: v1alpha1.LimitServer}, false},
		"clients":   {benchmark.Capacity{Sustained: 300, AchievedPerSecond: 300, Limit: v1alpha1.LimitClients}, false},
		"not found": {benchmark.Capacity{}, false},
	} {
		if got := foundCapacity(&test.Capacity, 300); got != test.want {
			t.Errorf("%s: %t: %s", name, got, describeCapacity(&test.Capacity, 300))
		}
	}
}

// TestCapacityOfALimitedServer searches where a trial passes up to 1% of refusals.
func TestCapacityOfALimitedServer(t *testing.T) {
	for i := range 5 {
		known := knownCapacity(i)
		spec := capacityBenchmark(testStage("capacity"), "capacity", known).Spec.Capacity
		var trials []search.Trial
		for {
			step := search.Next(spec, trials)
			if step.Next == 0 {
				c := benchmark.Capacity{Sustained: step.Sustained, AchievedPerSecond: float64(step.Sustained), Failed: step.Failed, Limit: step.Limit, Trials: len(trials)}
				if off := percentBeyond(float64(step.Sustained), known); !foundCapacity(&c, known) || off < -2 || off > 1.1 {
					t.Error(describeCapacity(&c, known))
				}
				break
			}
			outcome := benchmark.OutcomePassed
			if float64(step.Next)*0.99 > float64(known) {
				outcome = benchmark.OutcomeFailed
			}
			trials = append(trials, search.Trial{Load: step.Next, Outcome: outcome})
		}
	}
}

func TestEncodeNoise(t *testing.T) {
	var runs []benchmark.Run
	for i := range minNoise {
		metrics := map[v1alpha1.BenchmarkMetric]float64{v1alpha1.MetricTargetPeakMemory: 1}
		for _, metric := range identicalMetrics {
			metrics[metric] = 100 + float64(i)
		}
		runs = append(runs, benchmark.Run{Name: fmt.Sprint(i), Metrics: metrics})
	}
	text, err := encodeNoise(runs, identicalMetrics)
	if err != nil {
		t.Fatal(err)
	}
	var read []map[string]float64
	if err := json.Unmarshal(text, &read); err != nil || len(read) != minNoise || len(read[7]) != len(identicalMetrics) || read[7]["LatencyP99"] != 107 {
		t.Errorf("%v: %s", err, text)
	}
	if _, err := encodeNoise(runs[1:], identicalMetrics); err == nil {
		t.Error("too few runs: no error")
	}
	delete(runs[3].Metrics, v1alpha1.MetricTargetCPUPerRequest)
	if _, err := encodeNoise(runs, identicalMetrics); err == nil {
		t.Error("a missing metric: no error")
	}
}

func TestPauses(t *testing.T) {
	at := func(seconds float64) time.Time {
		return time.Unix(100, 0).Add(time.Duration(seconds * float64(time.Second)))
	}
	runs := []sighting{
		{round: "b/1", created: at(0), firstPod: at(0.1), finished: at(5)},
		{round: "b/1", created: at(5.1), firstPod: at(5.5), finished: at(10)},
		{round: "b/1", created: at(10.1), firstPod: at(11), finished: at(15)},
		{round: "b/2", created: at(30), firstPod: at(31), finished: at(35)}, // begun by request
		{round: "b/2", created: at(36)},
	}
	seen, unseen := pauses(runs)
	if want := []time.Duration{500 * time.Millisecond, time.Second}; !slices.Equal(seen, want) || unseen != 1 {
		t.Errorf("%v and %d unseen, want %v and 1", seen, unseen, want)
	}
	if got, want := describePauses(seen, unseen), "median 750ms, longest 1s of 2, 1 not seen"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if inTurn(runs[:3], 3) || !inTurn([]sighting{runs[2], runs[3]}, 2) || inTurn([]sighting{runs[3], runs[2]}, 2) {
		t.Error("runs of two rounds, one after the other, are in turn; others aren't")
	}
}

func TestMinutes(t *testing.T) {
	at := func(text string) time.Time {
		parsed, err := time.Parse(time.TimeOnly, text)
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	for _, test := range []struct {
		from, until string
		want        int
	}{{"10:00:05", "10:00:59", 0}, {"10:00:05", "10:01:00", 1}, {"10:00:00", "10:00:30", 0}, {"10:00:59", "10:02:01", 2}} {
		if got := minutesWithin(at(test.from), at(test.until)); got != test.want {
			t.Errorf("%s to %s: %d, want %d", test.from, test.until, got, test.want)
		}
	}
	if got := nextMinute(at("10:00:00")); !got.Equal(at("10:01:00")) {
		t.Error(got)
	}
}

func TestDescribe(t *testing.T) {
	if describe(&benchmark.Claim{Effect: benchmark.Effect{Percent: ptr.To(9.9), LowPercent: ptr.To(8.0), HighPercent: ptr.To(12.0)}}) != "+9.90% (+8.00% to +12.00%)" {
		t.Error("an effect")
	}
}

func TestWidths(t *testing.T) {
	round := func(half float64) *benchmark.Round {
		r := &benchmark.Round{}
		for _, metric := range identicalMetrics[1:] {
			r.Claims = append(r.Claims, benchmark.Claim{Effect: benchmark.Effect{Metric: metric, LowPercent: ptr.To(1 - half), HighPercent: ptr.To(1 + half)}})
		}
		return r
	}
	// Half as wide, and four times as fast.
	got := testStage("widths").noteWidths([]*benchmark.Round{round(1), round(2)}, []time.Duration{time.Minute, 4 * time.Minute})
	if want := []float64{0.25, 0.25, 0.25, 0.25}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v: the first metric has no claim", got, want)
	}
}
