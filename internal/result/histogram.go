package result

import (
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/assay-dev/assay/internal/percentile"
)

// The geometry of every histogram: 1 µs to 2 h with three significant digits, so that a value is
// known to within 0.1%. Two hours are twice the longest timeout that the API allows: under open
// load a request may wait for a connection as long as it may then take.
const (
	LowestMicroseconds  = 1
	HighestMicroseconds = 7_200_000_000
	SignificantDigits   = 3
)

// firstRange is the largest value in microseconds for which a histogram has
// buckets at first. Buckets up to 1 s take 90 kB, those up to 2 h 197 kB.
const firstRange = 1<<20 - 1

// Histogram is a distribution of durations in whole microseconds: an HDR
// histogram (http://hdrhistogram.org) with the exact count, sum, minimum and
// maximum. A value outside the geometry enters the buckets at the nearest end and
// is counted in Clamped; the exact metrics include it unclamped.
//
// The zero value is an empty histogram. A Histogram is not safe for concurrent use.
type Histogram struct {
	// buckets is nil while the histogram is empty or packed; see Pack. They cover
	// only a part of the geometry until a larger value is recorded.
	buckets *hdrhistogram.Histogram
	// packed is the encoded form of the buckets, nil if there is none.
	packed  []byte
	count   int64
	sum     int64
	min     int64
	max     int64
	clamped int64
}

// NewHistogram returns an empty histogram.
func NewHistogram() *Histogram { return &Histogram{} }

// Record adds a duration in microseconds.
func (h *Histogram) Record(microseconds int64) {
	if h.count == 0 || microseconds < h.min {
		h.min = microseconds
	}
	h.count++
	h.sum += microseconds
	h.max = max(h.max, microseconds)
	bucket := min(max(microseconds, 0), HighestMicroseconds)
	if bucket != microseconds {
		h.clamped++
	}
	if h.buckets == nil || h.packed != nil || bucket > h.buckets.HighestTrackableValue() {
		h.cover(bucket)
	}
	// The buckets cover the value, so recording it cannot fail.
	_ = h.buckets.RecordValue(bucket)
}

// Merge adds all durations of another histogram. The result is exactly the
// histogram of all durations pooled.
func (h *Histogram) Merge(other *Histogram) {
	if other == nil || other.count == 0 {
		return
	}
	h.cover(min(other.max, HighestMicroseconds))
	if other.buckets != nil {
		h.buckets.Merge(other.buckets)
	} else {
		unpackInto(h.buckets, other.packed)
	}
	if h.count == 0 || other.min < h.min {
		h.min = other.min
	}
	h.count = Plus(h.count, other.count)
	h.sum = Plus(h.sum, other.sum)
	h.max = max(h.max, other.max)
	h.clamped += other.clamped
}

// Reset empties the histogram and keeps the memory of its buckets.
func (h *Histogram) Reset() {
	buckets := h.buckets
	if buckets != nil {
		buckets.Reset()
	}
	*h = Histogram{buckets: buckets}
}

// cover unpacks the buckets and extends them until they cover a value within the
// geometry. They double, so that a growing series of values is copied seldom.
func (h *Histogram) cover(microseconds int64) {
	had := h.view()
	if had == nil || microseconds > had.HighestTrackableValue() {
		grown := bucketsUpTo(microseconds)
		if had != nil {
			grown.Merge(had)
		}
		had = grown
	}
	h.buckets, h.packed = had, nil
}

// bucketsUpTo returns empty buckets that cover a value within the geometry.
func bucketsUpTo(microseconds int64) *hdrhistogram.Histogram {
	covered := int64(firstRange)
	for covered < microseconds {
		covered = min(2*covered+1, HighestMicroseconds)
	}
	return hdrhistogram.New(LowestMicroseconds, covered, SignificantDigits)
}

// view returns the buckets for reading, nil if there are none.
func (h *Histogram) view() *hdrhistogram.Histogram {
	if h.buckets != nil || h.packed == nil {
		return h.buckets
	}
	buckets := bucketsUpTo(min(h.max, HighestMicroseconds))
	unpackInto(buckets, h.packed)
	return buckets
}

// unpackInto adds packed buckets to buckets, which cover them.
func unpackInto(buckets *hdrhistogram.Histogram, packed []byte) {
	eachBucket(packed, func(microseconds, n int64) { _ = buckets.RecordValues(microseconds, n) })
}

// Count returns the number of durations.
func (h *Histogram) Count() int64 { return h.count }

// Sum returns the sum of all durations in microseconds.
func (h *Histogram) Sum() int64 { return h.sum }

// Min returns the smallest duration in microseconds, or 0 if there is none.
func (h *Histogram) Min() int64 { return h.min }

// Max returns the largest duration in microseconds, or 0 if there is none.
func (h *Histogram) Max() int64 { return h.max }

// Clamped returns the number of durations outside the geometry.
func (h *Histogram) Clamped() int64 { return h.clamped }

// Mean returns the arithmetic mean in microseconds, or 0 if there is no duration.
func (h *Histogram) Mean() float64 { return ratio(h.sum, h.count, 1) }

// StdDev returns the standard deviation in microseconds, computed from the
// buckets, or 0 if there is no duration.
func (h *Histogram) StdDev() float64 {
	if h.count == 0 {
		return 0
	}
	return h.view().StdDev()
}

// Percentile returns the smallest recorded duration, in microseconds and to
// within the geometry, that at least p percent of all durations do not exceed;
// p is from 0 to 100. It never exceeds Max. It is 0 if there is no duration.
func (h *Histogram) Percentile(p float64) int64 {
	if h.count == 0 {
		return 0
	}
	return h.valueAtRank(percentile.Rank(p, h.count))
}

// valueAtRank returns the rank-th smallest duration, counted from 1, to within the geometry.
func (h *Histogram) valueAtRank(rank int64) int64 {
	return min(h.view().ValueAtPercentile(100*float64(rank)/float64(h.count)), h.max)
}

// Bars returns the buckets that are not empty, in ascending order. Their bounds are inclusive.
func (h *Histogram) Bars() []hdrhistogram.Bar {
	if h.count == 0 {
		return nil
	}
	return slices.DeleteFunc(h.view().Distribution(), func(b hdrhistogram.Bar) bool { return b.Count == 0 })
}
