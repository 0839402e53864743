package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/statistics"
	"github.com/assay-dev/assay/test/harness"
	"github.com/assay-dev/assay/test/wrapper"
)

// What kubectl assay doctor --fit says is detectable, it says of the throughput of 10 blocks of two equal variants at 95% confidence.
const (
	fitBlocks  = 10
	fitRounds  = 10 // with fewer, a power of 80% is often missed by chance
	fitLimit   = 8 * time.Minute
	throughput = v1alpha1.BenchmarkMetric(v1alpha1.MetricRequestsPerSecond)
)

// showFit measures what 10 blocks can detect, as kubectl assay doctor --fit does, and then how often they find a server that is slower by as
// much, and one that is slower by a third of it.
func showFit(ctx context.Context, s *stage) error {
	equal, err := s.round(ctx, fitBenchmark(s, "equal", 1, 1), 1, fitLimit)
	if err != nil {
		return err
	}
	c, err := compared(equal, 1)
	if err != nil {
		return err
	}
	detectable := c.Detectable(statistics.Alpha(95, 1), fitBlocks)
	s.Note("%d blocks find differences of %.2f%% here: ratios spread by %.2f%%", fitBlocks, statistics.Percent(detectable), 100*c.Spread())
	if math.IsNaN(detectable) || math.IsInf(detectable, 0) {
		return fmt.Errorf("%d blocks don't say what can be found", equal.Blocks)
	}
	planted := fitBenchmark(s, "planted", 1, detectable, math.Cbrt(detectable))
	found := [2]int{}
	for number := range int64(fitRounds) {
		round, err := s.round(ctx, planted, number+1, fitLimit)
		if err != nil {
			return err
		}
		for i := range found {
			c, err := compared(round, i+1)
			if err != nil {
				return err
			}
			e := c.Effect(statistics.Alpha(95, 1))
			if e.High < 1 {
				found[i]++
			}
			s.Note("round %d of %d: throughput %+.2f%% (%+.2f%% to %+.2f%%)", number+1, fitRounds, statistics.Percent(e.Estimate), statistics.Percent(e.Low), statistics.Percent(e.High))
		}
	}
	s.check(fmt.Sprintf("%.2f%% slower", statistics.Percent(detectable)), fmt.Sprintf("found in %d of %d rounds", found[0], fitRounds), "at least 8", found[0] >= 8)
	s.check("a third of that", fmt.Sprintf("found in %d of %d rounds", found[1], fitRounds), "at most 3", found[1] <= 3)
	return nil
}

// compared compares the throughput of a round's cell with that of the first.
func compared(round *benchmark.Round, cell int) (statistics.Comparison, error) {
	return statistics.Paired(round.Values(0, throughput), round.Values(cell, throughput))
}

// fitBenchmark compares servers whose service times are a time and the ratios of it.
func fitBenchmark(s *stage, name string, ratios ...float64) *v1alpha1.Benchmark {
	b := s.newBenchmark(name, wrapper.NewRun("", "", harness.ServerImage).TargetResources("150m", "128Mi").
		Clients(1, "300m", "128Mi").Path(randomPath(0)).Seconds(16, 2).WarmupSeconds(1).KeepAlive(v1alpha1.Enabled))
	var paths []string
	for i, ratio := range ratios {
		// The query makes equal ones different values.
		paths = append(paths, fmt.Sprintf("/random/%.0f/100?%d", serviceMicroseconds*ratio, i))
	}
	b.Spec.Axes = []v1alpha1.Axis{pathAxis(paths...)}
	b.Spec.Repetitions = &v1alpha1.Repetitions{Min: ptr.To(int32(fitBlocks)), Order: v1alpha1.OrderAlternating, InvalidRuns: v1alpha1.InvalidRuns{Replace: ptr.To(int32(10))}}
	b.Spec.Comparison = &v1alpha1.Comparison{
		Baseline: v1alpha1.Baseline{Cell: v1alpha1.CellSelector{"path": paths[0]}}, Metrics: []v1alpha1.ComparedMetric{{Name: throughput, Role: v1alpha1.RoleReport}},
	}
	return b
}
