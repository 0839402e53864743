package result

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/HdrHistogram/hdrhistogram-go"
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
	// Every encoded histogram has the whole geometry, so that other programs can
	// merge them without loss.
	whole := hdrhistogram.New(LowestMicroseconds, HighestMicroseconds, SignificantDigits)
	whole.Merge(h.buckets)
	text, err := whole.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return Encoded{}, fmt.Errorf("encode histogram: %w", err)
	}
	if e.HDR, err = base64.StdEncoding.AppendDecode(nil, text); err != nil {
		return Encoded{}, fmt.Errorf("encode histogram: %w", err)
	}
	return e, nil
}

// Decode is the inverse of Encode. It rejects what no histogram of this package encodes to: another
// unit or precision, a wider range, or buckets that contradict the exact figures. It accepts a
// narrower range, since histograms of earlier versions end at 60 s.
func Decode(e Encoded) (*Histogram, error) {
	if e.Count == 0 {
		if len(e.HDR) != 0 || e.Sum != 0 || e.Max != 0 || e.Clamped != 0 {
			return nil, errors.New("decode histogram: figures without a count")
		}
		return NewHistogram(), nil
	}
	buckets, err := decodeBuckets(e.HDR)
	if err != nil {
		return nil, fmt.Errorf("decode histogram: %w", err)
	}
	if buckets.TotalCount() != e.Count || e.Clamped < 0 || e.Clamped > e.Count || e.Min > e.Max {
		return nil, fmt.Errorf("decode histogram: %d durations in the buckets, %d counted, %d clamped, from %d to %d",
			buckets.TotalCount(), e.Count, e.Clamped, e.Min, e.Max)
	}
	return &Histogram{buckets: buckets, packed: e.HDR, count: e.Count, sum: e.Sum, min: e.Min, max: e.Max, clamped: e.Clamped}, nil
}

// inflaters are readers of the header of encoded buckets.
var inflaters = sync.Pool{New: func() any { return flate.NewReader(nil) }}

// decodeBuckets decodes buckets in the V2 compressed format after checking that
// they fit the geometry, on which the memory that they take depends.
func decodeBuckets(hdr []byte) (*hdrhistogram.Histogram, error) {
	const cookieAndLength, zlibHeader = 8, 2
	if len(hdr) < cookieAndLength+zlibHeader || int64(binary.BigEndian.Uint32(hdr[4:])) != int64(len(hdr)-cookieAndLength) {
		return nil, fmt.Errorf("buckets of %d bytes are cut off or followed by others", len(hdr))
	}
	inflated := inflaters.Get().(io.Reader)
	defer inflaters.Put(inflated)
	if err := inflated.(flate.Resetter).Reset(bytes.NewReader(hdr[cookieAndLength+zlibHeader:]), nil); err != nil {
		return nil, err
	}
	var header struct {
		Cookie, PayloadLength, IndexOffset, Digits int32
		Lowest, Highest                            int64
	}
	if err := binary.Read(io.LimitReader(inflated, int64(binary.Size(header))), binary.BigEndian, &header); err != nil {
		return nil, err
	}
	if header.Lowest != LowestMicroseconds || header.Highest < 1 || header.Highest > HighestMicroseconds || header.Digits != SignificantDigits {
		return nil, fmt.Errorf("geometry %d to %d with %d digits, want %d to %d with %d",
			header.Lowest, header.Highest, header.Digits, LowestMicroseconds, HighestMicroseconds, SignificantDigits)
	}
	return hdrhistogram.Decode([]byte(base64.StdEncoding.EncodeToString(hdr)))
}

// Pack reduces the memory of the histogram from a hundred kB to a few until something is recorded
// in it or merged into it. Reading its percentiles then takes longer. A histogram that cannot be
// encoded, which only an error in this package can cause, stays as it is.
func (h *Histogram) Pack() {
	if e, err := h.Encode(); err == nil {
		h.packed, h.buckets = e.HDR, nil
	}
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
	h.buckets = nil // what is read is seldom changed
	return nil
}
