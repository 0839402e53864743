package plugin_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/benchmark/inference"
	"github.com/assay-dev/assay/internal/benchmark/lifecycle"
	"github.com/assay-dev/assay/internal/benchmark/plan"
	"github.com/assay-dev/assay/internal/plugin/exit"
	"github.com/assay-dev/assay/test/wrapper"
)

// roundOf returns the next round of a Benchmark as it is stored: the latency of its second cell is that of the
// first times factor.
func roundOf(t *testing.T, b *v1alpha1.Benchmark, factor float64) *benchmark.Round {
	t.Helper()
	b.Spec.Axes = []v1alpha1.Axis{{Name: "connector", Options: []v1alpha1.AxisOption{{Name: "nio"}, {Name: "apr"}}}}
	b.Spec.Comparison.Baseline = v1alpha1.Baseline{Cell: v1alpha1.CellSelector{"connector": "nio"}}
	cells, err := cells.Of(&b.Spec)
	if err != nil {
		t.Fatal(err)
	}
	number := int64(1)
	if b.Status.Round != nil {
		number = b.Status.Round.Number + 1
	}
	p := &plan.Planner{Design: inference.Design{Spec: &b.Spec, Cells: cells}, Benchmark: b.Name, Number: number}
	r := &benchmark.Round{
		Namespace: "default", Benchmark: b.Name, Number: number, Trigger: v1alpha1.TriggerRequested, Spec: b.Spec, Cells: cells,
		Started: roundStart, Ended: roundStart.Add(time.Hour),
	}
	for {
		step := p.Next(r.Runs)
		switch {
		case step.End != nil:
			r.Evaluation, r.Verdict, r.Reason, r.Message = step.End.Evaluation, step.End.Verdict, step.End.Reason, step.End.Message
			return r
		case step.Waiting != nil: // with Alternating, for a whole block
			for i := range r.Runs {
				r.Runs[i].Ended = roundStart.Add(time.Minute)
			}
			continue
		}
		run := benchmark.Run{RunKey: step.Create.RunKey, Name: step.Create.Name, Started: roundStart, Valid: true}
		random := rand.New(rand.NewPCG(uint64(run.Cell), uint64(run.Number)))
		latency := 1000 * (1 + 0.01*random.NormFloat64())
		if run.Cell == 1 {
			latency *= factor
		}
		run.Metrics = map[v1alpha1.BenchmarkMetric]float64{"LatencyP99": latency, "RequestsPerSecond": 1e7 / latency}
		r.Runs = append(r.Runs, run)
	}
}

// conclude carries out a round of a Benchmark, and returns the ConfigMap with its artifact.
func conclude(t *testing.T, b *v1alpha1.Benchmark, factor float64) *corev1.ConfigMap {
	t.Helper()
	r := roundOf(t, b, factor)
	data, err := r.Encode(artifact.ConfigMapLimit)
	if err != nil {
		t.Fatal(err)
	}
	active(b)
	config, reference := wrapper.Artifact("default", fmt.Sprintf("%s-r%d-round", b.Name, r.Number), benchmark.ArtifactKey, data)
	b.Status.Round.Claims, b.Status.Round.Effects = lifecycle.Claims(&r.Evaluation), lifecycle.Effects(r.Cells, r.Effects)
	b.Status.Round.Artifact = reference
	complete(b, r.Verdict, r.Reason, r.Message)
	return config
}

