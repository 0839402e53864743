package round_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

<<<<<<< HEAD
var start = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// carriedOut returns round 3 of a Benchmark with a spec. Its runs measure what measure sets, and take a minute.
func carriedOut(t *testing.T, spec *v1alpha1.BenchmarkSpec, measure func(run *benchmark.Run, cell *benchmark.Cell)) *benchmark.Round {
	t.Helper()
	cells, err := benchmark.Cells(spec)
	if err != nil {
		t.Fatal(err)
	}
	p := &benchmark.Planner{Benchmark: "connectors", Spec: spec, Cells: cells, Number: 3, Seed: 7}
	r := &benchmark.Round{
		Namespace: "default", Benchmark: p.Benchmark, Number: p.Number, Trigger: v1alpha1.TriggerRequested, Seed: p.Seed, Hash: "0123456789abcdef",
		Spec: *spec, Started: start, Cells: cells,
	}
	for {
		step := p.Next(r.Runs)
		r.Ended = start.Add(time.Duration(len(r.Runs)) * time.Minute)
		if step.End != nil {
			r.Evaluation, r.Capacities = step.End.Evaluation, p.Capacities(r.Runs)
			r.Verdict, r.Reason, r.Message = step.End.Verdict, step.End.Reason, step.End.Message
			return r
		}
		run := benchmark.Run{
			RunKey: step.Create.RunKey, Name: step.Create.Name, Load: step.Create.Load, Started: r.Ended, Ended: r.Ended.Add(time.Minute), Valid: true,
			Conditions: benchmark.Conditions{Kernel: "6.1.0-40-amd64", Image: "sha256:0123", CPUExclusivity: "Exclusive", Placement: "Together"},
		}
		measure(&run, &cells[run.Cell])
		r.Runs = append(r.Runs, run)
	}
}

func numbers(values ...string) []apiextensionsv1.JSON {
	all := make([]apiextensionsv1.JSON, len(values))
	for i, v := range values {
		all[i].Raw = []byte(v)
	}
	return all
}

// connectors returns a round of all that a report can say: nio2 is slower than nio, apr faster, nginx nobody
// knows; a run was invalid; capacities were searched for.
func connectors(t *testing.T) *benchmark.Round {
	factor := map[string]float64{"nio": 1, "nio2": 1.2, "apr": 0.8, "nginx": 1.06}
	spec := &v1alpha1.BenchmarkSpec{
		Axes:        []v1alpha1.Axis{{Name: "connector", Options: []v1alpha1.AxisOption{{Name: "nio"}, {Name: "nio2"}, {Name: "apr"}, {Name: "nginx"}}}},
		Repetitions: &v1alpha1.Repetitions{Min: ptr.To(int32(10))},
		Comparison: &v1alpha1.Comparison{
			Baseline: v1alpha1.Baseline{Cell: v1alpha1.CellSelector{"connector": "nio"}},
			Metrics:  []v1alpha1.ComparedMetric{{Name: "LatencyP99"}, {Name: "TargetCPUPerRequest", Role: v1alpha1.RoleReport}},
		},
		Capacity: &v1alpha1.Capacity{Path: "/load/open/requestsPerSecond", From: 500, Max: 50_000},
	}
	return carriedOut(t, spec, func(run *benchmark.Run, cell *benchmark.Cell) {
		random := rand.New(rand.NewPCG(uint64(run.Cell), uint64(run.Number)))
		noise := 1 + 0.04*random.NormFloat64()
		f := factor[cell.Values["connector"]] * noise
		run.Figures = map[v1alpha1.BenchmarkMetric]float64{
			"RequestsPerSecond": 10_000 / f, "LatencyP50": 1000 * f, "LatencyP99": 5000 * f, "ErrorRate": 0, "TargetCPUPerRequest": 80 * f,
			"BytesPerSecond": 3e6 / f, "TargetPeakMemory": 300 << 20,
		}
		if run.Name == "connectors-r3-c001-b04" {
			run.Fail("ClientLost", "The pod of client 0 was deleted.\x1b[2J <b>*Restart* it | or [not](http://x)</b>")
		}
		if run.Trial {
			run.Achieved, run.Outcome = float64(run.Load)*0.999, benchmark.OutcomePassed
			switch capacity := 12_000 / factor[cell.Values["connector"]]; {
			case run.Cell == 3 && run.Load > 4000:
				run.Outcome = benchmark.OutcomeSaturated
			case float64(run.Load) > capacity:
				run.Outcome = benchmark.OutcomeFailed
			}
		}
	})
}

=======
>>>>>>> fadd09d (Rounds and comparisons as pages and pictures: effects, runs, grid, levels, capacity, trend, percentile curves)
// golden compares a document with a golden file.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("run go test with -update if this is right (-want +got):\n%s", diff)
	}
}
