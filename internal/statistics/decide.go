package statistics

import "math"

// Verdict is the outcome of a claim.
type Verdict string

// The verdicts.
const (
	Confirmed    Verdict = "Confirmed"
	Contradicted Verdict = "Contradicted"
	Undecided    Verdict = "Undecided"
)

// Region holds the ratios with which a claim is true: from Low to High, ends included unless it is Open. 0 and +Inf are no
// bounds.
type Region struct {
	Low, High float64
	Open      bool
}

// Decide returns the verdict on a claim: Confirmed if the whole interval is in the region, Contradicted if none of it is, and
// Undecided otherwise, as for an unbounded interval.
func (r Region) Decide(i Interval) Verdict {
	inside := !less(i.Low, r.Low) && !less(r.High, i.High)
	outside := less(i.High, r.Low) || less(r.High, i.Low)
	if r.Open {
		low, high := r.Low > 0, !math.IsInf(r.High, 1)
		inside = (!low || less(r.Low, i.Low)) && (!high || less(i.High, r.High))
		outside = low && !less(r.Low, i.High) || high && !less(i.Low, r.High)
	}
	switch {
	case inside:
		return Confirmed
	case outside:
		return Contradicted
	}
	return Undecided
}

// edge returns the end of the region beyond which an effect is to be found, and whether that is above it: away from no
// difference.
func (r Region) edge() (bound float64, above bool) {
	if math.IsInf(r.High, 1) {
		return r.Low, r.Low > 1 || r.Low == 1 && r.Open
	}
	return r.High, r.High > 1 || r.High == 1 && !r.Open
}

// distance returns how far a logarithm is from the nearest end of the region.
func (r Region) distance(log float64) float64 {
	return min(math.Abs(log-math.Log(r.Low)), math.Abs(log-math.Log(r.High)))
}

// less compares ratios. Those that differ by less than 1e-9 are equal: a difference of exactly the
// tolerance is within it, however its logarithm was rounded.
func less(a, b float64) bool {
	return a < b && (math.IsInf(b, 1) || b-a > 1e-9)
}
