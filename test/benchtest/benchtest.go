// Package benchtest makes rounds of Benchmarks for tests: their specs, the runs that they create, and their artifacts.
package benchtest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/benchmark/inference"
	"github.com/assay-dev/assay/internal/benchmark/lifecycle"
	"github.com/assay-dev/assay/internal/benchmark/plan"
)

// Ended returns a round as it is stored.
func Ended(t testing.TB, r *Round) *benchmark.Round {
	t.Helper()
	end := r.Finish(t).End
	hash, err := lifecycle.Hash(r.Spec)
	if err != nil {
		t.Fatal(err)
	}
	return &benchmark.Round{
		SchemaVersion: benchmark.SchemaVersion, Namespace: "default", Benchmark: r.Benchmark, Number: r.Number, Trigger: v1alpha1.TriggerCreated,
		Seed: r.Seed, Hash: hash, Spec: *r.Spec, Started: Begin, Ended: r.Progress(r.Runs).ExpectedEnd, Cells: r.Cells, Runs: r.Runs,
		Evaluation: end.Evaluation, Capacities: r.Capacities(r.Runs), Verdict: end.Verdict, Reason: end.Reason, Message: end.Message,
	}
}

// RequestMetrics are the metrics of a load without pages.
var RequestMetrics = slices.DeleteFunc(slices.Clone(benchmark.MetricNames), func(m v1alpha1.BenchmarkMetric) bool {
	return strings.HasPrefix(string(m), "Page") || m == v1alpha1.MetricRoundsPer10Seconds
})

// Large returns a round of 256 cells whose runs have all metrics of requests and no two the same.
func Large(t testing.TB, blocks int) *benchmark.Round {
	spec := &v1alpha1.BenchmarkSpec{
		Axes:        []v1alpha1.Axis{Values("connections", "/x", Numbers(1, 64)...), Options("connector", "nio", "nio2", "apr", "nginx")},
		Repetitions: &v1alpha1.Repetitions{Min: ptr.To(int32(1)), Max: ptr.To(int32(100))},
		Comparison:  &v1alpha1.Comparison{Metrics: []v1alpha1.ComparedMetric{{Name: "LatencyP99"}, {Name: "ErrorRate", Role: v1alpha1.RoleReport}}},
	}
	p := Planner(t, spec)
	r := &benchmark.Round{Spec: *spec, Cells: p.Cells}
	random := rand.New(rand.NewPCG(1, 0))
	for block := range blocks {
		for cell := range p.Cells {
			run := benchmark.Run{
				RunKey: benchmark.RunKey{Round: 1, Cell: cell, Number: block}, Started: Begin.Add(time.Duration(len(r.Runs)) * time.Minute), Valid: true,
				Metrics: map[v1alpha1.BenchmarkMetric]float64{}, Conditions: benchmark.Conditions{NodeType: "c5.large", Kernel: "6.1.0-40-amd64", CPUExclusivity: "Exclusive", Image: "tomcat@sha256:" + strings.Repeat("0123456789abcdef", 4)},
			}
			run.Ended = run.Started.Add(time.Duration(50+random.IntN(10)) * time.Second)
			run.Name = run.RunKey.Name("connectors")
			for _, m := range RequestMetrics {
				run.Metrics[m] = benchmark.Rounded(1000 * random.Float64())
			}
			r.Runs = append(r.Runs, run)
		}
	}
	return r
}

// UpTo returns the outcomes of trials of a server that sustains loads up to a capacity.
func UpTo(capacity int64) func(int64) benchmark.Outcome {
	return func(load int64) benchmark.Outcome {
		if load <= capacity {
			return benchmark.OutcomePassed
		}
		return benchmark.OutcomeFailed
	}
}

// Option returns an option of an axis that removes fields, and sets others: path and JSON in turn.
func Option(name string, remove []string, set ...string) v1alpha1.AxisOption {
	o := v1alpha1.AxisOption{Name: name, Remove: remove}
	for i := 0; i < len(set); i += 2 {
		o.Set = append(o.Set, v1alpha1.FieldValue{Path: set[i], Value: &apiextensionsv1.JSON{Raw: []byte(set[i+1])}})
	}
	return o
}

// TomcatTemplate is the JSON of a small spec.template.
const TomcatTemplate = `{
	"target": {"image": "tomcat:9.0", "server": {"tomcat": {"connector": {"protocol": "NIO"}}}, "resources": {"cpu": "1"}},
	"clients": {"replicas": 2},
	"load": {"requests": [{"path": "/a"}, {"path": "/b"}], "closed": {"connections": 25, "requestCount": 1000}}
}`

// Template reads a spec.template from JSON.
func Template(t *testing.T, from string) *v1alpha1.BenchmarkRunSpec {
	t.Helper()
	var spec v1alpha1.BenchmarkRunSpec
	if err := json.Unmarshal([]byte(from), &spec); err != nil {
		t.Fatal(err)
	}
	return &spec
}

