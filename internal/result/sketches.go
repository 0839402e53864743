package result

import "fmt"

// Sketches are sketches by Phase. Those of the total are empty: its histogram is sent and kept.
type Sketches [Phases]Sketch

// Sketches returns the sketches of the histograms.
func (l *Latencies) Sketches() (s Sketches) {
	for p, h := range l {
		if h != nil && Phase(p) != Total {
			s[p] = h.Sketch()
		}
	}
	return s
}

// Merge adds the durations of other sketches; see Sketch.Merge.
func (s *Sketches) Merge(other *Sketches) {
	for p := range s {
		s[p].Merge(other[p])
	}
}

// Encoded returns the sketches as messages have them.
func (s *Sketches) Encoded() [][]byte {
	encoded := make([][]byte, len(s))
	for p := range s {
		encoded[p] = s[p]
	}
	return encoded
}

// Set is the inverse of Encoded. It keeps the bytes. A phase may have no sketch, or all none. It returns an error for a sketch that contradicts the number of durations or the longest.
func (s *Sketches) Set(encoded [][]byte, times *PhaseTimes) error {
	if len(encoded) != 0 && len(encoded) != len(s) {
		return fmt.Errorf("sketches of %d phases, must be %d", len(encoded), len(s))
	}
	*s = Sketches{}
	for p := range encoded {
		if len(encoded[p]) == 0 {
			continue
		}
		b, err := scanBuckets(encoded[p], sketchBuckets, nil)
		if err != nil {
			return fmt.Errorf("%s: %w", Phase(p), err)
		}
		t := &times[p]
		if b.total != t.Count || b.last != bucketIndex(min(max(t.Max, 0), HighestMicroseconds), sketchBits) {
			return fmt.Errorf("%s: %d durations up to bucket %d, of %d of which the longest takes %d µs", Phase(p), b.total, b.last, t.Count, t.Max)
		}
		s[p] = encoded[p]
	}
	return nil
}

// SetSketched sets the percentiles of the phases to those of sketches. They are unknown if a sketch doesn't have
// all durations, since some clients sent none.
func (t *PhaseTimes) SetSketched(s *Sketches) {
	for p := range t {
		t[p].PhasePercentiles = s[p].percentiles(t[p].Count, t[p].Max)
	}
}
