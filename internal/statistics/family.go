package statistics

import "math"

// Alpha returns the error rate of each of several claims, so that with the given confidence all their intervals hold at
// once: (1 - confidence)/claims (Bonferroni; Dunn, "Multiple Comparisons Among Means", 1961). A gate metric counts
// once for each cell that is compared; 0 counts as 1.
func Alpha(confidencePercent float64, claims int) float64 {
	return (100 - confidencePercent) / 100 / float64(max(1, claims))
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
