package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"slices"
)

// Encoded is a histogram in a form that can be stored and sent.
type Encoded struct {
	// HDR holds the buckets in HdrHistogram's V2 compressed format. In JSON it is
	// base64, as every HdrHistogram library reads it.
	HDR []byte `json:"hdr,omitempty"`
	// Count, Sum, Min, Max and Clamped are exact; durations are in microseconds.
	Count   int64 `json:"count"`
	Sum     int64 `json:"sumMicroseconds"`
	Min     int64 `json:"minMicroseconds"`
	Max     int64 `json:"maxMicroseconds"`
	Clamped int64 `json:"clamped"`
}

// Encode returns the histogram in a form that can be stored and sent. The caller
// must not change its bytes.
func (h *Histogram) Encode() (Encoded, error) {
	e := Encoded{HDR: h.packed, Count: h.count, Sum: h.sum, Min: h.min, Max: h.max, Clamped: h.clamped}
	if h.count == 0 || h.packed != nil {
		return e, nil
	}
	packed, err := packBuckets(h.buckets.Export().Counts)
	if err != nil {
		return Encoded{}, fmt.Errorf("encode histogram: %w", err)
	}
	e.HDR = packed
	return e, nil
}

// Decode is the inverse of Encode. It rejects what no histogram of this package encodes to: another
// unit or precision, a wider range, or buckets that contradict the exact metrics. It accepts a
// narrower range, in which shorter durations are encoded. The histogram is packed.
func Decode(e Encoded) (*Histogram, error) {
	if e.Count == 0 {
		if len(e.HDR) != 0 || e.Sum != 0 || e.Max != 0 || e.Clamped != 0 {
			return nil, errors.New("decode histogram: metrics without a count")
		}
		return NewHistogram(), nil
	}
	buckets, err := checkBuckets(e.HDR)
	if err != nil {
		return nil, fmt.Errorf("decode histogram: %w", err)
	}
	if buckets.total != e.Count || e.Clamped < 0 || e.Clamped > e.Count || !e.plausible() ||
		buckets.first != bucketOf(e.Min, buckets.highest) || buckets.last != bucketOf(e.Max, buckets.highest) {
		return nil, fmt.Errorf("decode histogram: %d durations in the buckets, %d counted, %d clamped, from %d to %d, with the sum %d",
			buckets.total, e.Count, e.Clamped, e.Min, e.Max, e.Sum)
	}
	return &Histogram{packed: e.HDR, count: e.Count, sum: e.Sum, min: e.Min, max: e.Max, clamped: e.Clamped}, nil
}

// plausible reports whether as many durations from Min to Max can have the sum.
func (e *Encoded) plausible() bool {
	if e.Min > e.Max || e.Min < -maxCount || e.Max < 0 || e.Max > maxCount || e.Sum < -maxSum || e.Sum > maxSum {
		return false
	}
	if e.Min < 0 || e.Max > HighestMicroseconds {
		return e.Clamped > 0
	}
	lowHigh, low := bits.Mul64(uint64(e.Count), uint64(e.Min))
	highHigh, high := bits.Mul64(uint64(e.Count), uint64(e.Max))
	return e.Sum >= 0 && lowHigh == 0 && low <= uint64(e.Sum) && (highHigh > 0 || uint64(e.Sum) <= high)
}

// Pack reduces the memory of the histogram from a hundred kB to a few until something is recorded
// in it or merged into it. Reading its percentiles then takes longer. A histogram that cannot be
// encoded, which only an error in this package can cause, stays as it is.
func (h *Histogram) Pack() {
	if e, err := h.Encode(); err == nil {
		h.packed, h.buckets = e.HDR, nil
	}
}

// Bytes returns about how much memory the buckets take, packed or not.
func (h *Histogram) Bytes() int {
	if h.buckets == nil {
		return len(h.packed)
	}
	return len(h.packed) + h.buckets.ByteSize()
}

// Recent holds the histograms that are not packed among many, the last used one last.
type Recent []*Histogram

// Use makes h the last used one. If that makes more than limit, the least recently
// used one is packed.
func (r *Recent) Use(h *Histogram, limit int) {
	*r = append(slices.DeleteFunc(*r, func(other *Histogram) bool { return other == h }), h)
	if len(*r) > limit {
		(*r)[0].Pack()
		*r = slices.Delete(*r, 0, 1)
	}
}

// MarshalJSON writes the histogram as an Encoded.
func (h *Histogram) MarshalJSON() ([]byte, error) {
	e, err := h.Encode()
	if err != nil {
		return nil, err
	}
	return json.Marshal(e)
}

// UnmarshalJSON reads what MarshalJSON wrote. The histogram is packed.
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
	return nil
}
