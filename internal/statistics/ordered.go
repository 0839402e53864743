package statistics

import (
	"math"
	"slices"
	"sort"
)

// ordered holds numbers that have an order, of which none is NaN.
type ordered interface {
	len() int
	// at returns the number of a position in ascending order, from 0.
	at(position int) float64
}

// ascending are numbers in ascending order.
type ascending []float64

func (a ascending) len() int                { return len(a) }
func (a ascending) at(position int) float64 { return a[position] }

// unitsPerLog is the number of units of a logarithm of 1. Logarithms are rounded to units, so that those that only differ by
// rounding are ties.
const unitsPerLog = 1e12

// pairs are the Walsh averages of logarithms or, with a baseline, the differences between a logarithm of candidate and one of
// baseline, in units. There are up to 40,000 of them for 400 logarithms, and 4,096 comparisons in a round: they are counted, not
// kept. They grow with both logarithms, so that a pass over both counts those that are at most a value.
type pairs struct {
	// The finite logarithms in ascending order. baseline is nil for averages.
	baseline, candidate []float64
	// minus and plus are the numbers of pairs that are -Inf and +Inf, zeros that of the differences between two logarithms of 0.
	minus, plus, zeros int
	// finite is the number of the others, and of zeros.
	finite int
}

// averages returns the Walsh averages of logarithms, and how many are unknown: those of NaN, or of -Inf and +Inf.
func averages(logs []float64) (p *pairs, unknown int) {
	finite, minus, plus := apart(logs)
	n, f := len(logs), len(finite)
	p = &pairs{candidate: finite, minus: averagesOf(minus) + minus*f, plus: averagesOf(plus) + plus*f, finite: averagesOf(f)}
	return p, averagesOf(n) - p.len()
}

// averagesOf returns the number of Walsh averages of n values.
func averagesOf(n int) int { return n * (n + 1) / 2 }

// differences returns the differences between logarithms, and how many are unknown: those of NaN. No logarithm is +Inf. Two
// of -Inf don't differ.
func differences(baseline, candidate []float64) (p *pairs, unknown int) {
	x, noX, _ := apart(baseline)
	y, noY, _ := apart(candidate)
	p = &pairs{baseline: x, candidate: y, minus: len(x) * noY, plus: noX * len(y), zeros: noX * noY, finite: len(x)*len(y) + noX*noY}
	return p, len(baseline)*len(candidate) - p.len()
}

// apart returns the finite values in ascending order, and the numbers of those that are -Inf and +Inf.
func apart(values []float64) (finite []float64, minus, plus int) {
	finite = make([]float64, 0, len(values))
	for _, v := range values {
		switch {
		case math.IsInf(v, -1):
			minus++
		case math.IsInf(v, 1):
			plus++
		case !math.IsNaN(v):
			finite = append(finite, v)
		}
	}
	slices.Sort(finite)
	return finite, minus, plus
}

func (p *pairs) len() int { return p.minus + p.finite + p.plus }

func (p *pairs) at(position int) float64 {
	switch position -= p.minus; {
	case position < 0:
		return math.Inf(-1)
	case position >= p.finite:
		return math.Inf(1)
	}
	lowest, highest := p.ends()
	return float64(lowest+int64(sort.Search(int(highest-lowest), func(i int) bool { return p.count(float64(lowest+int64(i))) > position }))) / unitsPerLog
}

// atMost and below return how many of the pairs are at most, or below, a finite value.
func (p *pairs) atMost(value float64) int { return p.minus + p.count(math.Floor(value*unitsPerLog)) }
func (p *pairs) below(value float64) int  { return p.minus + p.count(math.Ceil(value*unitsPerLog)-1) }

// ends returns the lowest and the highest of the finite pairs, in units.
func (p *pairs) ends() (lowest, highest int64) {
	if n := len(p.candidate); n > 0 && p.baseline == nil {
		return int64(units(p.candidate[0])), int64(units(p.candidate[n-1]))
	}
	if n, m := len(p.candidate), len(p.baseline); n > 0 && m > 0 {
		lowest, highest = int64(units(p.candidate[0]-p.baseline[m-1])), int64(units(p.candidate[n-1]-p.baseline[0]))
	}
	if p.zeros > 0 {
		lowest, highest = min(lowest, 0), max(highest, 0)
	}
	return lowest, highest
}

// count returns how many of the finite pairs are at most so many units.
func (p *pairs) count(most float64) int {
	n := 0
	if p.zeros > 0 && most >= 0 {
		n = p.zeros
	}
	if p.baseline == nil {
		for i, j := 0, len(p.candidate)-1; i <= j; i++ {
			for j >= i && units((p.candidate[i]+p.candidate[j])/2) > most {
				j--
			}
			n += j - i + 1
		}
		return n
	}
	j := 0
	for _, c := range p.candidate {
		for j < len(p.baseline) && units(c-p.baseline[j]) > most {
			j++
		}
		n += len(p.baseline) - j
	}
	return n
}

func units(log float64) float64 { return math.Round(log * unitsPerLog) }
