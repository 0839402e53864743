package result

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"
)

// sameHistogram compares histograms by everything that they encode to.
var sameHistogram = cmp.Comparer(func(a, b *Histogram) bool {
	if a == nil || b == nil {
		return a == b
	}
	ea, errA := a.Encode()
	eb, errB := b.Encode()
	return errA == nil && errB == nil && cmp.Equal(ea, eb)
})

func of(microseconds ...int64) *Histogram {
	h := NewHistogram()
	for _, d := range microseconds {
		h.Record(d)
	}
	return h
}

// skewed returns n durations from about a millisecond to hours.
func skewed(seed uint64, n int) []int64 {
	random := rand.New(rand.NewPCG(seed, seed))
	durations := make([]int64, n)
	for i := range durations {
		durations[i] = int64(3000 * math.Exp(4*random.NormFloat64()))
	}
	return durations
}

func TestHistogramKeepsExactMetrics(t *testing.T) {
	durations := skewed(1, 50_000)
	h := of(durations...)
	var sum, clamped int64
	for _, d := range durations {
		sum += d
		if d > HighestMicroseconds {
			clamped++
		}
	}
	if clamped == 0 {
		t.Fatal("the durations are too short for this test")
	}
	got := []int64{h.Count(), h.Sum(), h.Min(), h.Max(), h.Clamped()}
	want := []int64{50_000, sum, slices.Min(durations), slices.Max(durations), clamped}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("count, sum, min, max, clamped (-want +got):\n%s", diff)
	}
	if want := float64(sum) / 50_000; h.Mean() != want {
		t.Errorf("mean %g, want %g", h.Mean(), want)
	}
}

func TestPercentilesAreWithinTheGeometry(t *testing.T) {
	for _, n := range []int{1, 2, 3, 10, 99, 100, 101, 1000, 54_321} {
		durations := skewed(uint64(n), n)
		for i := range durations {
			durations[i] = min(durations[i], HighestMicroseconds)
		}
		h := of(durations...)
		slices.Sort(durations)
		for _, p := range []float64{0, 0.1, 1, 34, 50, 66, 75, 80, 90, 95, 98, 99, 99.9, 99.99, 100} {
			rank := 1
			for float64(rank)*100 < p*float64(n)*(1-1e-12) {
				rank++
			}
			exact := float64(durations[rank-1])
			if got := float64(h.Percentile(p)); got < exact || got > exact*1.001 {
				t.Errorf("of %d durations, percentile %g is %g, want %g to within 0.1 %%", n, p, got, exact)
			}
		}
	}
}

func TestPercentileNeverExceedsMax(t *testing.T) {
	h := of(1_000_003)
	if got := h.Percentile(50); got != 1_000_003 {
		t.Errorf("median of one duration %d", got)
	}
}

func TestClamping(t *testing.T) {
	for name, tc := range map[string]struct {
		duration, clamped, percentile int64
	}{
		"zero":          {0, 0, 0},
		"lowest":        {LowestMicroseconds, 0, 1},
		"highest":       {HighestMicroseconds, 0, HighestMicroseconds},
		"above highest": {HighestMicroseconds + 1, 1, HighestMicroseconds},
		"negative":      {-1, 1, -1},
	} {
		t.Run(name, func(t *testing.T) {
			h := of(tc.duration)
			if h.Clamped() != tc.clamped || h.Min() != tc.duration {
				t.Errorf("clamped %d, min %d", h.Clamped(), h.Min())
			}
			if got := h.Percentile(50); math.Abs(float64(got-tc.percentile)) > 0.001*float64(HighestMicroseconds) {
				t.Errorf("median %d", got)
			}
		})
	}
}

func TestMergedEqualsPooledBucketForBucket(t *testing.T) {
	pooled, merged := NewHistogram(), NewHistogram()
	for client := range uint64(5) {
		durations := skewed(client+10, 20_000)
		for _, d := range durations {
			pooled.Record(d)
		}
		merged.Merge(of(durations...))
	}
	merged.Merge(nil)
	merged.Merge(NewHistogram())
	if diff := cmp.Diff(pooled.Bars(), merged.Bars()); diff != "" {
		t.Errorf("buckets (-pooled +merged):\n%s", diff)
	}
	if diff := cmp.Diff(pooled, merged, sameHistogram); diff != "" {
		t.Errorf("(-pooled +merged):\n%s", diff)
	}
	var count int64
	for _, bar := range merged.Bars() {
		if bar.From > bar.To || bar.Count < 1 {
			t.Fatalf("bar %+v", bar)
		}
		count += bar.Count
	}
	if count != 100_000 {
		t.Errorf("%d durations in the buckets", count)
	}
}

