package statistics

import (
	"math"
	"testing"
)

// share returns the 95% interval of Clopper and Pearson for the probability of what happened k times
// of n.
func share(k, n int) (low, high float64) {
	// atMost returns the probability of at most k times.
	atMost := func(k int, p float64) float64 {
		sum := 0.0
		for i := range k + 1 {
			all, _ := math.Lgamma(float64(n + 1))
			first, _ := math.Lgamma(float64(i + 1))
			second, _ := math.Lgamma(float64(n - i + 1))
			sum += math.Exp(all - first - second + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
		}
		return sum
	}
	bisect := func(above func(p float64) bool) float64 {
		a, b := 0.0, 1.0
		for range 40 {
			if p := (a + b) / 2; above(p) {
				b = p
			} else {
				a = p
			}
		}
		return a
	}
	low, high = 0, 1
	if k > 0 {
		low = bisect(func(p float64) bool { return 1-atMost(k-1, p) > 0.025 })
	}
	if k < n {
		high = bisect(func(p float64) bool { return atMost(k, p) < 0.025 })
	}
	return low, high
}

func TestShare(t *testing.T) {
	for _, test := range []struct {
		k, n      int
		low, high float64
	}{{0, 10, 0, 0.3085}, {5, 10, 0.1871, 0.8129}, {20, 400, 0.0308, 0.0762}, {10, 10, 0.6915, 1}} {
		low, high := share(test.k, test.n)
		if math.Abs(low-test.low) > 1e-4 || math.Abs(high-test.high) > 1e-4 {
			t.Errorf("%d of %d: %.4f to %.4f, want %.4f to %.4f", test.k, test.n, low, high, test.low, test.high)
		}
	}
}
