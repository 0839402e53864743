package result

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The geometry that every histogram has: from 1 µs to 60 s, three significant
// digits, so that a value is known to within 0.1 %.
const (
	LowestMicroseconds  = 1
	HighestMicroseconds = 60_000_000
	SignificantDigits   = 3
)

// Histogram is a distribution of durations in whole microseconds: an HDR
// histogram (http://hdrhistogram.org) and, beside it, the exact count, sum,
// minimum and maximum. A value outside the geometry enters the buckets at the
// nearest end and is counted in Clamped; the exact figures have it unclamped.
//
// The zero value isn't usable; see NewHistogram. It isn't safe for concurrent
// use.
type Histogram struct {
	// buckets is nil while they are packed; see Pack.
	buckets *hdrhistogram.Histogram
	packed  string
	count   int64
	sum     int64
	min     int64
	max     int64
	clamped int64
}

// NewHistogram returns an empty histogram.
func NewHistogram() *Histogram {
	return &Histogram{
		buckets: hdrhistogram.New(LowestMicroseconds, HighestMicroseconds, SignificantDigits),
		min:     math.MaxInt64,
	}
}

// Record adds a duration in microseconds.
func (h *Histogram) Record(microseconds int64) {
	h.count++
	h.sum += microseconds
	h.min = min(h.min, microseconds)
	h.max = max(h.max, microseconds)
	bucket := microseconds
	if bucket < 0 {
		bucket = 0
	} else if bucket > HighestMicroseconds {
		bucket = HighestMicroseconds
	}
	if bucket != microseconds {
		h.clamped++
	}
	if h.buckets == nil {
		h.unpack()
	}
	// The value is within the geometry, so that recording it can't fail.
	_ = h.buckets.RecordValue(bucket)
}

// Merge adds all durations of another histogram. Nothing is lost by it: the
// result is the histogram of all durations pooled.
func (h *Histogram) Merge(other *Histogram) {
	if other == nil || other.count == 0 {
		return
	}
	if h.buckets == nil {
		h.unpack()
	}
	h.buckets.Merge(other.view())
	h.count += other.count
	h.sum += other.sum
	h.min = min(h.min, other.min)
	h.max = max(h.max, other.max)
	h.clamped += other.clamped
}

// Reset empties the histogram.
func (h *Histogram) Reset() {
	if h.buckets == nil {
		h.packed = ""
		h.unpack()
	}
	h.buckets.Reset()
	h.count, h.sum, h.min, h.max, h.clamped = 0, 0, math.MaxInt64, 0, 0
}

// Pack makes the histogram small, some kB instead of 140, until something is
// recorded in it or merged into it. Reading its percentiles then takes longer.
func (h *Histogram) Pack() error {
	if h.buckets == nil {
		return nil
	}
	e, err := h.Encode()
	if err != nil {
		return err
	}
	h.packed, h.buckets = e.HDR, nil
	return nil
}

func (h *Histogram) unpack() { h.buckets, h.packed = h.view(), "" }

// view returns the buckets for reading.
func (h *Histogram) view() *hdrhistogram.Histogram {
	if h.buckets != nil {
		return h.buckets
	}
	if h.packed != "" {
		// What is packed was encoded or checked here, so that it can be decoded.
		if buckets, err := hdrhistogram.Decode([]byte(h.packed)); err == nil {
			return buckets
		}
	}
	return hdrhistogram.New(LowestMicroseconds, HighestMicroseconds, SignificantDigits)
}

// Count is the number of durations.
func (h *Histogram) Count() int64 { return h.count }

// Sum is the sum of all durations in microseconds.
func (h *Histogram) Sum() int64 { return h.sum }

// Min is the smallest duration in microseconds, 0 when there is none.
func (h *Histogram) Min() int64 {
	if h.count == 0 {
		return 0
	}
	return h.min
}

// Max is the largest duration in microseconds, 0 when there is none.
func (h *Histogram) Max() int64 { return h.max }

// Clamped is the number of durations outside the geometry.
func (h *Histogram) Clamped() int64 { return h.clamped }

// Mean is the arithmetic mean in microseconds, 0 when there is no duration.
func (h *Histogram) Mean() float64 {
	if h.count == 0 {
		return 0
	}
	return float64(h.sum) / float64(h.count)
}

// StdDev is the standard deviation in microseconds, from the buckets.
func (h *Histogram) StdDev() float64 {
	if h.count == 0 {
		return 0
	}
	return h.view().StdDev()
}

// Percentile is the smallest recorded duration, in microseconds and to within
// the geometry, that at least p percent of all durations don't exceed; p is
// from 0 to 100. It never exceeds Max. It is 0 when there is no duration.
func (h *Histogram) Percentile(p float64) int64 {
	if h.count == 0 {
		return 0
	}
	return h.valueAtRank(percentileRank(p, h.count))
}