func TestEmptyHistogram(t *testing.T) {
	h := of(5, 6)
	h.Reset()
	for name, h := range map[string]*Histogram{"new": NewHistogram(), "reset": h} {
		if h.Count() != 0 || h.Min() != 0 || h.Max() != 0 || h.Mean() != 0 || h.StdDev() != 0 || h.Percentile(99) != 0 || h.Bars() != nil {
			t.Errorf("%s: has metrics", name)
		}
	}
	h.Record(7)
	if diff := cmp.Diff(of(7), h, sameHistogram); diff != "" {
		t.Errorf("used again after a reset:\n%s", diff)
	}
}

func TestEncodedHistogramRoundTrips(t *testing.T) {
	for name, want := range map[string]*Histogram{
		"empty": NewHistogram(), "one": of(42), "clamped": of(1, 9_000_000_000), "many": of(skewed(3, 10_000)...),
	} {
		t.Run(name, func(t *testing.T) {
			data, err := json.Marshal(want)
			if err != nil {
				t.Fatal(err)
			}
			got := NewHistogram()
			if err := json.Unmarshal(data, got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, sameHistogram); diff != "" {
				t.Error(diff)
			}
			got.Record(5)
			want.Record(5)
			if diff := cmp.Diff(want.Bars(), got.Bars()); diff != "" {
				t.Errorf("after one more duration: %s", diff)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	good, err := of(100, 200).Encode()
	if err != nil {
		t.Fatal(err)
	}
	other := hdrhistogram.New(1, 1_000_000, 2)
	if err := other.RecordValues(100, 2); err != nil {
		t.Fatal(err)
	}
	wider := hdrhistogram.New(LowestMicroseconds, HighestMicroseconds+1, SignificantDigits)
	if err := wider.RecordValues(100, 2); err != nil {
		t.Fatal(err)
	}
	beyond, err := of(HighestMicroseconds + 5).Encode()
	if err != nil {
		t.Fatal(err)
	}
	negative, err := of(-5, 3).Encode()
	if err != nil {
		t.Fatal(err)
	}
	many := func(counts ...int64) *hdrhistogram.Histogram {
		h := hdrhistogram.New(LowestMicroseconds, HighestMicroseconds, SignificantDigits)
		for i, n := range counts {
			if err := h.RecordValues(int64(100+i), n); err != nil {
				t.Fatal(err)
			}
		}
		return h
	}
	for name, tc := range map[string]struct {
		change func(*Encoded)
		want   string
	}{
		"metrics without a count": {func(e *Encoded) { e.Count = 0 }, "without a count"},
		"a negative count":        {func(e *Encoded) { e.Count = -2 }, "counted"},
		"another count":           {func(e *Encoded) { e.Count = 3 }, "2 durations in the buckets, 3 counted"},
		"more clamped than there": {func(e *Encoded) { e.Clamped = 3 }, "3 clamped"},
		"fewer clamped than none": {func(e *Encoded) { e.Clamped = -1 }, "-1 clamped"},
		"a minimum above the max": {func(e *Encoded) { e.Min = 201 }, "from 201 to 200"},
		"another geometry":        {func(e *Encoded) { e.HDR = raw(t, other) }, "geometry 1 to 1000000 with 2 digits"},
		"a wider range":           {func(e *Encoded) { e.HDR = raw(t, wider) }, "geometry 1 to 7200000001 with 3 digits, want 1 to 7200000000"},
		"no buckets":              {func(e *Encoded) { e.HDR = nil }, "decode histogram"},
		"buckets cut off":         {func(e *Encoded) { e.HDR = e.HDR[:len(e.HDR)-8] }, "cut off"},
		"something after them":    {func(e *Encoded) { e.HDR = append(slices.Clone(e.HDR), 0) }, "followed by others"},
		"a sum of less":           {func(e *Encoded) { e.Sum = 199 }, "with the sum 199"},
		"a sum of more":           {func(e *Encoded) { e.Sum = 401 }, "with the sum 401"},
		"a negative sum":          {func(e *Encoded) { e.Sum = math.MinInt64 }, "with the sum -"},
		"a sum without end":       {func(e *Encoded) { e.Min, e.Clamped, e.Sum = -1, 1, math.MaxInt64 }, "with the sum 9"},
		"another maximum":         {func(e *Encoded) { e.Max, e.Sum = 201, 301 }, "from 100 to 201"},
		"another minimum":         {func(e *Encoded) { e.Min, e.Sum = 99, 299 }, "from 99 to 200"},
		"a maximum without end":   {func(e *Encoded) { *e = beyond; e.Max = math.MaxInt64 }, "counted"},
		"a minimum without end":   {func(e *Encoded) { *e = negative; e.Min = math.MinInt64 }, "counted"},
		"a maximum not clamped":   {func(e *Encoded) { *e = beyond; e.Clamped = 0 }, "0 clamped"},
		"a minimum not clamped":   {func(e *Encoded) { *e = negative; e.Clamped = 0 }, "0 clamped"},
		"counts without end":      {func(e *Encoded) { e.HDR = raw(t, many(1<<53, 1)) }, "more than"},
		"a count without end":     {func(e *Encoded) { e.HDR = raw(t, many(math.MaxInt64)) }, "count"},
		"bytes within":            {func(e *Encoded) { e.HDR = deflated(t, unpacked(t, e.HDR), []byte("garbage")) }, "followed by"},
		"more counts than said":   {func(e *Encoded) { e.HDR = deflated(t, append(unpacked(t, e.HDR), 2), nil) }, "bytes of counts"},
		"a bomb":                  {func(e *Encoded) { e.HDR = deflated(t, append(unpacked(t, e.HDR), make([]byte, 64<<20)...), nil) }, "bytes of counts"},
		"large buckets":           {func(e *Encoded) { e.HDR = deflated(t, unpacked(t, e.HDR), make([]byte, maxPackedBytes)) }, "too large"},
		"buckets that aren't":     {func(e *Encoded) { e.HDR = []byte("Hello, histogram") }, "decode histogram"},
	} {
		t.Run(name, func(t *testing.T) {
			e := good
			tc.change(&e)
			if _, err := Decode(e); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one with %q", err, tc.want)
			}
		})
	}
}

// unpacked returns encoded buckets without their compression.
func unpacked(t *testing.T, hdr []byte) []byte {
	t.Helper()
	z, err := zlib.NewReader(bytes.NewReader(hdr[8:]))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// deflated is the inverse of unpacked. It appends further bytes to what is compressed.
func deflated(t *testing.T, data, further []byte) []byte {
	t.Helper()
	var compressed bytes.Buffer
	w := zlib.NewWriter(&compressed)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	hdr := binary.BigEndian.AppendUint32(nil, uint32(hdrhistogram.V2CompressedEncodingCookieBase|0x10))
	hdr = binary.BigEndian.AppendUint32(hdr, uint32(compressed.Len()+len(further)))
	return append(append(hdr, compressed.Bytes()...), further...)
}

// raw returns the buckets as they are encoded, without base64.
func raw(t *testing.T, h *hdrhistogram.Histogram) []byte {
	t.Helper()
	text, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		t.Fatal(err)
	}
	data, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestHistogramsOfEarlierVersions checks that histograms whose geometry ends at 60 s can
// be read and extended.
func TestHistogramsOfEarlierVersions(t *testing.T) {
	old := hdrhistogram.New(LowestMicroseconds, 60_000_000, SignificantDigits)
	if err := old.RecordValues(100, 2); err != nil {
		t.Fatal(err)
	}
	h, err := Decode(Encoded{HDR: raw(t, old), Count: 2, Sum: 200, Min: 100, Max: 100})
	if err != nil {
		t.Fatal(err)
	}
	h.Record(4_000_000_000)
	if diff := cmp.Diff(of(100, 100, 4_000_000_000), h, sameHistogram); diff != "" {
		t.Error(diff)
	}
}

// TestBucketsGrow checks that the order of values does not matter, and that small values
// take little memory.
func TestBucketsGrow(t *testing.T) {
	up, down := NewHistogram(), NewHistogram()
	for v := int64(1); v <= HighestMicroseconds; v *= 3 {
		up.Record(v)
	}
	if size := of(1).buckets.ByteSize(); size > 100<<10 {
		t.Errorf("a histogram of one microsecond takes %d bytes", size)
	}
	for v := up.Max(); v > 0; v /= 3 {
		down.Record(v)
	}
	if diff := cmp.Diff(up, down, sameHistogram); diff != "" {
		t.Error(diff)
	}
	for i, bar := range up.Bars() {
		if bar.Count != 1 || i > 0 && bar.From <= up.Bars()[i-1].To {
			t.Errorf("bar %+v", bar)
		}
	}
}

func FuzzDecode(f *testing.F) {
	e, err := of(1, 2, 3).Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(e.HDR, int64(3), int64(6), int64(1), int64(3), int64(0))
	wide, err := of(-7, 1, HighestMicroseconds+9).Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(wide.HDR, wide.Count, wide.Sum, wide.Min, wide.Max, wide.Clamped)
	f.Add([]byte(nil), int64(0), int64(0), int64(0), int64(0), int64(0))
	f.Fuzz(func(t *testing.T, hdr []byte, count, sum, least, most, clamped int64) {
		h, err := Decode(Encoded{HDR: hdr, Count: count, Sum: sum, Min: least, Max: most, Clamped: clamped})
		if err != nil {
			return
		}
		if buckets := h.view(); h.Count() > 0 && (buckets == nil || buckets.TotalCount() != count) {
			t.Fatalf("the library doesn't read %d durations", count)
		}
		h.Percentile(99)
		h.StdDev()
		h.Merge(of(1))
		h.Merge(h)
		if _, err := h.Encode(); err != nil {
			t.Errorf("decoded, but can't be encoded: %v", err)
		}
	})
}
