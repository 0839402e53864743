package statistics

import (
	"math"
	"testing"
)

func TestAlpha(t *testing.T) {
	for _, test := range []struct {
		percent float64
		metrics int
		want    float64
	}{{95, 1, 0.05}, {95, 0, 0.05}, {95, 5, 0.01}, {99, 10, 0.001}, {99.9, 1, 0.001}} {
		if got := Alpha(test.percent, test.metrics); math.Abs(got-test.want) > 1e-12 {
			t.Errorf("%g%%, %d metrics: %g, want %g", test.percent, test.metrics, got, test.want)
		}
	}
}

// TestMinBlocks holds the smallest numbers against the intervals themselves.
func TestMinBlocks(t *testing.T) {
	for _, percent := range []float64{50, 80, 90, 93.75, 95, 99, 99.9} {
		for metrics := 1; metrics <= 1280; metrics = 1 + metrics*5/4 {
			alpha := Alpha(percent, metrics)
			n := MinBlocks(alpha)
			for _, tail := range []func(int) []float64{signedRank, binomial} {
				if critical(tail(n), alpha) == 0 || n > 1 && critical(tail(n-1), alpha) > 0 {
					t.Errorf("%g%%, %d metrics: %d isn't the smallest number", percent, metrics, n)
				}
			}
			for _, stored := range []int{2, 5, 10} {
				n := MinRuns(alpha, stored)
				if n > MaxRuns {
					if critical(mannWhitney(stored, MaxRuns), alpha) > 0 {
						t.Errorf("%g%%, %d metrics, %d stored: %d runs are enough", percent, metrics, stored, MaxRuns)
					}
				} else if critical(mannWhitney(stored, n), alpha) == 0 || n > 1 && critical(mannWhitney(stored, n-1), alpha) > 0 {
					t.Errorf("%g%%, %d metrics, %d stored: %d isn't the smallest number", percent, metrics, stored, n)
				}
			}
		}
	}
	if n := MinBlocks(0); n != MaxRuns+1 {
		t.Errorf("alpha 0: %d", n)
	}
}
