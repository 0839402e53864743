package statistics

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
)

// Power is the probability with which MinimalEffect is found, and with which the blocks of
// BlocksToDecide decide.
const Power = 0.8

// MinimalEffect returns the ratio nearest to the edge of a region, beyond it, that another comparison of the same size would find
// beyond it with probability Power, if its values spread as those seen. It returns +Inf, or 0 below, if there are too few
// values for any effect, and NaN if the spread is unknown.
//
// The value is the edge times exp(k*spread). k comes from simulated values, normal ones and some with heavy tails. It takes
// into account that the spread itself is only an estimate.
func (c Comparison) MinimalEffect(alpha float64, r Region) float64 {
	distance := c.design.factor(c.design.freedom(), alpha)
	if !math.IsInf(distance, 1) {
		distance *= c.spread
	}
	bound, above := r.edge()
	if above {
		return bound * math.Exp(distance)
	}
	return bound * math.Exp(-distance)
}

// BlocksToDecide returns the number of blocks in all, more than those seen, with which a claim is decided with probability
// Power, if the true effect and spread are those seen. Unpaired, it is the number of the candidate's runs. It returns false
// if more than limit (at most MaxRuns) are needed, or if it is unknown. Beyond a few it is rounded up by up to a quarter: it is
// no better known, and each number of blocks takes a simulation.
func (c Comparison) BlocksToDecide(alpha float64, r Region, limit int) (int, bool) {
	distance := r.distance(c.estimate)
	limit = min(limit, MaxRuns)
	numbers := blocksTried(c.design.candidate, limit)
	found := sort.Search(len(numbers), func(i int) bool {
		d := design{baseline: c.design.baseline, candidate: numbers[i]}
		// False if the spread or the distance is NaN.
		return c.spread*d.factor(c.design.freedom(), alpha) < distance
	})
	if found == len(numbers) {
		return max(limit, c.design.candidate) + 1, false
	}
	return numbers[found], true
}

// Detectable returns the ratio above 1 that the given number of blocks tell from no difference with probability Power, if their ratios
// spread as those seen. It is +Inf if they are too few for any, and NaN if the spread is unknown.
func (c Comparison) Detectable(alpha float64, blocks int) float64 {
	factor := design{candidate: blocks}.factor(c.design.freedom(), alpha)
	if math.IsInf(factor, 1) {
		return factor
	}
	return math.Exp(factor * c.spread)
}

// BlocksToDetect returns the number of blocks of which a ratio above 1 is Detectable, rounded up as by BlocksToDecide. It returns false
// if more than MaxRuns are needed, or if the spread is unknown.
func (c Comparison) BlocksToDetect(alpha, ratio float64) (int, bool) {
	numbers := blocksTried(0, MaxRuns)
	found := sort.Search(len(numbers), func(i int) bool { return c.Detectable(alpha, numbers[i]) <= ratio })
	if found == len(numbers) {
		return MaxRuns + 1, false
	}
	return numbers[found], true
}

// blocksTried returns the numbers of blocks of which BlocksToDecide returns one, after those seen.
func blocksTried(seen, limit int) (numbers []int) {
	for n := seen + 1; n <= limit; n += max(1, n/4) {
		numbers = append(numbers, n)
	}
	if len(numbers) > 0 && numbers[len(numbers)-1] < limit {
		numbers = append(numbers, limit)
	}
	return numbers
}

// factor returns the distance between the true effect and a bound with which the interval is beyond
// the bound with probability Power, in estimated standard deviations that have the given degrees of
// freedom. It is +Inf if the interval is unbounded.
func (d design) factor(freedom int, alpha float64) float64 {
	return factors.get(factorKey{d, freedom, alpha}, factorKey.simulate)
}

type factorKey struct {
	design  design
	freedom int
	alpha   float64
}

const (
	// mostSimulations is the number of simulations of comparisons of up to smallDesign values: an error of 1%.
	// fewestSimulations is that of the largest: 2%.
	mostSimulations   = 4000
	smallDesign       = 40
	fewestSimulations = 800
	factorSeed        = 20261122
	halvings          = 24 // of the range: an error of 1e-6 standard deviations, that of the simulation is 1e-2
)

// factors remembers what was simulated.
var factors = cache[factorKey, float64]{most: 1000}

// simulate returns the larger of the distances for normal values and for values with heavy tails
// (Student's t with 3 degrees of freedom), as of runs of which one now and then stalls.
func (k factorKey) simulate() float64 {
	rank := critical(k.design.tail(), k.alpha)
	if rank == 0 || k.freedom < 1 {
		return math.Inf(1)
	}
	random := rand.New(rand.NewPCG(factorSeed, 0))
	student := func() float64 {
		z, other := random.NormFloat64(), random.NormFloat64()
		return z / math.Sqrt((2*random.ExpFloat64()+other*other)/3)
	}
	return max(k.distance(rank, random.NormFloat64), k.distance(rank, student))
}

// distance returns the quantile Power of -L/s over simulated values about 0. L is the low end of the
// interval, s the standard deviation of earlier values.
func (k factorKey) distance(rank int, draw func() float64) float64 {
	earlier := make([]float64, k.freedom+1)
	baseline := make([]float64, k.design.baseline)
	candidate := make([]float64, k.design.candidate)
	distances := make([]float64, k.design.simulations())
	for i := range distances {
		fill(earlier, draw)
		fill(baseline, draw)
		fill(candidate, draw)
		slices.Sort(baseline)
		slices.Sort(candidate)
		spread := math.Sqrt(squares(earlier) / float64(k.freedom))
		distances[i] = -lowEnd(baseline, candidate, rank) / spread
	}
	slices.Sort(distances)
	return distances[int(Power*float64(len(distances)))]
}

// simulations returns how often a comparison is simulated: less often if it is large, which takes longer, and whose distances
// differ less from each other.
func (d design) simulations() int {
	return max(fewestSimulations, mostSimulations*min(smallDesign, d.baseline+d.candidate)/(d.baseline+d.candidate))
}

func fill(sample []float64, draw func() float64) {
	for i := range sample {
		sample[i] = draw()
	}
}

// lowEnd returns the Walsh average of the given rank of a sorted candidate or, with a baseline, the
// difference of that rank, without computing them all.
func lowEnd(baseline, candidate []float64, rank int) float64 {
	count := countDifferences
	low, high := candidate[0], candidate[len(candidate)-1]
	if len(baseline) == 0 {
		count = countAverages
	} else {
		low, high = low-baseline[len(baseline)-1], high-baseline[0]
	}
	for range halvings {
		middle := (low + high) / 2
		if count(baseline, candidate, middle) >= rank {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// countAverages returns the number of Walsh averages of sorted values that are at most v.
func countAverages(_, values []float64, v float64) int {
	n, j := 0, len(values)-1
	for i := range values {
		for j >= i && values[i]+values[j] > 2*v {
			j--
		}
		if j < i {
			break
		}
		n += j - i + 1
	}
	return n
}

// countDifferences returns the number of differences between a value of candidate and one of
// baseline, both sorted, that are at most v.
func countDifferences(baseline, candidate []float64, v float64) int {
	n, j := 0, 0
	for _, c := range candidate {
		for j < len(baseline) && c-baseline[j] > v {
			j++
		}
		n += len(baseline) - j
	}
	return n
}
