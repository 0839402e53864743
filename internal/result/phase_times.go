package result

import (
	"encoding/json"
	"fmt"
)

// PhaseTime holds the durations of a phase in some seconds, as far as they can be joined with those of
// other seconds and clients without their distribution.
type PhaseTime struct {
	// Count is the number of durations, Sum and Max are their sum and the longest, in microseconds.
	Count int64 `json:"count"`
	Sum   int64 `json:"sumMicroseconds"`
	Max   int64 `json:"maxMicroseconds"`
}

// Mean returns the mean duration in microseconds; 0 without durations.
func (p PhaseTime) Mean() float64 { return ratio(p.Sum, p.Count, 1) }

// PhaseTimes are the times of successful requests by Phase.
type PhaseTimes [Phases]PhaseTime

// Times returns the times of the histograms.
func (l *Latencies) Times() PhaseTimes {
	var times PhaseTimes
	for p, h := range l {
		if h != nil && h.Count() > 0 {
			times[p] = PhaseTime{Count: h.Count(), Sum: h.Sum(), Max: h.Max()}
		}
	}
	return times
}

// Add adds the times of other seconds, or of another client.
func (t *PhaseTimes) Add(other *PhaseTimes) {
	for p := range t {
		if other[p].Count == 0 {
			continue
		}
		if t[p].Count == 0 {
			t[p] = other[p]
			continue
		}
		t[p].Count, t[p].Sum, t[p].Max = Plus(t[p].Count, other[p].Count), Plus(t[p].Sum, other[p].Sum), max(t[p].Max, other[p].Max)
	}
}

// phaseValues is the number of values of a phase in messages.
const phaseValues = 3

// Values returns the values of each phase: count, sum and maximum.
func (t *PhaseTimes) Values() []int64 {
	values := make([]int64, 0, phaseValues*len(t))
	for _, p := range t {
		values = append(values, p.Count, p.Sum, p.Max)
	}
	return values
}

// Set is the inverse of Values. Phases that only a later version has are ignored, missing ones have no
// durations. It returns an error for values that cannot be. Durations of open load from the intended start
// may be negative by some microseconds.
func (t *PhaseTimes) Set(values []int64) error {
	if len(values) > maxFigures {
		return fmt.Errorf("%d values of phases, must be at most %d", len(values), maxFigures)
	}
	*t = PhaseTimes{}
	for p := range t {
		if len(values) < phaseValues*(p+1) {
			break
		}
		v := values[phaseValues*p:]
		for _, value := range v[:phaseValues] {
			if value < -maxFigure || value > maxFigure {
				return fmt.Errorf("%s must be from %d to %d, not %d", Phase(p), -int64(maxFigure), int64(maxFigure), value)
			}
		}
		if v[0] < 0 || v[0] == 0 && (v[1] != 0 || v[2] != 0) {
			return fmt.Errorf("%s: %d durations with the sum %d, the longest %d", Phase(p), v[0], v[1], v[2])
		}
		t[p] = PhaseTime{v[0], v[1], v[2]}
	}
	return nil
}

// MarshalJSON writes the phases that occurred by name.
func (t PhaseTimes) MarshalJSON() ([]byte, error) {
	return json.Marshal(named[Phase](t[:], func(p PhaseTime) bool { return p.Count > 0 }))
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (t *PhaseTimes) UnmarshalJSON(data []byte) error { return setNamed[Phase](t[:], data) }
