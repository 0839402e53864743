package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/test/harness"
	"github.com/assay-dev/assay/test/wrapper"
)

// The server of this section answers a known number of requests per second and refuses all others. It refuses
// rather than delays, since a queue keeps what a single stall left behind: below the limit it empties slowly.
// Refusals are errors, of which at most 1% are within the threshold, and the server saves up 0.05 s of what isn't
// used. A trial of 4 s therefore passes up to a rate of 1% (limit/0.99) to 2.3% (limit*4.05/4/0.99) above the limit.
// The largest rate that is sustained is at most a search's precision of 3% below that: between 2% below the
// limit and 2.3% above it. There is no warm-up, since in the gap after it the server would save up in any case.
const (
	capacityFrom      = 100
	capacityMax       = 20_000
	capacityPrecision = 3
	trialSeconds      = 4
	maxRefused        = "1%"
	capacityTolerance = 5 // percent
	capacityLimit     = 8 * time.Minute
)

// showCapacity searches for the capacities of servers with different limits.
func showCapacity(ctx context.Context, s *stage) error {
	for i := range s.rounds {
		known := knownCapacity(i)
		b := capacityBenchmark(s, fmt.Sprintf("capacity-%d", i+1), known)
		round, err := s.round(ctx, b, 1, capacityLimit)
		if err != nil {
			return err
		}
		var found benchmark.Capacity
		if len(round.Capacities) == 1 {
			found = round.Capacities[0]
		}
		for j := range round.Runs {
			r := &round.Runs[j]
			s.Note("%-26s %6d/s achieved %8.2f/s %s %s", r.Name, r.Load, r.Achieved, r.Outcome, r.Message)
		}
		s.check(fmt.Sprintf("search %d of %d, %d requests/s", i+1, s.rounds, known), describeCapacity(&found, known),
			fmt.Sprintf("within %d%%, limited by the server", capacityTolerance), foundCapacity(&found, known))
	}
	s.checkPauses()
	return nil
}

// knownCapacity returns the limit of a search, in requests per second. They are different, and none of them is
// what the search tries first.
func knownCapacity(search int) int {
	return 300 + 170*(search%5)
}

func capacityBenchmark(s *stage, name string, known int) *v1alpha1.Benchmark {
	b := s.newBenchmark(name, wrapper.NewRun("", "", harness.ServerImage).TargetResources("400m", "128Mi").
		Clients(1, "700m", "256Mi").Path(fmt.Sprintf("/limited/%d/100", known)).Rate(capacityFrom, trialSeconds).KeepAlive(v1alpha1.Enabled).
		Threshold(v1alpha1.MetricErrorRate, maxRefused))
	b.Spec.Capacity = &v1alpha1.Capacity{
		Path: "/load/open/requestsPerSecond", From: capacityFrom, Max: capacityMax,
		PrecisionPercent: ptr.To(int32(capacityPrecision)), TrialSeconds: ptr.To(int32(trialSeconds)),
	}
	return b
}

// foundCapacity reports whether a search has found a limit, in requests per second.
func foundCapacity(c *benchmark.Capacity, known int) bool {
	within := func(x float64) bool { return math.Abs(percentBeyond(x, known)) <= capacityTolerance }
	return c.Limit == v1alpha1.LimitServer && within(float64(c.Sustained)) && within(c.AchievedPerSecond)
}

// percentBeyond returns by how much a rate is above the limit.
func percentBeyond(rate float64, known int) float64 {
	return 100 * (rate/float64(known) - 1)
}

func describeCapacity(c *benchmark.Capacity, known int) string {
	return fmt.Sprintf("%d/s sustained (%+.1f%%), %.1f/s achieved, %d/s failed, limit %s, %d trials",
		c.Sustained, percentBeyond(float64(c.Sustained), known), c.AchievedPerSecond, c.Failed, c.Limit, c.Trials)
}
