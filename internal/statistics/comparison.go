package statistics

import (
	"fmt"
	"math"
)

// Comparison holds a candidate's and a baseline's values of one metric. Paired and Unpaired return
// one.
type Comparison struct {
	ranked ranked // candidates for the logarithm of the ratio
	design design
	// estimate is the median of ranked, p its p value against 0.
	estimate, p float64
	spread      float64 // standard deviation of what the design counts, as logarithms; NaN if unknown
}

// Effect is the ratio candidate/baseline with its confidence interval.
type Effect struct {
	// Interval holds ratios: 1 for no difference, 0 and +Inf if one of the two values is 0.
	Interval
	// P is the smallest alpha at which the interval doesn't contain 1: the two-sided p value of the
	// rank test. It is at most alpha if and only if the interval of Effect(alpha) doesn't contain 1.
	P float64
}

// Percent returns the difference that a ratio means, in percent of the baseline.
func Percent(ratio float64) float64 {
	return 100 * (ratio - 1)
}

// Paired compares values of the same blocks: baseline[i] and candidate[i] are of block i. The
// estimate is the median of the Walsh averages of the logarithms of the ratios (Hodges and Lehmann,
// "Estimates of Location Based on Rank Tests", 1963), the interval inverts Wilcoxon's signed-rank
// test.
func Paired(baseline, candidate []float64) (Comparison, error) {
	if len(baseline) != len(candidate) {
		return Comparison{}, fmt.Errorf("candidate: %d values, must be as many as those of the baseline, %d", len(candidate), len(baseline))
	}
	if err := checkBoth(baseline, candidate); err != nil {
		return Comparison{}, err
	}
	logs := make([]float64, len(baseline))
	for i := range logs {
		logs[i] = logRatio(baseline[i], candidate[i])
	}
	d := design{candidate: len(logs)}
	averages, unknown := averages(logs)
	return newComparison(averages, unknown, d, math.Sqrt(squares(logs)/float64(d.freedom()))), nil
}

// Unpaired compares values that were measured at different times. The estimate is the median of the
// logarithms of all ratios of a candidate's and a baseline's value, the interval inverts the test of
// Mann and Whitney. What changed between the two times is part of the effect: no interval shows it.
func Unpaired(baseline, candidate []float64) (Comparison, error) {
	if err := checkBoth(baseline, candidate); err != nil {
		return Comparison{}, err
	}
	d := design{baseline: len(baseline), candidate: len(candidate)}
	x, y := logs(baseline), logs(candidate)
	differences, unknown := differences(x, y)
	return newComparison(differences, unknown, d, math.Sqrt((squares(x)+squares(y))/float64(d.freedom()))), nil
}

func newComparison(known *pairs, unknown int, d design, spread float64) Comparison {
	r := ranked{known, unknown, d.tail()}
	c := Comparison{ranked: r, design: d, spread: spread, estimate: middle(known), p: 1}
	notAbove, notBelow := known.atMost(0), known.len()-known.below(0)
	if k := min(notAbove, notBelow) + unknown; k < len(r.tail) {
		c.p = min(1, 2*r.tail[k])
	}
	return c
}

// Effect returns the estimated ratio and its interval. alpha is 1 minus the confidence; Alpha
// computes it. The interval is unbounded if there are too few values.
func (c Comparison) Effect(alpha float64) Effect {
	i := c.ranked.interval(alpha, c.estimate)
	i.Estimate, i.Low, i.High = math.Exp(i.Estimate), math.Exp(i.Low), math.Exp(i.High)
	return Effect{Interval: i, P: c.p}
}

// Spread returns the standard deviation of the logarithms: of the ratios within blocks or, unpaired,
// of the values about their sample's mean. It is NaN if it is unknown: with one block, or with values
// that are 0 or missing.
func (c Comparison) Spread() float64 {
	return c.spread
}

// design holds the sizes of a comparison's samples: candidate is the number of blocks if baseline
// is 0.
type design struct{ baseline, candidate int }

// freedom returns the degrees of freedom of the spread.
func (d design) freedom() int {
	if d.baseline == 0 {
		return d.candidate - 1
	}
	return d.baseline + d.candidate - 2
}

// tails remembers distributions: each of up to 160 kB, for which a round may ask thousands of times.
var tails = cache[design, []float64]{most: 64}

func (d design) tail() []float64 {
	return tails.get(d, func(d design) []float64 {
		if d.baseline == 0 {
			return signedRank(d.candidate)
		}
		return mannWhitney(d.baseline, d.candidate)
	})
}

func checkBoth(baseline, candidate []float64) error {
	if err := check("baseline", baseline); err != nil {
		return err
	}
	return check("candidate", candidate)
}

// logRatio returns ln(candidate/baseline). Two equal values don't differ, even if both are 0. If one
// is 0 the ratio is beyond all others: -Inf or +Inf.
func logRatio(baseline, candidate float64) float64 {
	if baseline == candidate {
		return 0
	}
	return math.Log(candidate) - math.Log(baseline)
}

func logs(values []float64) []float64 {
	logs := make([]float64, len(values))
	for i, v := range values {
		logs[i] = math.Log(v)
	}
	return logs
}

// squares returns the sum of the squared distances from the mean: NaN if a value isn't finite.
func squares(values []float64) float64 {
	var mean, sum float64
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		sum += (v - mean) * (v - mean)
	}
	return sum
}