func TestReportOfABenchmark(t *testing.T) {
	server := startAPIServer(t)
	b := connectors()
	server.SetBenchmark(b)
	start(t, server, "report", "benchmark/connectors").wantEnd(t, exit.Failed, `Benchmark "connectors" has no round yet: the operator hasn't processed it`)
	server.SetBenchmark(active(b.DeepCopy()))
	start(t, server, "report", "benchmark/connectors").wantEnd(t, exit.Failed, "round 1 of Benchmark", "is still under way", "kubectl assay watch benchmark/connectors")

	first := conclude(t, b, 1.2)
	server.SetBenchmark(b)
	server.SetConfigMap(first)
	report := []string{"report", "benchmark/connectors"}
	start(t, server, report...).wantEnd(t, exit.Success, "Benchmark default/connectors, round 1: FAILED\n", "  Contradicted: p99 of apr is at most 5% higher than that of nio. It is +21.0% (", "Cells\n-----\n")
	start(t, server, append(report, "-o", "markdown")...).wantEnd(t, exit.Success, "## Benchmark default/connectors, round 1: FAILED\n", "| not-worse/LatencyP99/connector=apr | p99 of connector=apr is at most 5% higher than that of connector=nio | +21.0% |")
	start(t, server, append(report, "-o", "json")...).wantEnd(t, exit.Success, `"schemaVersion": 1,`, `"verdict": "Failed"`, `"name": "connectors-r1-c001-b09"`)
	start(t, server, append(report, "-o", "yaml")...).wantEnd(t, exit.Unknown, `unknown output format "yaml": use one of benchstat, csv, html, json, junit, markdown, svg=capacity`)
	start(t, server, append(report, "-o", "html")...).wantEnd(t, exit.Success, "<!DOCTYPE html>", "p99 of apr is at most 5% higher than that of nio")
	start(t, server, append(report, "-o", "svg=claims")...).wantEnd(t, exit.Success, "<svg ", "+21.0%")
	start(t, server, append(report, "-o", "svg=capacity")...).wantEnd(t, exit.Failed, "has nothing for the picture \"capacity\"")

	second := conclude(t, b, 0.8)
	b.Annotations = map[string]string{v1alpha1.AnnotationNote: "for release 1.5"}
	server.SetBenchmark(b)
	start(t, server, append(report, "--round", "1")...).wantEnd(t, exit.Success, "round 1: FAILED\n", "Note: for release 1.5\n", "Note: The last round is 2.\n")
	start(t, server, append(report, "--round", "7")...).wantEnd(t, exit.Unknown, "round 7 of Benchmark \"connectors\" not found; its history has these rounds: 2, 1")
	start(t, server, "report", "connectors", "--round", "1").wantEnd(t, exit.Unknown, "--round needs benchmark/NAME")

	// Without its artifact, the last round is reported from the status, an earlier one not at all.
	start(t, server, report...).wantEnd(t, exit.Success, "round 2: PASSED\n", "  Confirmed: p99 of apr is at most 5% higher than that of nio. It is -19.3% (-20.6% to -18.5%).",
		"The metrics of cells and runs are missing.", `ConfigMap "connectors-r2-round" with the result not found`)
	server.SetConfigMap(second)
	start(t, server, append(report, "--round", "1")...).wantEnd(t, exit.Unknown, `ConfigMap "connectors-r1-round" with the result not found; the summary is still in "kubectl get benchmark connectors`)
	next := active(b.DeepCopy())
	server.SetBenchmark(next)
	start(t, server, report...).wantEnd(t, exit.Success, "round 2: PASSED\n", "Note: Round 3 is under way.\n")

	// What is no artifact of the round is not reported as one.
	b.Status.Round.Artifact.ConfigMap.Name = "another"
	server.SetBenchmark(b)
	first.Name = "another"
	server.SetConfigMap(first)
	b.Status.Round.Artifact.SHA256 = artifact.Identify(first.BinaryData[benchmark.ArtifactKey]).SHA256
	server.SetBenchmark(b)
	start(t, server, report...).wantEnd(t, exit.Success, `ConfigMap "another" holds round 1 of Benchmark default/connectors, not round 2`, "metrics of cells and runs are missing")
	second.Name = "another"
	b.Status.Round.Artifact.SHA256 = "0"
	server.SetBenchmark(b)
	server.SetConfigMap(second)
	start(t, server, report...).wantEnd(t, exit.Success, `ConfigMap "another" holds another result than that of the round: its SHA-256`)
}

// TestReportFromTheStatus has what a status can have and an artifact can't.
func TestReportFromTheStatus(t *testing.T) {
	server := startAPIServer(t)
	b := active(connectors())
	round := b.Status.Round
	round.Effects = []v1alpha1.EffectStatus{{Cell: "connector=gone", Metric: "LatencyP99", Percent: "3", LowPercent: "-2", HighPercent: "8"}}
	round.Capacities = []v1alpha1.CapacityStatus{{Cell: "connector=gone", Sustained: ptr.To(int64(4000)), Achieved: "3996.50", Limit: v1alpha1.LimitClients, Trials: ptr.To(int32(9))}}
	server.SetBenchmark(complete(b, v1alpha1.BenchmarkInconclusive, benchmark.ReasonCompleted, "1 of 1."))
	start(t, server, "report", "benchmark/connectors").wantEnd(t, exit.Success, "round 1: INCONCLUSIVE\n1 of 1.\n",
		"+3%",
		"connector=gone      4,000              -  the clients: the server's is unknown      3996.5")
	lifecycle.Reject(b, "other", "spec.axes: 300 cells", roundStart)
	server.SetBenchmark(b)
	start(t, server, "report", "benchmark/connectors").wantEnd(t, exit.Success, "round 1: INCONCLUSIVE", "Note: No round has begun for the spec as it is now. spec.axes: 300 cells\n")
}

func TestTableOfABenchmark(t *testing.T) {
	server := startAPIServer(t)
	b := connectors()
	server.SetBenchmark(active(b.DeepCopy()))
	table := []string{"table", "benchmark/connectors"}
	start(t, server, table...).wantEnd(t, exit.Failed, "round 1 of Benchmark", "is still under way")
	config := conclude(t, b, 1.2)
	server.SetBenchmark(b)
	start(t, server, table...).wantEnd(t, exit.Unknown, `ConfigMap "connectors-r1-round" with the result not found`)
	server.SetConfigMap(config)
	start(t, server, append(table, "--pivot", "connector", "--metric", "LatencyP99", "-o", "markdown")...).wantEnd(t, exit.Success, "| connector | LatencyP99 |", "| nio | 0.996 |")
	start(t, server, append(table, "--percent-of", "connector=nio", "--metric", "LatencyP99", "--round", "1", "-o", "csv")...).wantEnd(t, exit.Success, "\napr,21.0\n")
	start(t, server, append(table, "--metric", "LatencyP1")...).wantEnd(t, exit.Unknown, `the round has no metric "LatencyP1": use one of LatencyP99, RequestsPerSecond`)
	start(t, server, append(table, "--pivot", "size,connector")...).wantEnd(t, exit.Unknown, `unknown axis "size": the Benchmark has connector`)
	start(t, server, append(table, "-o", "yaml")...).wantEnd(t, exit.Unknown, `unknown output format "yaml"`)
	start(t, server, append(table, "--round", "-1")...).wantEnd(t, exit.Unknown, "must be a number from 1 on")
	start(t, server, append(table, "tomcat")...).wantEnd(t, exit.Unknown, `"benchmark/connectors" must be the only name`)
	start(t, server, "table", "tomcat", "--metric", "LatencyP99").wantEnd(t, exit.Unknown, "need benchmark/NAME")
}
