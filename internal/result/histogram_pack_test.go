package result

import (
	"encoding/base64"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// libraryBuckets returns what HdrHistogram's library packs the buckets of a histogram to.
func libraryBuckets(t testing.TB, buckets *hdrhistogram.Histogram) string {
	t.Helper()
	whole := hdrhistogram.New(LowestMicroseconds, HighestMicroseconds, SignificantDigits)
	whole.Merge(buckets)
	text, err := whole.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestPackedAsByTheLibrary(t *testing.T) {
	histograms := []*Histogram{
		of(0), of(0, 1, 3), of(1, 3, 6, 10), of(2047, 2048, 2050), of(9_000_000_000), of(1, HighestMicroseconds),
		of(skewed(3, 10_000)...), of(skewed(4, 100)...),
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		h := NewHistogram()
		for range random.IntN(50) + 1 {
			h.Record(random.Int64N(1 << random.IntN(33)))
		}
		histograms = append(histograms, h)
	}
	for bits := range 63 { // counts of each length
		h := of(5)
		for _, n := range []int64{1 << bits, 1<<bits - 1} {
			if err := h.buckets.RecordValues(100+int64(bits), n/2); err != nil {
				t.Fatal(err)
			}
		}
		histograms = append(histograms, h)
	}
	for i, h := range histograms {
		packed, err := packBuckets(h.buckets.Export().Counts)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := base64.StdEncoding.EncodeToString(packed), libraryBuckets(t, h.buckets); got != want {
			t.Errorf("histogram %d:\n got %s\nwant %s", i, got, want)
		}
	}
}

func TestNumbersOfNineBytes(t *testing.T) {
	want := []byte{0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	if got := appendNumber(nil, math.MaxInt64); string(got) != string(want) {
		t.Errorf("got %x, want %x", got, want)
	}
}

// BenchmarkEncode shows the time and the memory that it takes to encode a histogram.
func BenchmarkEncode(b *testing.B) {
	h := of(skewed(3, 10_000)...)
	for name, encode := range map[string]func(){
		"packed":  func() { _, _ = h.Encode() },
		"library": func() { libraryBuckets(b, h.buckets) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				encode()
			}
		})
	}
}

// TestPackedHistogramsMerge checks that a packed histogram merges as the same one that isn't, without unpacking its buckets.
func TestPackedHistogramsMerge(t *testing.T) {
	for name, values := range map[string][]int64{
		"one": {7}, "zero and clamped": {0, -3, HighestMicroseconds, 2 * HighestMicroseconds}, "short": {1, 2, 2047, 2048, 2049},
		"wide": {0, 1, 999, 1000, 123_456, 7_654_321, HighestMicroseconds - 1},
	} {
		t.Run(name, func(t *testing.T) {
			open, packed := NewHistogram(), NewHistogram()
			for _, v := range values {
				open.Record(v)
				packed.Record(v)
			}
			packed.Pack()
			want, got := NewHistogram(), NewHistogram()
			for _, v := range []int64{5, 5000, 70_000} {
				want.Record(v)
				got.Record(v)
			}
			want.Merge(open)
			got.Merge(packed)
			if packed.buckets != nil {
				t.Error("the packed histogram was unpacked")
			}
			wanted, err := want.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if merged, err := got.Encode(); err != nil || !reflect.DeepEqual(merged, wanted) {
				t.Errorf("%+v, %v, want %+v", merged, err, wanted)
			}
			if n := testing.AllocsPerRun(100, func() { got.Merge(packed) }); n > 8 {
				t.Errorf("%v allocations", n)
			}
		})
	}
}
