package result

import (
	"encoding/json"
	"fmt"

	"github.com/assay-dev/assay/internal/percentile"
)

// PhaseTime holds the durations of a phase in some seconds. Count, Sum and Max can be joined with those of other
// seconds and clients without their distribution.
type PhaseTime struct {
	// Count is the number of durations, Sum and Max are their sum and the longest, in microseconds.
	Count int64 `json:"count"`
	Sum   int64 `json:"sumMicroseconds"`
	Max   int64 `json:"maxMicroseconds"`
	// PhasePercentiles is nil if the percentiles are unknown: of a client's second, and where several seconds were
	// joined without their distribution.
	*PhasePercentiles
}

// PhasePercentiles are percentiles of the durations of a phase, in microseconds. They are accurate to 0.1% if they come
// from a Histogram and to 1.6% if they come from a Sketch.
type PhasePercentiles struct {
	P50 int64 `json:"p50Microseconds"`
	P90 int64 `json:"p90Microseconds"`
	P99 int64 `json:"p99Microseconds"`
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

// SetExact sets the percentiles of the phases to those of their histograms. They are unknown if a histogram doesn't
// have all durations.
func (t *PhaseTimes) SetExact(l *Latencies) {
	for p, h := range l {
		t[p].PhasePercentiles = nil
		if h != nil && h.Count() == t[p].Count && h.Count() > 0 {
			all := h.Summarize(0).Percentiles
			t[p].PhasePercentiles = &PhasePercentiles{P50: all[percentile.P50], P90: all[percentile.P90], P99: all[percentile.P99]}
		}
	}
}

// Add adds the times of other seconds, or of another client. The percentiles of a phase that occurred in both become
// unknown.
func (t *PhaseTimes) Add(other *PhaseTimes) {
	for p := range t {
		if other[p].Count == 0 {
			continue
		}
		if t[p].Count == 0 {
			t[p] = other[p]
			continue
		}
		t[p] = PhaseTime{Count: Plus(t[p].Count, other[p].Count), Sum: Plus(t[p].Sum, other[p].Sum), Max: max(t[p].Max, other[p].Max)}
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

// Set is the inverse of Values. It returns an error for values that cannot be. Durations of open load from the intended
// start may be negative by some microseconds.
func (t *PhaseTimes) Set(values []int64) error {
	if len(values) != phaseValues*len(t) {
		return fmt.Errorf("%d values of phases, must be %d", len(values), phaseValues*len(t))
	}
	for p := range t {
		v := values[phaseValues*p:]
		for _, value := range v[:phaseValues] {
			if value < -maxMetric || value > maxMetric {
				return fmt.Errorf("%s must be from %d to %d, not %d", Phase(p), -int64(maxMetric), int64(maxMetric), value)
			}
		}
		if v[0] < 0 || v[0] == 0 && (v[1] != 0 || v[2] != 0) {
			return fmt.Errorf("%s: %d durations with the sum %d, the longest %d", Phase(p), v[0], v[1], v[2])
		}
		t[p] = PhaseTime{Count: v[0], Sum: v[1], Max: v[2]}
	}
	return nil
}

// MarshalJSON writes the phases that occurred by name.
func (t PhaseTimes) MarshalJSON() ([]byte, error) {
	return json.Marshal(named[Phase](t[:], func(p PhaseTime) bool { return p.Count > 0 }))
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (t *PhaseTimes) UnmarshalJSON(data []byte) error { return setNamed[Phase](t[:], data) }
