package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/test/wrapper"
)

const (
	tomcatImage     = "localhost/assay-test/tomcat:9.0"
	identicalBlocks = 10
	identicalLimit  = 10 * time.Minute
)

// identicalMetrics are the usual ones of gates: throughput, latencies and cost.
var identicalMetrics = []v1alpha1.BenchmarkMetric{
	v1alpha1.BenchmarkMetric(v1alpha1.MetricRequestsPerSecond),
	v1alpha1.BenchmarkMetric(v1alpha1.MetricLatencyP50),
	v1alpha1.BenchmarkMetric(v1alpha1.MetricLatencyP99),
	v1alpha1.BenchmarkMetric(v1alpha1.MetricLatencyP999),
	v1alpha1.MetricTargetCPUPerRequest,
}

// showIdentical compares a Tomcat with itself.
func showIdentical(ctx context.Context, s *stage) error {
	b := identicalBenchmark(s)
	var all []benchmark.Run
	var failed error
	for number := range int64(s.rounds) {
		round, err := s.round(ctx, b, number+1, identicalLimit)
		if err != nil {
			failed = err
			break
		}
		all = append(all, valid(round.Runs)...)
		s.noteClaims(round)
		s.check(fmt.Sprintf("round %d of %d", number+1, s.rounds), concluded(round),
			fmt.Sprintf("%d blocks, never contradicted", identicalBlocks), neverDiffers(round, identicalBlocks))
		if number == 0 && len(round.Runs) > 0 {
			s.Note("%s, CPUs of the target: %s", round.Runs[0].Conditions.Kernel, round.Runs[0].Conditions.CPUExclusivity)
		}
	}
	if failed == nil {
		s.checkPauses()
	}
	if s.noise != "" {
		if err := writeNoise(s.noise, all, identicalMetrics); err != nil {
			return errors.Join(failed, err)
		}
		s.Note("%d runs written to %s", len(all), s.noise)
	}
	return failed
}

// identicalBenchmark has two cells that are the template as it is: that of config/samples/benchmarks/connectors.yaml
// with shorter runs.
func identicalBenchmark(s *stage) *v1alpha1.Benchmark {
	b := s.newBenchmark("identical", wrapper.NewRun("", "", tomcatImage).Tomcat().Content("/js/bootstrap.min.js", 31819).
		TargetResources("1", "1Gi").Clients(1, "740m", "256Mi").Seconds(25, 3).WarmupSeconds(3).KeepAlive(v1alpha1.Enabled))
	b.Spec.Axes = []v1alpha1.Axis{{Name: "variant", Options: []v1alpha1.AxisOption{{Name: "a"}, {Name: "b"}}}}
	b.Spec.Repetitions = &v1alpha1.Repetitions{Min: ptr.To(int32(identicalBlocks)), Order: v1alpha1.OrderAlternating, InvalidRuns: v1alpha1.InvalidRuns{Replace: ptr.To(int32(10))}}
	for _, name := range identicalMetrics {
		b.Spec.Claims = append(b.Spec.Claims, v1alpha1.Claim{
			Name: strings.ToLower(string(name)), Metric: name, Cell: v1alpha1.CellSelector{"variant": "b"}, Than: v1alpha1.CellSelector{"variant": "a"}, Is: v1alpha1.ClaimSame,
		})
	}
	return b
}

// neverDiffers reports whether a round has all its blocks and none of its claims, that its cells are the same, is contradicted.
func neverDiffers(round *benchmark.Round, blocks int) bool {
	return round.Blocks == blocks && len(round.Claims) > 0 && !slices.ContainsFunc(round.Claims, func(c benchmark.Claim) bool {
		return c.Verdict == v1alpha1.ClaimContradicted
	})
}

// valid returns the valid runs of blocks, in the order in which they were made.
func valid(runs []benchmark.Run) []benchmark.Run {
	kept := slices.DeleteFunc(slices.Clone(runs), func(r benchmark.Run) bool { return r.Trial || !r.Valid })
	slices.SortStableFunc(kept, func(a, b benchmark.Run) int { return a.Started.Compare(b.Started) })
	return kept
}

// noteClaims prints the claims of a round.
func (s *stage) noteClaims(round *benchmark.Round) {
	for i := range round.Claims {
		c := &round.Claims[i]
		s.Note("%-20s %-34s %s", c.Metric, describe(c), c.Verdict)
	}
	for i := range round.Runs {
		if r := &round.Runs[i]; !r.Valid {
			s.Note("%s was invalid: %s", r.Name, r.Message)
		}
	}
}

// describe returns the effect of a claim with its interval: "+9.9% (+8.7% to +11.2%)".
func describe(e *benchmark.Claim) string {
	if e.Percent == nil || e.LowPercent == nil || e.HighPercent == nil {
		return "unknown " + e.Message
	}
	return fmt.Sprintf("%+.2f%% (%+.2f%% to %+.2f%%)", *e.Percent, *e.LowPercent, *e.HighPercent)
}

// concluded says what a round concluded: "Passed, 10 blocks: 3 Confirmed, 2 Undecided".
func concluded(round *benchmark.Round) string {
	var words []string
	for _, verdict := range []v1alpha1.ClaimVerdict{v1alpha1.ClaimConfirmed, v1alpha1.ClaimContradicted, v1alpha1.ClaimUndecided} {
		n := 0
		for i := range round.Claims {
			if round.Claims[i].Verdict == verdict {
				n++
			}
		}
		if n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, verdict))
		}
	}
	return fmt.Sprintf("%s, %d blocks: %s", round.Verdict, round.Blocks, strings.Join(words, ", "))
}
