// Package roundtest makes rounds of Benchmarks for tests: planned, evaluated and decided as the operator does, with
// metrics that are made up. The same call always makes the same round.
package roundtest

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/benchmark/inference"
	"github.com/assay-dev/assay/internal/benchmark/plan"
	"github.com/assay-dev/assay/internal/benchmark/trend"
	"github.com/assay-dev/assay/internal/benchmark/verdict"
	"github.com/assay-dev/assay/internal/report/round"
	"github.com/assay-dev/assay/internal/result"
)

// Start is the time at which rounds begin.
var Start = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// CarriedOut returns round 3 of a Benchmark with a spec. Its runs measure what measure sets, and take a minute.
func CarriedOut(t testing.TB, spec *v1alpha1.BenchmarkSpec, measure func(run *benchmark.Run, cell *cells.Cell)) *benchmark.Round {
	t.Helper()
	cells, err := cells.Of(spec)
	if err != nil {
		t.Fatal(err)
	}
	p := &plan.Planner{Design: inference.Design{Spec: spec, Cells: cells}, Benchmark: "connectors", Number: 3, Seed: 7}
	r := &benchmark.Round{
		Namespace: "default", Benchmark: p.Benchmark, Number: p.Number, Trigger: v1alpha1.TriggerRequested, Seed: p.Seed, Hash: "0123456789abcdef",
		Spec: *spec, Started: Start, Cells: cells,
	}
	for {
		step := p.Next(r.Runs)
		r.Ended = Start.Add(time.Duration(len(r.Runs)) * time.Minute)
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

// Numbers returns JSON values, each written as it is.
func Numbers(values ...string) []apiextensionsv1.JSON {
	all := make([]apiextensionsv1.JSON, len(values))
	for i, v := range values {
		all[i].Raw = []byte(v)
	}
	return all
}

// noise returns a factor that differs from run to run by a relative standard deviation.
func noise(run *benchmark.Run, deviation float64) float64 {
	random := rand.New(rand.NewPCG(uint64(run.Cell), uint64(run.Number)))
	return 1 + deviation*random.NormFloat64()
}

// figures returns the metrics of a run that takes a factor of the usual time.
func figures(factor float64) map[v1alpha1.BenchmarkMetric]float64 {
	return map[v1alpha1.BenchmarkMetric]float64{
		"RequestsPerSecond": 10_000 / factor, "LatencyP50": 1000 * factor, "LatencyP99": 5000 * factor, "ErrorRate": 0, "TargetCPUPerRequest": 80 * factor,
		"BytesPerSecond": 3e6 / factor, "TargetPeakMemory": 300 << 20,
	}
}

// comparison compares p99 with that of the connector nio.
func comparison() *v1alpha1.Comparison {
	return &v1alpha1.Comparison{
		Baseline: v1alpha1.Baseline{Cell: v1alpha1.CellSelector{"connector": "nio"}},
		Metrics:  []v1alpha1.ComparedMetric{{Name: "LatencyP99"}, {Name: "TargetCPUPerRequest", Role: v1alpha1.RoleReport}},
	}
}

func connectorAxis(names ...string) v1alpha1.Axis {
	a := v1alpha1.Axis{Name: "connector"}
	for _, name := range names {
		a.Options = append(a.Options, v1alpha1.AxisOption{Name: name})
	}
	return a
}

// Connectors returns a round of all that a report can say: nio2 is slower than nio, apr faster, nginx nobody
// knows; a run was invalid; capacities were searched for.
func Connectors(t testing.TB) *benchmark.Round {
	factor := map[string]float64{"nio": 1, "nio2": 1.2, "apr": 0.8, "nginx": 1.06}
	spec := &v1alpha1.BenchmarkSpec{
		Axes:        []v1alpha1.Axis{connectorAxis("nio", "nio2", "apr", "nginx")},
		Repetitions: &v1alpha1.Repetitions{Min: ptr.To(int32(10))}, Comparison: comparison(),
		Capacity: &v1alpha1.Capacity{Path: "/load/open/requestsPerSecond", From: 500, Max: 50_000},
	}
	spec.Template.Spec.Load.Open = &v1alpha1.OpenLoad{RequestsPerSecond: "500", DurationSeconds: ptr.To(int32(60))}
	return CarriedOut(t, spec, func(run *benchmark.Run, cell *cells.Cell) {
		run.Metrics = figures(factor[cell.Values["connector"]] * noise(run, 0.04))
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

// Two returns a round of two connectors, the second of which takes a factor of the time of the first. Runs differ by a
// relative standard deviation.
func Two(t testing.TB, factor, deviation float64) *benchmark.Round {
	return CarriedOut(t, two(), func(run *benchmark.Run, cell *cells.Cell) {
		f := noise(run, deviation)
		if cell.Values["connector"] == "apr" {
			f *= factor
		}
		run.Metrics = figures(f)
	})
}

func two() *v1alpha1.BenchmarkSpec {
	return &v1alpha1.BenchmarkSpec{
		Axes: []v1alpha1.Axis{connectorAxis("nio", "apr")}, Repetitions: &v1alpha1.Repetitions{Min: ptr.To(int32(10))}, Comparison: comparison(),
	}
}

// Failed returns a round that failed.
func Failed(t testing.TB) *benchmark.Round { return Two(t, 1.15, 0.02) }

// InvalidRuns returns a round that ended because too many runs were invalid.
func InvalidRuns(t testing.TB) *benchmark.Round {
	return CarriedOut(t, two(), func(run *benchmark.Run, cell *cells.Cell) {
		run.Metrics = figures(noise(run, 0.02))
		if run.Number > 1 && cell.Values["connector"] == "apr" {
			run.Valid, run.Message = false, "Client 0 used 99% of its CPU limit. Increase clients.resources.cpu."
		}
	})
}

// Incomparable returns a round whose runs were made with two kernels.
func Incomparable(t testing.TB) *benchmark.Round {
	return CarriedOut(t, two(), func(run *benchmark.Run, _ *cells.Cell) {
		run.Metrics = figures(noise(run, 0.02))
		if run.Number > 2 {
			run.Conditions.Kernel = "6.1.0-41-amd64"
		}
	})
}

// Error returns a round that couldn't be carried out.
func Error(t testing.TB) *benchmark.Round {
	r := Two(t, 0.99, 0.01)
	r.Runs, r.Evaluation = r.Runs[:3], benchmark.Evaluation{}
	end := verdict.Rejected("connectors-r3-c001-b01", `exceeded quota: team, requested: requests.cpu=4. Raise the quota of the namespace.`)
	r.Verdict, r.Reason, r.Message = end.Verdict, end.Reason, end.Message
	return r
}

// Sizes returns a round of R2's first series: 7 sizes of files and 6 numbers of threads. The rate is 1,500/s for
// 1 KB and falls with the size, as a network of 11 MB/s lets it.
func Sizes(t testing.TB, exclude ...v1alpha1.CellSelector) *benchmark.Round {
	spec := &v1alpha1.BenchmarkSpec{
		Axes: []v1alpha1.Axis{
			{Name: "size", Path: "/x", Values: Numbers(`"1 KB"`, `"5 KB"`, `"10 KB"`, `"20 KB"`, `"40 KB"`, `"80 KB"`, `"160 KB"`)},
			{Name: "threads", Path: "/y", Values: Numbers("5", "10", "15", "20", "25", "30")},
		},
		Exclude: exclude, Repetitions: &v1alpha1.Repetitions{Min: ptr.To(int32(3))},
	}
	return CarriedOut(t, spec, func(run *benchmark.Run, cell *cells.Cell) {
		kilobytes, _ := strconv.ParseFloat(strings.TrimSuffix(cell.Values["size"], " KB"), 64)
		threads, _ := strconv.ParseFloat(cell.Values["threads"], 64)
		rate := min(1500-5*kilobytes-4*threads, 11_000/kilobytes) * (1 + 0.01*float64(run.Number-1))
		run.Metrics = map[v1alpha1.BenchmarkMetric]float64{"RequestsPerSecond": math.Round(rate*100) / 100, "LatencyP99": 1e6 * threads / rate}
		if kilobytes >= 40 {
			run.Warnings = []string{"NetworkLimited"}
		}
	})
}

// Scaling returns a round of two connectors with five numbers of connections, each compared with nio's: apr gets worse
// than it with more connections.
func Scaling(t testing.TB) *benchmark.Round {
	spec := &v1alpha1.BenchmarkSpec{
		Axes:        []v1alpha1.Axis{connectorAxis("nio", "apr"), {Name: "connections", Path: "/load/closed/connections", Values: Numbers("10", "50", "100", "200", "400")}},
		Repetitions: &v1alpha1.Repetitions{Min: ptr.To(int32(10))}, Comparison: comparison(),
	}
	return CarriedOut(t, spec, func(run *benchmark.Run, cell *cells.Cell) {
		connections, _ := strconv.ParseFloat(cell.Values["connections"], 64)
		f := math.Sqrt(connections/10) * noise(run, 0.03)
		if cell.Values["connector"] == "apr" {
			f *= 0.8 + connections/500
		}
		run.Metrics = figures(f)
	})
}

// Trending returns a round with a trend of 14 rounds: the level of nio2 rises with round 9, that of nio stays.
func Trending(t testing.TB) *benchmark.Round {
	r := Connectors(t)
	var history *benchmark.Trend
	for number := range int64(14) {
		random := rand.New(rand.NewPCG(1, uint64(number)))
		level := map[string]float64{"connector=nio": 4900, "connector=nio2": 5150}
		if number >= 8 {
			level["connector=nio2"] = 6100
		}
		past := *r
		past.Number, past.Ended, past.Estimates = number+1, Start.Add(time.Duration(number)*24*time.Hour), nil
		past.Verdict = v1alpha1.BenchmarkPassed
		if number == 4 {
			past.Verdict = v1alpha1.BenchmarkInconclusive
		}
		past.Runs = slices.Clone(r.Runs)
		if number >= 11 {
			for i := range past.Runs {
				past.Runs[i].Conditions.Kernel = "6.1.0-41-amd64"
			}
		}
		for i := range r.Cells[:2] {
			past.Estimates = append(past.Estimates, benchmark.Estimate{Cell: i, Metric: "LatencyP99", Median: level[r.Cells[i].Name] * (1 + 0.02*random.NormFloat64())})
		}
		if number == 13 {
			past.Estimates = r.Estimates
		}
		history = trend.Next(history, &past)
	}
	r.Number, r.Trend = 14, history
	return r
}

// Staged returns a round of a load with stages as in R5: three servers with 1, 2 and 4 CPUs and with TLS, each at
// numbers of connections up to 1,000, with the levels of its runs.
func Staged(t testing.TB) *round.Report {
	spec := &v1alpha1.BenchmarkSpec{
		Axes: []v1alpha1.Axis{
			{Name: "server", Options: []v1alpha1.AxisOption{{Name: "tomcat"}, {Name: "jetty"}, {Name: "undertow"}}},
			{Name: "target", Options: []v1alpha1.AxisOption{{Name: "1 CPU"}, {Name: "2 CPU"}, {Name: "4 CPU"}, {Name: "4 CPU TLS"}}},
		},
		Repetitions: &v1alpha1.Repetitions{Min: ptr.To(int32(6))},
	}
	spec.Template.Spec.Load.Stages = &v1alpha1.StagesLoad{}
	speed := map[string]float64{"tomcat": 1, "jetty": 1.1, "undertow": 1.25, "1 CPU": 1, "2 CPU": 1.9, "4 CPU": 3.4, "4 CPU TLS": 2.2}
	return &round.Report{Round: CarriedOut(t, spec, func(run *benchmark.Run, cell *cells.Cell) {
		faster := speed[cell.Values["server"]] * speed[cell.Values["target"]]
		run.Metrics = figures(noise(run, 0.02) / faster)
		capacity := 4000 * faster * noise(run, 0.02)
		for _, connections := range []int64{50, 100, 200, 400, 600, 800, 1000} {
			run.Levels = append(run.Levels, level(connections, capacity))
		}
	})}
}

// level returns the metrics of a level of a server that sustains a number of requests per second.
func level(connections int64, capacity float64) benchmark.RunLevel {
	wanted := float64(connections) * 10
	load := wanted / capacity
	p50 := 2000 + 3000*load
	if load > 1 {
		p50 += 100_000 * (load - 1)
	}
	known := map[string]float64{"RequestsPerSecond": min(wanted, capacity), "TargetCPU": min(100*load, 100), "LatencyP50": p50, "LatencyP99": 4 * p50}
	l := benchmark.RunLevel{Load: connections}
	for _, m := range result.LevelMetrics {
		if figure, has := known[m.Name]; has {
			l.Metrics = append(l.Metrics, float32(figure))
		} else {
			l.Metrics = append(l.Metrics, -1)
		}
	}
	return l
}

// All returns a round for each verdict and each picture, by name. Each call returns copies: making the rounds takes
// seconds.
func All(t testing.TB) map[string]*round.Report {
	t.Helper()
	made.Do(func() {
		for name, r := range map[string]*benchmark.Round{
			"passed": Two(t, 0.99, 0.01), "failed": Failed(t), "inconclusive": Two(t, 1.03, 0.05), "invalid-runs": InvalidRuns(t), "incomparable": Incomparable(t), "error": Error(t),
			"connectors": Connectors(t), "ratios": Two(t, 7.5, 0.05), "sizes": Sizes(t), "scaling": Scaling(t), "trend": Trending(t), "levels": Staged(t).Round,
		} {
			document, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			encoded[name] = document
		}
	})
	all := map[string]*round.Report{}
	for name, document := range encoded {
		r := &benchmark.Round{}
		if err := json.Unmarshal(document, r); err != nil {
			t.Fatal(err)
		}
		all[name] = &round.Report{Round: r}
	}
	return all
}

// The rounds of All, which are made once.
var (
	made    sync.Once
	encoded = map[string][]byte{}
)

// Requests returns a round that compares the latency of the request checkout, which is slower with apr, and that of all, which isn't.
func Requests(t testing.TB) *benchmark.Round {
	spec := two()
	spec.Comparison.Metrics = []v1alpha1.ComparedMetric{{Name: "LatencyP99"}, {Name: "LatencyP99", Request: "checkout"}}
	spec.Template.Spec.Load.Closed = &v1alpha1.ClosedLoad{Connections: 25, DurationSeconds: ptr.To(int32(60))}
	return CarriedOut(t, spec, func(run *benchmark.Run, _ *cells.Cell) {
		run.Metrics = figures(noise(run, 0.01))
		run.Metrics["LatencyP99:checkout"] = 8000 * float64(run.Cell+1) * noise(run, 0.01)
	})
}
