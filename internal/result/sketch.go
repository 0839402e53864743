package result

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"github.com/assay-dev/assay/internal/percentile"
)

// The geometry of every sketch. Up to 64 µs each whole number has a bucket, above that each power of two
// has 32. A histogram's buckets never cross the bounds of a sketch's, which are multiples of them.
const (
	sketchBits = 5
	// sketchBuckets is the number of buckets up to HighestMicroseconds.
	sketchBuckets = sketchWidths<<sketchBits + HighestMicroseconds>>sketchWidths + 1
	// sketchWidths is the number of the bucket widths that double, from 2 µs on.
	sketchWidths = 27
)

// Sketch is a coarse Histogram: some hundred bytes instead of some thousand, which merge a hundred times as
// fast. Sketches with the counts of several clients merge to that of all durations pooled. A percentile is
// the middle of its bucket, and so within 1/64 (1.6%) of the duration that has its rank. Durations outside the
// geometry of histograms are in the nearest bucket.
//
// Its form is that of the counts in HdrHistogram's V2 encoding: numbers in ZigZag LEB128, of which a positive one
// is the count of the next bucket and a negative one skips as many empty buckets. It ends with the last count.
// The zero value is empty. A Sketch from elsewhere must have been checked by Sketches.Set or UnmarshalJSON.
type Sketch []byte

// Sketch returns the sketch of the histogram.
func (h *Histogram) Sketch() Sketch {
	if h.count == 0 {
		return nil
	}
	var counts [sketchBuckets]int64
	add := func(microseconds, n int64) { counts[bucketIndex(microseconds, sketchBits)] += n }
	if h.buckets == nil {
		eachBucket(h.packed, add)
	} else {
		for i, n := range h.buckets.Export().Counts {
			if n > 0 {
				add(lowestOf(i, subBucketBits), n)
			}
		}
	}
	return Sketch(nil).with(counts[:])
}

// with returns the sketch of counts, in the memory of s if that is enough.
func (s Sketch) with(counts []int64) Sketch {
	s = s[:0]
	empty := int64(0)
	for _, n := range counts {
		if n == 0 {
			empty++
			continue
		}
		if empty > 0 {
			s = binary.AppendVarint(s, -empty)
			empty = 0
		}
		s = binary.AppendVarint(s, n)
	}
	return s
}

// Merge adds the durations of another sketch. The memory of s changes, that of other isn't kept. If there would be
// more durations than a sketch can count, s keeps its own.
func (s *Sketch) Merge(other Sketch) {
	if len(other) == 0 {
		return
	}
	var counts [sketchBuckets]int64
	a, err := scanBuckets(*s, len(counts), counts[:])
	if err != nil {
		return // cannot happen: with wrote it, or Sketches.Set checked it
	}
	b, err := scanBuckets(other, len(counts), counts[:])
	if err != nil || a.total+b.total > maxCount {
		return
	}
	*s = slices.Grow(*s, len(other)).with(counts[:max(a.last, b.last)+1])
}

// percentiles returns the percentiles of the durations, none above the longest. It returns nil unless there are as
// many as count.
func (s Sketch) percentiles(count, longest int64) *PhasePercentiles {
	var counts [sketchBuckets]int64
	if b, err := scanBuckets(s, len(counts), counts[:]); err != nil || b.total != count || count == 0 {
		return nil
	}
	at := func(p percentile.Percentile) int64 {
		rank, i := percentile.Rank(p.Percent(), count), 0
		for rank -= counts[0]; rank > 0; rank -= counts[i] {
			i++
		}
		lowest, next := lowestOf(i, sketchBits), lowestOf(i+1, sketchBits)
		return min(lowest+(next-lowest-1)/2, longest)
	}
	return &PhasePercentiles{P50: at(percentile.P50), P90: at(percentile.P90), P99: at(percentile.P99)}
}

// UnmarshalJSON reads a sketch from elsewhere, and returns an error for one that no histogram has.
func (s *Sketch) UnmarshalJSON(data []byte) error {
	var encoded []byte
	if err := json.Unmarshal(data, &encoded); err != nil {
		return fmt.Errorf("decode sketch: %w", err)
	}
	if _, err := scanBuckets(encoded, sketchBuckets, nil); err != nil {
		return fmt.Errorf("decode sketch: %w", err)
	}
	*s = encoded
	return nil
}

// Counts yields the lowest duration, in microseconds, and the count of each bucket that is not empty, in ascending order.
func (s Sketch) Counts() iter.Seq2[int64, int64] {
	return func(yield func(int64, int64) bool) {
		var counts [sketchBuckets]int64
		if _, err := scanBuckets(s, len(counts), counts[:]); err != nil {
			return // cannot happen: see Sketch
		}
		for i, n := range counts {
			if n > 0 && !yield(lowestOf(i, sketchBits), n) {
				return
			}
		}
	}
}
