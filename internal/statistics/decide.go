package statistics

import "math"

// Direction says which values of a metric are better.
type Direction string

// The directions.
const (
	Lower  Direction = "Lower"  // latencies, CPU time
	Higher Direction = "Higher" // throughput
)

// Verdict is the decision of a gate.
type Verdict string

// The verdicts, from the best to the worst.
const (
	Passed       Verdict = "Passed"
	Inconclusive Verdict = "Inconclusive"
	Failed       Verdict = "Failed"
)

// Word describes an effect. Unlike a verdict it looks at both ends of the interval.
type Word string

// The words.
const (
	Better       Word = "better"
	Worse        Word = "worse"
	NoDifference Word = "no difference"
	CantTell     Word = "can't tell yet"
)

// Rule says by how much a metric may differ. The tolerance is in percent of the baseline in both
// directions: 5 means the ratios 0.95 to 1.05, ends included.
type Rule struct {
	Better           Direction
	TolerancePercent float64 // 0 <= TolerancePercent < 100
}

// bounds returns the ratios within which a difference doesn't matter.
func (r Rule) bounds() (low, high float64) {
	return max(0, 1-r.TolerancePercent/100), 1 + r.TolerancePercent/100
}

// Decide returns the verdict on an effect and the word for it. If the whole interval is beyond the
// tolerance on the bad side, the verdict is Failed. If its bad end is within the tolerance or on its
// good side, it is Passed. Otherwise it is Inconclusive, and so for an unbounded interval.
func (r Rule) Decide(e Effect) (Verdict, Word) {
	low, high := r.bounds()
	below, above := less(e.High, low), less(high, e.Low) // the whole interval
	notBelow, notAbove := !less(e.Low, low), !less(high, e.High)
	worse, better, notWorse := above, below, notAbove
	if r.Better == Higher {
		worse, better, notWorse = below, above, notBelow
	}

	verdict, word := Inconclusive, CantTell
	switch {
	case worse:
		verdict = Failed
	case notWorse:
		verdict = Passed
	}
	switch {
	case worse:
		word = Worse
	case better:
		word = Better
	case notBelow && notAbove:
		word = NoDifference
	}
	return verdict, word
}

// less compares ratios. Those that differ by less than 1e-9 are equal: a difference of exactly the
// tolerance is within it, however its logarithm was rounded.
func less(a, b float64) bool {
	return a < b && (math.IsInf(b, 1) || b-a > 1e-9)
}
