package plan_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/blocks"
	"github.com/assay-dev/assay/internal/benchmark/lifecycle"
	"github.com/assay-dev/assay/internal/benchmark/plan"
	"github.com/assay-dev/assay/test/benchtest"
)

func TestRoundOrder(t *testing.T) {
	r := benchtest.Round{Planner: benchtest.Planner(t, &v1alpha1.BenchmarkSpec{Axes: []v1alpha1.Axis{benchtest.Options("a", "x", "y", "z")}, Repetitions: benchtest.Repetitions(2)})}
	r.Measure = func(run *benchmark.Run) { run.Valid = run.Name != "bm-r1-c001-b00" && run.Name != "bm-r1-c001-b00-i1" }
	end := r.Finish(t)
	var want []string
	for block := range 2 {
		for _, cell := range blocks.Order(7, 3, block) {
			want = append(want, fmt.Sprintf("bm-r1-c00%d-b0%d", cell, block))
			if cell == 1 && block == 0 {
				want = append(want, "bm-r1-c001-b00-i1", "bm-r1-c001-b00-i2")
			}
		}
	}
	if diff := cmp.Diff(want, benchtest.RunNames(r.Runs)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if end.Blocks != 2 || end.End.Verdict != "Measured" || end.End.Message != "3 cells measured in 2 blocks. No claim was made." {
		t.Errorf("%+v", end.End)
	}
	progress := plan.Progress{Blocks: 2, FinishedRuns: 8, InvalidRuns: 2, ExpectedEnd: benchtest.Begin.Add(8 * time.Minute)}
	if got := r.Progress(r.Runs); got != progress {
		t.Errorf("progress %+v, want %+v", got, progress)
	}
}

// The manager dies at every step of a round that has everything: invalid runs, blocks until claims are decided, capacity
// searches. Whatever it finds then, in whatever order, it makes the same runs, and none twice.
func TestRoundGoesOn(t *testing.T) {
	spec := &v1alpha1.BenchmarkSpec{
		Axes:        []v1alpha1.Axis{benchtest.Options("a", "x", "y", "z")},
		Repetitions: &v1alpha1.Repetitions{Min: ptr.To(int32(6)), Max: ptr.To(int32(12)), InvalidRuns: v1alpha1.InvalidRuns{Replace: ptr.To(int32(20))}},
		Comparison: &v1alpha1.Comparison{
			Baseline: v1alpha1.Baseline{Cell: v1alpha1.CellSelector{"a": "y"}},
			Metrics:  []v1alpha1.ComparedMetric{{Name: "LatencyP99", TolerancePercent: ptr.To(int32(40))}, {Name: "RequestsPerSecond", Role: "Report"}},
		},
		Capacity: &v1alpha1.Capacity{Path: "/x", From: 10, Max: 1000},
	}
	measure := func(run *benchmark.Run) {
		random := rand.New(rand.NewPCG(uint64(run.Cell+1000*run.Number), uint64(run.Replacement)))
		run.Valid = random.Float64() > 0.1
		run.Metrics = map[v1alpha1.BenchmarkMetric]float64{"LatencyP99": 100 + 9*random.NormFloat64(), "RequestsPerSecond": 100 + random.NormFloat64()}
		if run.Trial && run.Valid {
			run.Outcome, run.Achieved = benchtest.UpTo(100*int64(1+run.Cell))(run.Load), float64(run.Load)
		}
	}
	reference := benchtest.Round{Planner: benchtest.Planner(t, spec), Measure: measure}
	want := reference.Finish(t)
	if want.Blocks <= 6 || want.Blocks >= 12 || reference.Progress(reference.Runs).InvalidRuns == 0 {
		t.Fatalf("%d blocks, %d invalid runs: the test shows little", want.Blocks, reference.Progress(reference.Runs).InvalidRuns)
	}

	killed := benchtest.Round{Measure: measure}
	random := rand.New(rand.NewPCG(1, 1))
	recorded := func() []benchmark.Run { // as a new manager finds them
		data, err := json.Marshal(killed.Runs)
		if err != nil {
			t.Fatal(err)
		}
		var runs []benchmark.Run
		if err := json.Unmarshal(data, &runs); err != nil {
			t.Fatal(err)
		}
		random.Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
		return runs
	}
	for {
		killed.Planner = benchtest.Planner(t, spec)
		step := killed.Next(recorded())
		if step.End != nil {
			if diff := cmp.Diff(want, step); diff != "" {
				t.Errorf("another end: (-want +got)\n%s", diff)
			}
			break
		}
		if again := benchtest.Planner(t, spec).Next(recorded()); !cmp.Equal(step, again) {
			t.Fatalf("after %d runs: %s", len(killed.Runs), cmp.Diff(step, again))
		}
		killed.Create(step)
		// Killed again while the run is under way.
		last := &killed.Runs[len(killed.Runs)-1]
		complete := *last
		*last = benchmark.Run{RunKey: last.RunKey, Name: last.Name, Started: last.Started, Load: last.Load}
		if step := benchtest.Planner(t, spec).Next(recorded()); step.Waiting == nil || step.Waiting.Name != complete.Name || step.Create != nil || step.End != nil {
			t.Fatalf("while %s is under way: %+v", complete.Name, step)
		}
		*last = complete
	}
	if diff := cmp.Diff(benchtest.RunNames(reference.Runs), benchtest.RunNames(killed.Runs)); diff != "" {
		t.Errorf("other runs: (-want +got)\n%s", diff)
	}
	unique := slices.Compact(slices.Sorted(slices.Values(benchtest.RunNames(killed.Runs))))
	if len(unique) != len(killed.Runs) {
		t.Errorf("%d of %d runs are there twice", len(killed.Runs)-len(unique), len(killed.Runs))
	}
}

func TestRoundInvalidRuns(t *testing.T) {
	spec := &v1alpha1.BenchmarkSpec{Axes: []v1alpha1.Axis{benchtest.Options("a", "x", "y")}, Repetitions: benchtest.Repetitions(4)}
	spec.Repetitions.InvalidRuns.Replace = ptr.To(int32(2))
	r := benchtest.Round{Planner: benchtest.Planner(t, spec)}
	invalid := 0
	r.Measure = func(run *benchmark.Run) {
		if run.Number >= 1 {
			run.Fail("ClientLost", "the pod was deleted.")
			invalid++
		}
	}
	end := r.Finish(t)
	first := blocks.Order(7, 2, 1)[0]
	name := fmt.Sprintf("bm-r1-c00%d-b01", first)
	want := fmt.Sprintf("3 of 5 runs had no valid result, and repetitions.invalidRuns.replace is 2. "+
		"%s: ClientLost: the pod was deleted. %s-i1: ClientLost: the pod was deleted. %s-i2: ClientLost: the pod was deleted.", name, name, name)
	if invalid != 3 || end.Blocks != 1 || end.End.Verdict != "Inconclusive" || end.End.Reason != benchmark.ReasonInvalidRuns {
		t.Errorf("%d invalid runs, %d blocks: %+v", invalid, end.Blocks, end.End)
	}
	if diff := cmp.Diff(want, end.End.Message); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A round ends at the first whole block at which all claims are decided, from min to max. Stored runs are compared at max only.
func TestRoundStopsWhenDecided(t *testing.T) {
	stored := &v1alpha1.Comparison{Baseline: v1alpha1.Baseline{LastPassed: &v1alpha1.LastPassed{}}, Metrics: []v1alpha1.ComparedMetric{{Name: "LatencyP99"}}}
	claim := func(is v1alpha1.ClaimRelation) v1alpha1.Claim {
		return v1alpha1.Claim{Name: "a", Metric: "LatencyP99", Cell: v1alpha1.CellSelector{"a": "y"}, Than: v1alpha1.CellSelector{"a": "x"}, Is: is}
	}
	for name, c := range map[string]struct {
		factor     float64 // of the second cell
		noise      float64
		claims     []v1alpha1.Claim
		comparison *v1alpha1.Comparison
		blocks     int
		message    string
	}{
		"confirmed":                {0.5, 0.01, []v1alpha1.Claim{claim("Lower")}, nil, 10, "1 claim confirmed after 10 blocks of at most 30."},
		"contradicted":             {2, 0.01, nil, benchtest.Compare("x", "LatencyP99"), 10, ""},
		"the error rate is shared": {0.5, 0.01, []v1alpha1.Claim{claim("Lower")}, benchtest.Compare("x", "LatencyP99"), 11, "2 claims confirmed after 11 blocks of at most 30."},
		"one is undecided":         {1, 0.3, []v1alpha1.Claim{claim("Same")}, nil, 30, ""},
		"stored":                   {1, 0, nil, stored, 30, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := benchtest.Round{Planner: benchtest.Planner(t, &v1alpha1.BenchmarkSpec{
				Axes: []v1alpha1.Axis{benchtest.Options("a", "x", "y")}, Claims: c.claims, Comparison: c.comparison,
				Repetitions: &v1alpha1.Repetitions{Min: ptr.To(int32(6)), Max: ptr.To(int32(30))},
			})}
			random := rand.New(rand.NewPCG(3, 0))
			r.Measure = func(run *benchmark.Run) {
				run.Metrics = map[v1alpha1.BenchmarkMetric]float64{"LatencyP99": 200 * math.Exp(c.noise*random.NormFloat64()) * []float64{1, c.factor}[run.Cell]}
			}
			end := r.Finish(t)
			if end.Blocks != c.blocks || len(r.Runs) != 2*c.blocks {
				t.Errorf("%d blocks, %d runs: %s", end.Blocks, len(r.Runs), end.End.Message)
			}
			if c.message != "" && end.End.Message != c.message {
				t.Errorf("message %q", end.End.Message)
			}
		})
	}
}

func TestRoundWaits(t *testing.T) {
	spec := &v1alpha1.BenchmarkSpec{Repetitions: benchtest.Repetitions(2), Suspend: ptr.To(true)}
	spec.Repetitions.PauseSeconds = ptr.To(int32(30))
	p := benchtest.Planner(t, spec)
	step := p.Next(nil)
	if step.Create == nil || step.Create.Name != "bm-r1-c000-b00" || !step.Suspended || !step.NotBefore.IsZero() {
		t.Errorf("at the beginning: %+v", step)
	}
	spec.Suspend = nil
	runs := []benchmark.Run{
		{RunKey: benchmark.RunKey{Round: 1}, Name: "bm-r1-c000-b00", Started: benchtest.Begin, Ended: benchtest.Begin.Add(time.Minute), Valid: true},
		{RunKey: benchmark.RunKey{Round: 2}, Name: "of another round"},
		{RunKey: benchmark.RunKey{Round: 1, Cell: 1}, Name: "of another cell"},
	}
	step = p.Next(runs)
	if step.Create == nil || step.Create.Name != "bm-r1-c000-b01" || step.Suspended || !step.NotBefore.Equal(benchtest.Begin.Add(90*time.Second)) || step.Blocks != 1 {
		t.Errorf("after a run: %+v", step)
	}
}

func TestProgress(t *testing.T) {
	spec := &v1alpha1.BenchmarkSpec{
		Axes:        []v1alpha1.Axis{benchtest.Options("a", "x", "y")},
		Repetitions: &v1alpha1.Repetitions{Min: ptr.To(int32(6)), Max: ptr.To(int32(10))},
	}
	r := benchtest.Round{Planner: benchtest.Planner(t, spec)}
	if got := r.Progress(nil); got != (plan.Progress{}) {
		t.Errorf("at the beginning: %+v", got)
	}
	for range 3 {
		r.Create(r.Next(r.Runs))
	}
	// 17 runs of a minute are left.
	want := plan.Progress{Blocks: 1, FinishedRuns: 3, ExpectedEnd: benchtest.Begin.Add(20 * time.Minute)}
	if got := r.Progress(r.Runs); got != want {
		t.Errorf("after 3 runs: %+v, want %+v", got, want)
	}
	// An invalid run takes time and brings nothing.
	r.Measure = func(run *benchmark.Run) { run.Valid = false }
	r.Create(r.Next(r.Runs))
	want = plan.Progress{Blocks: 1, FinishedRuns: 4, InvalidRuns: 1, ExpectedEnd: benchtest.Begin.Add(4*time.Minute + 17*80*time.Second)}
	if got := r.Progress(r.Runs); got != want {
		t.Errorf("after an invalid run: %+v, want %+v", got, want)
	}
	// A capacity search that hasn't begun is typical.
	spec.Capacity = &v1alpha1.Capacity{Path: "/x", From: 10, Max: 1000}
	want.ExpectedEnd = want.ExpectedEnd.Add(2 * 16 * 80 * time.Second)
	if got := r.Progress(r.Runs); got != want {
		t.Errorf("with capacity: %+v, want %+v", got, want)
	}
}

func TestRoundCapacity(t *testing.T) {
	spec := &v1alpha1.BenchmarkSpec{Axes: []v1alpha1.Axis{benchtest.Options("a", "x", "y")}, Capacity: &v1alpha1.Capacity{Path: "/x", From: 100, Max: 5000}}
	r := benchtest.Round{Planner: benchtest.Planner(t, spec)}
	limits := map[int]func(int64) benchmark.Outcome{0: benchtest.UpTo(1000), 1: benchtest.UpTo(300)}
	r.Measure = func(run *benchmark.Run) {
		if run.Name == "bm-r1-c001-t01" {
			run.Fail("ClientLost", "the pod was deleted.")
			return
		}
		run.Outcome, run.Achieved = limits[run.Cell](run.Load), float64(run.Load)
		run.Metrics = map[v1alpha1.BenchmarkMetric]float64{"BytesPerSecond": 10 * float64(run.Load), "TargetCPUPerRequest": 50, "TargetPeakMemory": 3000}
		run.Connections = 10
	}
	end := r.Finish(t)
	if end.End.Verdict != "Measured" || end.End.Message != "The capacity of 2 cells was found." {
		t.Errorf("%+v", end.End)
	}
	got := r.Capacities(r.Runs)
	want := []benchmark.Capacity{
		{Cell: 0, Sustained: 993, Failed: 1037, Limit: "Server", Trials: 13, AchievedPerSecond: 993, RequestsPerDay: 85795200, BytesPerSecond: 9930, CPUSecondsPerMillionRequests: 50, BytesPerConnection: 300},
		{Cell: 1, Sustained: 295, Failed: 308, Limit: "Server", Trials: 12, AchievedPerSecond: 295, RequestsPerDay: 25488000, BytesPerSecond: 2950, CPUSecondsPerMillionRequests: 50, BytesPerConnection: 300},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	names := benchtest.RunNames(r.Runs)
	if at := slices.Index(names, "bm-r1-c001-t01"); at < 0 || names[at+1] != "bm-r1-c001-t01-i1" || r.Runs[at].Load != r.Runs[at+1].Load {
		t.Errorf("the invalid trial wasn't replaced: %v", names)
	}
	statuses := lifecycle.Capacities(r.Cells, got)
	wantStatus := v1alpha1.CapacityStatus{Cell: "a=x", Sustained: ptr.To(int64(993)), Failed: ptr.To(int64(1037)), Achieved: "993.00", Limit: "Server", Trials: ptr.To(int32(13))}
	if diff := cmp.Diff(wantStatus, statuses[0]); diff != "" || len(statuses) != 2 {
		t.Errorf("(-want +got)\n%s", diff)
	}

	// A capacity that the clients hid is not one of the server.
	limits[1] = func(load int64) benchmark.Outcome {
		if load > 300 {
			return benchmark.OutcomeSaturated
		}
		return benchmark.OutcomePassed
	}
	r.Runs = nil
	end = r.Finish(t)
	if end.End.Verdict != "Inconclusive" || !strings.HasPrefix(end.End.Message, "The capacity of 1 of 2 cells was not found. a=y: the clients were saturated at ") {
		t.Errorf("%+v", end.End)
	}
}

// BenchmarkNext plans a round, as the manager does whenever a run of a round changes.
func BenchmarkNext(b *testing.B) {
	spec := &v1alpha1.BenchmarkSpec{
		Axes:        []v1alpha1.Axis{benchtest.Values("n", "/x", benchtest.Numbers(1, 64)...), benchtest.Options("a", "w", "x", "y", "z")},
		Repetitions: benchtest.Repetitions(20),
		Comparison:  benchtest.Compare("x", "LatencyP99", "RequestsPerSecond"),
	}
	r := benchtest.Round{Planner: benchtest.Planner(b, spec)}
	random := rand.New(rand.NewPCG(1, 0))
	for block := range 20 {
		for cell := range r.Cells {
			run := benchmark.Run{RunKey: benchmark.RunKey{Round: 1, Cell: cell, Number: block}, Started: benchtest.Begin, Ended: benchtest.Begin.Add(time.Minute), Valid: true, Metrics: map[v1alpha1.BenchmarkMetric]float64{}}
			for _, m := range benchmark.MetricNames {
				run.Metrics[m] = 100 + random.Float64()
			}
			run.Name = run.RunKey.Name("bm")
			r.Runs = append(r.Runs, run)
		}
	}
	for name, runs := range map[string][]benchmark.Run{"last run of 5120": r.Runs[:len(r.Runs)-1], "end": r.Runs} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if step := r.Next(runs); (step.End != nil) != (len(runs) == len(r.Runs)) {
					b.Fatalf("%+v", step)
				}
			}
		})
	}
}
