package statistics

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// Nominal returns the error rate of the interval of a paired comparison at one of several looks: a round looks after each
// whole block from least to most, which is at most 100, and may end at any of them. It is so much lower than alpha that all
// looks together miss the true effect with a probability of at most alpha, whenever the round ends. It is 0 where no interval
// exists yet, and alpha for a round that ended before its first look.
//
// The method is that of group-sequential tests (Jennison and Turnbull, "Group Sequential Methods with Applications to Clinical
// Trials", 2000) with repeated confidence intervals and an error-spending function (Lan and DeMets, "Discrete Sequential
// Boundaries for Clinical Trials", 1983). The signed-rank statistics of the first, second, ... blocks have the same joint
// distribution whatever that of the symmetric noise is, so that it is simulated once, with a fixed seed.
func Nominal(alpha float64, least, most, blocks int) float64 {
	if least >= most || blocks < least {
		return alpha
	}
	return looks.get(looksKey{alpha, least, most}, looksKey.simulate)[min(blocks, most)-least]
}

type looksKey struct {
	alpha       float64
	least, most int
}

// looks remembers what was simulated.
var looks = cache[looksKey, []float64]{most: 256}

const (
	// paths is the number of simulated rounds: an error of 1%, of which the boundaries keep clear.
	paths     = 20000
	looksSeed = 20261129
	// spending is the parameter of Hwang, Shih and DeCani ("Group Sequential Designs Using a Family of Type I Error
	// Probability Spending Functions", 1990). The lower it is, the less of the error rate early looks spend: with -4, the
	// first third of the blocks has 5% of it.
	spending = -4.0
	// clear is the distance of the simulated error rate from the one that may be spent, in standard errors.
	clear = 2
)

// spent returns the share of the error rate that is spent after a share of the blocks.
func spent(blocks float64) float64 { return math.Expm1(-spending*blocks) / math.Expm1(-spending) }

// simulate returns the nominal error rates by look. Each side has half of the error rate, and the sides are symmetric: the rank sum
// of the negative differences is at most a boundary. Such rounds are rare, so that rounds with fewer negative differences are
// drawn, and weighted by how likely they are (importance sampling).
func (k looksKey) simulate() []float64 {
	nominal := make([]float64, k.most-k.least+1)
	rounds := make([]path, paths)
	for i := range rounds {
		rounds[i].weight = 1
	}
	random := rand.New(rand.NewPCG(looksSeed, 0))
	n := float64(k.most)
	tilt := 2 * math.Sqrt2 * math.Erfinv(1-k.alpha) * math.Sqrt(3/(n/2)) // with which a boundary is likely to be crossed after half of the blocks
	var crossed, squared float64                                         // sums of the weights, and of their squares, of the rounds that crossed a boundary
	for blocks := 1; blocks <= k.most; blocks++ {
		odds := make([]float64, blocks) // of a positive difference, by rank
		for rank := range odds {
			odds[rank] = math.Exp(tilt * float64(rank+1) / float64(blocks))
		}
		for i := range rounds {
			rounds[i].add(random.IntN(blocks), random.Float64(), odds)
		}
		if blocks < k.least {
			continue
		}
		budget := paths * k.alpha / 2 * spent(float64(blocks)/n)
		tail := signedRank(blocks)
		weights, squares := make([]float64, len(tail)), make([]float64, len(tail))
		for i := range rounds {
			if sum := rounds[i].sum; sum < len(tail) {
				weights[sum] += rounds[i].weight
				squares[sum] += rounds[i].weight * rounds[i].weight
			}
		}
		cut, first := 0, squared == 0 // first reports whether no look before could have been the last, so that the tail is exact
		for cut < len(tail) {
			w, q := crossed+weights[cut], squared+squares[cut]
			if paths*tail[cut] > budget || !first && w+clear*math.Sqrt(q) > budget {
				break
			}
			crossed, squared = w, q
			cut++
		}
		if cut > 0 {
			nominal[blocks-k.least] = 2 * tail[cut-1]
		}
		rounds = slices.DeleteFunc(rounds, func(p path) bool { return p.sum < cut })
	}
	return nominal
}

// path is a simulated round: the signs of its differences, in the order of their sizes.
type path struct {
	// negative has a bit for each difference, the smallest first.
	negative [2]uint64
	// sum is the rank sum of the negative ones.
	sum int
	// weight is the probability of the round divided by that with which it was drawn.
	weight float64
}

// add adds a difference of a rank, from 0. u is a random number below 1, odds are those of a positive difference by rank.
func (p *path) add(rank int, u float64, odds []float64) {
	o := odds[rank]
	negative := uint64(0)
	if u*(1+o) < 1 {
		negative = 1
		p.sum += rank + 1
		p.weight *= (1 + o) / 2
	} else {
		p.weight *= (1 + o) / (2 * o)
	}
	low, high := &p.negative[0], &p.negative[1]
	if rank >= 64 {
		rank -= 64
		above := *high >> rank
		p.sum += bits.OnesCount64(above)
		*high = *high&(1<<rank-1) | negative<<rank | above<<rank<<1
		return
	}
	above := *low >> rank
	p.sum += bits.OnesCount64(above) + bits.OnesCount64(*high)
	*high = *high<<1 | *low>>63
	*low = *low&(1<<rank-1) | negative<<rank | above<<rank<<1
}