// percentileRank is the rank, from 1 to n, of the value that at least p percent
// of n values don't exceed: p percent of n, rounded up (the nearest-rank
// method). HdrHistogram rounds to the nearest rank instead, which may be one
// lower.
func percentileRank(p float64, n int64) int64 {
	// A product such as 99.9 percent of 1000 may come out just above the whole
	// number that it is.
	const productError = 1e-12
	rank := int64(math.Ceil(p * float64(n) / 100 * (1 - productError)))
	return min(max(rank, 1), n)
}

// valueAtRank is the rank-th smallest duration, counted from 1, to within the
// geometry.
func (h *Histogram) valueAtRank(rank int64) int64 {
	return min(h.view().ValueAtPercentile(100*float64(rank)/float64(h.count)), h.max)
}

// Bar is the number of durations from From to To, both included, in
// microseconds.
type Bar struct {
	From, To, Count int64
}

// Bars returns the buckets that aren't empty, in ascending order.
func (h *Histogram) Bars() []Bar {
	var bars []Bar
	for _, b := range h.view().Distribution() {
		if b.Count > 0 {
			bars = append(bars, Bar{From: b.From, To: b.To, Count: b.Count})
		}
	}
	return bars
}

// Encoded is a histogram in a form that can be stored and sent.
type Encoded struct {
	// HDR is the buckets in HdrHistogram's V2 compressed format, in base64, as
	// every HdrHistogram library reads it.
	HDR string `json:"hdr,omitempty"`
	// Count, Sum, Min, Max and Clamped are the exact figures, in microseconds.
	Count   int64 `json:"count"`
	Sum     int64 `json:"sumMicroseconds"`
	Min     int64 `json:"minMicroseconds"`
	Max     int64 `json:"maxMicroseconds"`
	Clamped int64 `json:"clamped"`
}

// Encode returns the histogram in a form that can be stored and sent.
func (h *Histogram) Encode() (Encoded, error) {
	e := Encoded{Count: h.count, Sum: h.sum, Min: h.Min(), Max: h.max, Clamped: h.clamped}
	if h.count == 0 {
		return e, nil
	}
	if h.buckets == nil {
		e.HDR = h.packed
		return e, nil
	}
	hdr, err := h.buckets.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return Encoded{}, fmt.Errorf("encode histogram: %w", err)
	}
	e.HDR = string(hdr)
	return e, nil
}

// Decode is the inverse of Encode. It refuses what no histogram of this
// package encodes to: another geometry, or buckets that disagree with the
// exact figures.
func Decode(e Encoded) (*Histogram, error) {
	if e.Count == 0 {
		if e.HDR != "" || e.Sum != 0 || e.Max != 0 || e.Clamped != 0 {
			return nil, fmt.Errorf("decode histogram: figures without a count")
		}
		return NewHistogram(), nil
	}
	buckets, err := hdrhistogram.Decode([]byte(e.HDR))
	if err != nil {
		return nil, fmt.Errorf("decode histogram: %w", err)
	}
	if buckets.LowestTrackableValue() != LowestMicroseconds ||
		buckets.HighestTrackableValue() != HighestMicroseconds ||
		buckets.SignificantFigures() != SignificantDigits {
		return nil, fmt.Errorf("decode histogram: geometry %d to %d with %d digits, want %d to %d with %d",
			buckets.LowestTrackableValue(), buckets.HighestTrackableValue(), buckets.SignificantFigures(),
			LowestMicroseconds, HighestMicroseconds, SignificantDigits)
	}
	if buckets.TotalCount() != e.Count || e.Clamped < 0 || e.Clamped > e.Count || e.Min > e.Max {
		return nil, fmt.Errorf("decode histogram: %d durations in the buckets, %d counted, %d clamped, from %d to %d",
			buckets.TotalCount(), e.Count, e.Clamped, e.Min, e.Max)
	}
	return &Histogram{buckets: buckets, count: e.Count, sum: e.Sum, min: e.Min, max: e.Max, clamped: e.Clamped}, nil
}

// MarshalJSON writes the histogram as an Encoded.
func (h *Histogram) MarshalJSON() ([]byte, error) {
	e, err := h.Encode()
	if err != nil {
		return nil, err
	}
	return json.Marshal(e)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (h *Histogram) UnmarshalJSON(data []byte) error {
	var e Encoded
	if err := json.Unmarshal(data, &e); err != nil {
		return fmt.Errorf("decode histogram: %w", err)
	}
	decoded, err := Decode(e)
	if err != nil {
		return err
	}
	*h = *decoded
	h.packed, h.buckets = e.HDR, nil // what is read is seldom changed; see Pack
	return nil
}
