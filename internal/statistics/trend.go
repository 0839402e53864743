package statistics

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// ChangePoint is a place in a series of rounds where the level changed.
type ChangePoint struct {
	// Index is that of the first value of the new level.
	Index int
	// P is the p value of the permutation test.
	P float64
	// Before and After are the medians of the values between this change point and its neighbors.
	Before, After float64
}

const (
	permutations    = 999
	permutationSeed = 20140401
)

// ChangePoints returns the change points of a series, by their index. Two of them, and the ends of
// the series, are at least minSegment (at least 2) values apart. significance bounds the p value,
// for example 0.05.
//
// It is E-divisive with the exponent 1 (Matteson and James, "A Nonparametric Approach for Multiple
// Change Point Analysis of Multivariate Data", 2014): the split with the largest energy statistic is
// kept if at most a share of permutations of the values within the segments has a larger one, and
// its parts are searched again. The permutations have a fixed seed: the same series has the same
// change points. Time grows with the square of the length.
func ChangePoints(series []float64, minSegment int, significance float64) ([]ChangePoint, error) {
	if minSegment < 2 {
		return nil, fmt.Errorf("minSegment: %d must be at least 2", minSegment)
	}
	for i, v := range series {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("series[%d]: %g must be finite", i, v)
		}
	}
	random := rand.New(rand.NewPCG(permutationSeed, 0))
	ends := []int{0, len(series)}
	p := map[int]float64{}
	for {
		index, statistic := split(series, ends, minSegment)
		if index == 0 {
			break
		}
		value := permutationTest(series, ends, minSegment, statistic, significance, random)
		if value > significance {
			break
		}
		p[index] = value
		at, _ := slices.BinarySearch(ends, index)
		ends = slices.Insert(ends, at, index)
	}

	var points []ChangePoint
	for i := 1; i < len(ends)-1; i++ {
		points = append(points, ChangePoint{
			Index:  ends[i],
			P:      p[ends[i]],
			Before: MedianOf(series[ends[i-1]:ends[i]]),
			After:  MedianOf(series[ends[i]:ends[i+1]]),
		})
	}
	return points, nil
}

// permutationTest returns the share of permutations whose best split is at least as good, the series
// itself included. It stops as soon as the share is larger than the significance.
func permutationTest(series []float64, ends []int, minSegment int, statistic, significance float64, random *rand.Rand) float64 {
	shuffled := slices.Clone(series)
	atLeast := 1
	for range permutations {
		for i := range len(ends) - 1 {
			segment := shuffled[ends[i]:ends[i+1]]
			random.Shuffle(len(segment), func(a, b int) { segment[a], segment[b] = segment[b], segment[a] })
		}
		if _, other := split(shuffled, ends, minSegment); other >= statistic {
			atLeast++
		}
		if p := float64(atLeast) / (permutations + 1); p > significance {
			return p
		}
	}
	return float64(atLeast) / (permutations + 1)
}

// split returns the best split of all segments and its energy statistic, or 0 if no segment is long
// enough.
func split(series []float64, ends []int, minSegment int) (index int, statistic float64) {
	for i := range len(ends) - 1 {
		at, q := splitSegment(series[ends[i]:ends[i+1]], minSegment)
		if at > 0 && (index == 0 || q > statistic) {
			index, statistic = ends[i]+at, q
		}
	}
	return index, statistic
}

// splitSegment returns the index at which the values before it differ most from those after it, up
// to any later end (equation 7 of the paper).
func splitSegment(x []float64, minSegment int) (index int, statistic float64) {
	// within[a] is the sum of the distances between all pairs of values from a up to end, and
	// left[a] that of the values before a.
	within := make([]float64, len(x)+1)
	left := make([]float64, len(x)+1)
	inverse := inverses(len(x))
	for end := 1; end <= len(x); end++ {
		toLast := 0.0
		for a := end - 1; a >= 0; a-- {
			toLast += math.Abs(x[a] - x[end-1])
			within[a] += toLast
		}
		left[end] = within[0]
		for at := minSegment; at <= end-minSegment; at++ {
			between := left[end] - left[at] - within[at]
			if q := energy(between, left[at], within[at], at, end-at, inverse); index == 0 || q > statistic {
				index, statistic = at, q
			}
		}
	}
	return index, statistic
}

// inverses returns 1/k at k, up to n: a division takes longer than all else of energy.
func inverses(n int) []float64 {
	inverse := make([]float64, n+1)
	for k := range inverse {
		inverse[k] = 1 / float64(k)
	}
	return inverse
}

// energy returns the scaled energy statistic of samples of n and m values, from the sums of the
// distances between the samples and within each of them (equations 5 and 6 of the paper):
//
//	nm/(n+m) * (2*between/(nm) - 2*first/(n(n-1)) - 2*second/(m(m-1)))
//
// inverse has 1/k at k.
func energy(between, first, second float64, n, m int, inverse []float64) float64 {
	return 2 * inverse[n+m] * (between - first*float64(m)*inverse[n-1] - second*float64(n)*inverse[m-1])
}
