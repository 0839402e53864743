package statistics

import (
	"math"
	"slices"
)

// Alpha returns the error rate of each of several gate metrics, so that with the given confidence
// all their intervals hold at once: (1 - confidence)/gateMetrics (Bonferroni; Dunn, "Multiple
// Comparisons Among Means", 1961). gateMetrics counts each metric once for each cell that is
// compared; 0 counts as 1.
func Alpha(confidencePercent float64, gateMetrics int) float64 {
	return (100 - confidencePercent) / 100 / float64(max(1, gateMetrics))
}

// MinBlocks returns the smallest number of blocks with which a paired interval is bounded: the
// smallest n with 2/2^n <= alpha. The interval of a median needs as many runs. Beyond MaxRuns it
// returns MaxRuns+1.
func MinBlocks(alpha float64) int {
	n := 1
	for n <= MaxRuns && math.Ldexp(2, -n) > alpha {
		n++
	}
	return n
}

// MinRuns returns the smallest number of runs with which the interval of a comparison with the given
// number of stored runs is bounded. Beyond MaxRuns it returns MaxRuns+1.
func MinRuns(alpha float64, stored int) int {
	n, orders := 1, float64(stored+1) // orders is (stored+n choose n)
	for n <= MaxRuns && 2/orders > alpha {
		n++
		orders *= float64(stored+n) / float64(n)
	}
	return n
}

// BenjaminiHochberg returns p values adjusted for their number: those that are at most q are differences
// of which, on average, at most a share q is false (Benjamini and Hochberg, "Controlling the
// False Discovery Rate", 1995).
func BenjaminiHochberg(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case p[a] < p[b]:
			return -1
		case p[a] > p[b]:
			return 1
		default:
			return 0
		}
	})
	adjusted := make([]float64, len(p))
	smallest := 1.0
	for rank := len(p); rank > 0; rank-- {
		i := order[rank-1]
		smallest = min(smallest, p[i]*float64(len(p))/float64(rank))
		adjusted[i] = smallest
	}
	return adjusted
}

// FalseDiscovery returns the alpha for the interval of each metric that is only reported, so that an
// interval doesn't contain 1 if and only if BenjaminiHochberg finds the difference at alpha. Of the
// intervals that don't contain 1, on average at most a share alpha misses the true ratio (Benjamini
// and Yekutieli, "False Discovery Rate-Adjusted Multiple Confidence Intervals for Selected
// Parameters", 2005).
func FalseDiscovery(p []float64, alpha float64) []float64 {
	adjusted := BenjaminiHochberg(p)
	found := 0
	for _, q := range adjusted {
		if q <= alpha {
			found++
		}
	}
	alphas := make([]float64, len(p))
	for i, q := range adjusted {
		rank := found
		if q > alpha {
			rank++
		}
		alphas[i] = alpha * float64(rank) / float64(len(p))
	}
	return alphas
}
