// Package statistics estimates medians and effects from repeated runs, with exact confidence
// intervals, and decides by them. Numbers in, numbers out: it knows neither runs nor metrics.
//
// A value is the metric of one full run. Nothing assumes a normal distribution: an interval is
// two order statistics, chosen by the exact null distribution of a rank statistic. docs/statistics.md
// explains the methods and has their sources.
//
// Values are at least 0, and NaN stands for a missing one. What a missing value could have been is
// unknown, so it counts as very small for the low end of an interval and as very large for the high
// end: a missing value can widen an interval, never move or narrow it.
package statistics

import (
	"fmt"
	"math"
	"slices"
	"sort"
)

// MaxRuns is the largest number of values in a sample.
const MaxRuns = 200

// Interval is an estimate with its confidence interval. Both ends belong to the interval.
type Interval struct {
	// Estimate is NaN if no value is known.
	Estimate float64
	// Low and High are -Inf (0 for a ratio) and +Inf where the values don't bound the interval: they
	// are too few for the confidence, or too many of them are missing.
	Low, High float64
	// Confidence is the coverage of the interval, between 0 and 1: at least the one asked for, and 1
	// if there are too few values for it.
	Confidence float64
}

// Bounded reports whether both ends are finite and the low end isn't that of an unbounded interval.
func (i Interval) Bounded() bool {
	return i.Confidence < 1 && !math.IsInf(i.Low, 0) && !math.IsInf(i.High, 0)
}

// Median returns the median of a sample with its order-statistic interval, whose coverage follows
// from the binomial distribution (Conover, Practical Nonparametric Statistics, section 3.2). alpha is
// 1 minus the confidence. The interval is unbounded with fewer than MinBlocks(alpha) values.
func Median(values []float64, alpha float64) (Interval, error) {
	if err := check("values", values); err != nil {
		return Interval{}, err
	}
	known := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	slices.Sort(known)
	r := ranked{ascending(known), len(values) - len(known), halves.get(len(values), binomial)}
	return r.interval(alpha, median(known)), nil
}

// halves remembers distributions of up to 100 numbers each.
var halves = cache[int, []float64]{most: MaxRuns}

func check(name string, values []float64) error {
	if len(values) == 0 || len(values) > MaxRuns {
		return fmt.Errorf("%s: %d values, must be 1 to %d", name, len(values), MaxRuns)
	}
	for i, v := range values {
		if v < 0 || math.IsInf(v, 0) {
			return fmt.Errorf("%s[%d]: %g must be finite and not negative", name, i, v)
		}
	}
	return nil
}

// ranked holds candidates for the ends of an interval.
type ranked struct {
	known   ordered
	unknown int
	// tail[k] is the probability that at most k candidates are below the true value. It equals the
	// probability that at most k are above, and is held up to the middle.
	tail []float64
}

// interval leaves out at both ends as many candidates as keep the error within alpha.
//
// The null distributions are those of continuous values. With ties they hold as well: values that
// differ by next to nothing would have no ties, and their interval covers the true value as often as
// promised. Its ends come as close as one likes to the ends here, which belong to the interval.
func (r ranked) interval(alpha, estimate float64) Interval {
	i := Interval{Estimate: estimate, Low: math.Inf(-1), High: math.Inf(1), Confidence: 1}
	cut := critical(r.tail, alpha)
	if cut == 0 {
		return i
	}
	i.Confidence = 1 - 2*r.tail[cut-1]
	if at := cut - r.unknown; at > 0 && at <= r.known.len() {
		i.Low, i.High = r.known.at(at-1), r.known.at(r.known.len()-at)
	}
	return i
}

// critical returns how many candidates an interval leaves out at each end, plus one: the rank of its
// low end. Zero means that no interval has the confidence.
func critical(tail []float64, alpha float64) int {
	return sort.Search(len(tail), func(k int) bool { return 2*tail[k] > alpha })
}

// median returns the median of sorted values, or NaN without values.
func median(sorted []float64) float64 { return middle(ascending(sorted)) }

// MedianOf returns the median of values in any order without an interval, or NaN without values.
func MedianOf(values []float64) float64 { return median(slices.Sorted(slices.Values(values))) }

// middle returns the median of ordered numbers, or NaN without any.
func middle(of ordered) float64 {
	n := of.len()
	if n == 0 {
		return math.NaN()
	}
	low, high := of.at((n-1)/2), of.at(n/2)
	if low == high { // both may be infinite
		return high
	}
	return (low + high) / 2
}

// Finite returns nil for what JSON can't say: infinities, and NaN.
func Finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}
