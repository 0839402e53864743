// Package search decides which load a capacity search tries next.
package search

import (
	"math"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
)

const (
	// growth is the factor from one load to the next until one fails. A smaller one needs more trials, and
	// each of them may stall.
	growth = 4
	// failuresToExplore is the number of trials that must fail before a load counts as failed: a stall
	// makes a trial fail that would pass, and nothing makes one pass that would fail.
	failuresToExplore = 2
	// majority is that of the three further trials that confirm a bound.
	majority = 2
	// spareTrials is the number of trials beyond those of a search without stalls and noise.
	spareTrials = 11
)

// MaxTrials returns the largest number of trials of a capacity search: one for each step of growth, two
// for each step of bisection, and 11 more to confirm the bounds and for what noise costs. It is 25 with
// a range of 1 to 100 and a precision of 5%, and at most 39.
func MaxTrials(c *v1alpha1.Capacity) int {
	steps := math.Ceil(math.Log(float64(c.Max)/float64(c.From)) / math.Log(growth))
	halvings := math.Ceil(math.Log2(math.Log(growth) / math.Log1p(precision(c))))
	return int(steps+2*halvings) + spareTrials
}

// precision returns the largest distance between the bounds, as a share of the lower one.
func precision(c *v1alpha1.Capacity) float64 {
	return float64(ptr.Deref(c.PrecisionPercent, 5)) / 100
}

// Trial is a load that a capacity search has tried.
type Trial struct {
	Load    int64
	Outcome benchmark.Outcome
}

// Step is the next step of a capacity search, or its result.
type Step struct {
	// Next is the load of the next trial; 0 if the search has ended.
	Next int64
	// Sustained is the largest load that was sustained, Failed the smallest above it that wasn't; 0 for
	// none. While the search goes on, they are the bounds so far.
	Sustained, Failed int64
	// Limit says what ended the search; empty while it goes on.
	Limit v1alpha1.CapacityLimit
}

// Next returns the next step of a capacity search, given all its trials in their order. The same trials
// always give the same step.
//
// Loads grow by a factor of 4 until one fails, in two trials. The bounds approach each other by
// bisection, at their geometric mean, until they are precisionPercent apart. Then each of them is tried
// again, the upper one first. A trial that agrees with those before confirms it; else a majority of three
// further trials decides. A bound that falls becomes the other bound. The load next to it, precisionPercent
// further, is tried first, because a bound mostly falls close to the capacity, and the search goes on up to
// the next load that has been tried, or by growth. What is confirmed is final.
//
// A load that saturates the clients is an upper bound as well, at once and without confirmation. If it is
// the last one, the clients are the limit.
func Next(c *v1alpha1.Capacity, trials []Trial) Step {
	s := search{from: c.From, most: c.Max, precision: precision(c), loads: map[int64]*load{}}
	for _, t := range trials {
		s.record(t)
	}
	step := s.next()
	if step.Next != 0 && len(trials) >= MaxTrials(c) {
		step.Next, step.Limit = 0, v1alpha1.LimitTrials
	}
	return step
}

type search struct {
	from, most int64
	precision  float64
	loads      map[int64]*load
}

// load is the state of one load of a search.
type load struct {
	failures  int // while it isn't decided
	decided   bool
	passed    bool // if it is decided
	saturated bool
	// The further trials.
	passes, fails int
	confirmed     bool
}

func (s *search) record(t Trial) {
	l := s.loads[t.Load]
	if l == nil {
		l = &load{}
		s.loads[t.Load] = l
	}
	passed := t.Outcome == benchmark.OutcomePassed
	switch {
	case t.Outcome == benchmark.OutcomeSaturated:
		l.decided, l.passed, l.saturated, l.confirmed = true, false, true, true
	case l.confirmed:
	case l.decided && passed:
		if l.passes++; l.passes == majority || l.passed && l.fails == 0 {
			l.passed, l.confirmed = true, true
		}
	case l.decided:
		if l.fails++; l.fails == majority || !l.passed && l.passes == 0 {
			l.passed, l.confirmed = false, true
		}
	case passed:
		l.decided, l.passed = true, true
	default:
		l.failures++
		l.decided = l.failures == failuresToExplore
	}
}

// bounds returns the smallest load that failed and the largest below it that passed; 0 for none.
func (s *search) bounds() (lower, upper int64) {
	for value, l := range s.loads {
		if l.decided && !l.passed && (upper == 0 || value < upper) {
			upper = value
		}
	}
	for value, l := range s.loads {
		if l.decided && l.passed && value > lower && (upper == 0 || value < upper) {
			lower = value
		}
	}
	return lower, upper
}

func (s *search) next() Step {
	lower, upper := s.bounds()
	step := Step{Sustained: lower, Failed: upper}
	for value, l := range s.loads {
		if !l.decided && (step.Next == 0 || value < step.Next) {
			step.Next = value
		}
	}
	switch {
	case step.Next != 0: // the load that failed once
	case lower == 0 && upper == 0:
		step.Next = s.from
	case upper == 0 && lower < s.most:
		step.Next = min(growth*lower, s.most)
	case lower != 0 && upper != 0 && float64(upper) > float64(lower)*(1+s.precision) && upper-lower > 1:
		at := math.Sqrt(float64(lower) * float64(upper))
		switch { // if a bound fell
		case s.loads[lower].confirmed:
			at = min(at, float64(lower)*(1+s.precision))
		case s.loads[upper].confirmed && !s.loads[upper].saturated:
			at = max(at, float64(upper)/(1+s.precision))
		}
		middle := int64(math.Round(at))
		step.Next = min(max(middle, lower+1), upper-1)
	case upper != 0 && !s.loads[upper].confirmed:
		step.Next = upper
	case lower != 0 && !s.loads[lower].confirmed:
		step.Next = lower
	case upper == 0:
		step.Limit = v1alpha1.LimitMaximum
	case s.loads[upper].saturated:
		step.Limit = v1alpha1.LimitClients
	default:
		step.Limit = v1alpha1.LimitServer
	}
	return step
}
