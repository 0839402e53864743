package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/test/wrapper"
)

const (
	nginxImage = "localhost/assay-test/nginx:1"
	// widthsLimit bounds a round of runs one after the other.
	widthsLimit = 20 * time.Minute
)

// showWidths compares an nginx with itself in both orders of runs, and the widths of the intervals that as much time gives. Rounds have
// equally many blocks, and the width falls with the root of their number: at equal time a round that took twice as long as
// another would have had half its blocks, and intervals wider by the root of two.
func showWidths(ctx context.Context, s *stage) error {
	var benchmarks []*v1alpha1.Benchmark
	for _, order := range []v1alpha1.RunOrder{v1alpha1.OrderAlternating, v1alpha1.OrderRandomizedBlocks} {
		b := identicalBenchmark(s)
		b.Spec.Template = s.newBenchmark("", wrapper.NewRun("", "", nginxImage).Nginx().Content("/1k", 1024).
			TargetResources("500m", "128Mi").Clients(1, "500m", "128Mi").Path("/1k").Seconds(25, 5).WarmupSeconds(2).KeepAlive(v1alpha1.Enabled)).Spec.Template
		b.Name, b.Spec.Repetitions.Order = strings.ToLower(string(order)), order
		benchmarks = append(benchmarks, b)
	}
	for number := range int64(s.rounds) {
		var rounds []*benchmark.Round
		var took []time.Duration
		for _, b := range benchmarks {
			began := time.Now()
			round, err := s.round(ctx, b, number+1, widthsLimit)
			if err != nil {
				return err
			}
			rounds, took = append(rounds, round), append(took, time.Since(began))
		}
		shares := s.noteWidths(rounds, took)
		median := math.NaN()
		if len(shares) > 0 {
			slices.Sort(shares)
			median = shares[len(shares)/2]
		}
		s.check(fmt.Sprintf("round %d of %d", number+1, s.rounds), fmt.Sprintf("median %.2f of %d metrics", median, len(shares)),
			"0.5 times as wide in the same time", len(shares) == len(identicalMetrics) && median <= 0.5)
	}
	return nil
}

// noteWidths prints half the widths of the intervals of an alternating round and of one whose runs were one after the other, and
// returns the ratios of the first to the second at equal time.
func (s *stage) noteWidths(rounds []*benchmark.Round, took []time.Duration) (shares []float64) {
	s.Note("%d alternating blocks took %s, %d one after the other %s", rounds[0].Blocks, took[0].Round(time.Second), rounds[1].Blocks, took[1].Round(time.Second))
	for _, metric := range identicalMetrics {
		alternating, after := claimOf(rounds[0], metric), claimOf(rounds[1], metric)
		a, b := halfWidth(&alternating), halfWidth(&after)
		share := a / b * math.Sqrt(took[0].Seconds()/took[1].Seconds())
		s.Note("%-20s ±%.2f%% alternating, ±%.2f%% one after the other, %.2f times as wide in the same time", metric, a, b, share)
		if !math.IsNaN(share) {
			shares = append(shares, share)
		}
	}
	return shares
}

// halfWidth returns half the width of a claim's interval, in percent; NaN if it has none.
func halfWidth(c *benchmark.Claim) float64 {
	if c.LowPercent == nil || c.HighPercent == nil {
		return math.NaN()
	}
	return (*c.HighPercent - *c.LowPercent) / 2
}