// Values returns an axis of plain values.
func Values(name, path string, values ...string) v1alpha1.Axis {
	a := v1alpha1.Axis{Name: name, Path: path}
	for _, v := range values {
		a.Values = append(a.Values, apiextensionsv1.JSON{Raw: []byte(v)})
	}
	return a
}

// Options returns an axis of options that change nothing.
func Options(name string, names ...string) v1alpha1.Axis {
	a := v1alpha1.Axis{Name: name}
	for _, n := range names {
		a.Options = append(a.Options, v1alpha1.AxisOption{Name: n})
	}
	return a
}

// Numbers returns the numbers from one to another as JSON.
func Numbers(from, to int) (numbers []string) {
	for i := from; i <= to; i++ {
		numbers = append(numbers, fmt.Sprint(i))
	}
	return numbers
}

// Begin holds the time at which a Round begins.
var Begin = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// Round carries out a round: a run takes a minute, and the next one is created when it has ended.
type Round struct {
	*plan.Planner
	Runs []benchmark.Run
	// Measure sets what a run measured. Without it, all runs are valid and have no metrics.
	Measure func(*benchmark.Run)
}

// Planner returns the planner of round 1 of the Benchmark bm.
func Planner(t testing.TB, spec *v1alpha1.BenchmarkSpec) *plan.Planner {
	t.Helper()
	cells, err := cells.Of(spec)
	if err != nil {
		t.Fatal(err)
	}
	return &plan.Planner{Design: inference.Design{Spec: spec, Cells: cells}, Benchmark: "bm", Number: 1, Seed: 7}
}

// Create creates the run of a step, and ends it.
func (r *Round) Create(step plan.Step) {
	started := Begin.Add(time.Duration(len(r.Runs)) * time.Minute)
	run := benchmark.Run{RunKey: step.Create.RunKey, Name: step.Create.Name, Load: step.Create.Load, Started: started, Ended: started.Add(time.Minute), Valid: true}
	if r.Measure != nil {
		r.Measure(&run)
	}
	r.Runs = append(r.Runs, run)
}

// Finish creates runs until the round has ended.
func (r *Round) Finish(t testing.TB) plan.Step {
	t.Helper()
	for range 20_000 {
		step := r.Next(r.Runs)
		if step.End != nil {
			return step
		}
		if step.Create == nil {
			t.Fatalf("after %d runs: %+v", len(r.Runs), step)
		}
		r.Create(step)
	}
	t.Fatal("the round doesn't end")
	return plan.Step{}
}

// RunNames returns the names of runs.
func RunNames(runs []benchmark.Run) (names []string) {
	for _, r := range runs {
		names = append(names, r.Name)
	}
	return names
}

// Repetitions returns those of at least so many blocks.
func Repetitions(least int32) *v1alpha1.Repetitions {
	return &v1alpha1.Repetitions{Min: &least}
}

// Compare returns a comparison of the gate metrics with a value of the axis a.
func Compare(baseline string, metrics ...v1alpha1.BenchmarkMetric) *v1alpha1.Comparison {
	c := &v1alpha1.Comparison{Baseline: v1alpha1.Baseline{Cell: v1alpha1.CellSelector{"a": baseline}}}
	for _, m := range metrics {
		c.Metrics = append(c.Metrics, v1alpha1.ComparedMetric{Name: m})
	}
	return c
}

// Example has the metrics of the example in docs/statistics.md: the same server twice.
var Example = map[int][]float64{
	0: {15041, 15233, 15838, 14639, 14987, 14635, 13350, 14257, 13214, 13745},
	1: {14502, 15822, 15084, 15344, 11782, 15181, 12276, 13358, 13567, 13665},
}

// ExampleRound returns a round of that example, with a tolerance in percent.
func ExampleRound(t *testing.T, tolerance int32) *Round {
	comparison := &v1alpha1.Comparison{
		Baseline: v1alpha1.Baseline{Cell: v1alpha1.CellSelector{"a": "x"}},
		Metrics: []v1alpha1.ComparedMetric{
			{Name: "RequestsPerSecond", TolerancePercent: &tolerance},
			{Name: "LatencyP99", Role: v1alpha1.RoleReport},
		},
	}
	r := &Round{Planner: Planner(t, &v1alpha1.BenchmarkSpec{Axes: []v1alpha1.Axis{Options("a", "x", "y")}, Repetitions: Repetitions(10), Comparison: comparison})}
	r.Measure = func(run *benchmark.Run) {
		rate := Example[run.Cell][run.Number]
		run.Metrics = map[v1alpha1.BenchmarkMetric]float64{"RequestsPerSecond": rate, "LatencyP99": 1e9 / rate}
	}
	return r
}
