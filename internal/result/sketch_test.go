package result

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/assay-dev/assay/internal/percentile"
)

// TestSketchBuckets checks that the buckets are next to each other, narrow enough and unions of a histogram's.
func TestSketchBuckets(t *testing.T) {
	if last := bucketIndex(HighestMicroseconds, sketchBits); last != sketchBuckets-1 {
		t.Errorf("the last bucket is %d of %d", last, sketchBuckets)
	}
	for i := range sketchBuckets {
		lowest, next := lowestOf(i, sketchBits), lowestOf(i+1, sketchBits)
		if width := next - lowest; width < 1 || width > 1 && 32*width > lowest {
			t.Errorf("bucket %d is from %d to %d", i, lowest, next-1)
		}
		if bucketIndex(lowest, sketchBits) != i || bucketIndex(next-1, sketchBits) != i {
			t.Errorf("bucket %d: %d and %d have other buckets", i, lowest, next-1)
		}
		if lowestOf(bucketIndex(lowest, subBucketBits), subBucketBits) != lowest {
			t.Errorf("a histogram's bucket crosses %d", lowest)
		}
	}
	// The library's own index of a value is the place of its count.
	h := hdrhistogram.New(LowestMicroseconds, HighestMicroseconds, SignificantDigits)
	for v := int64(1); v <= HighestMicroseconds; v += 1 + v/7 {
		h.Reset()
		if err := h.RecordValue(v); err != nil {
			t.Fatal(err)
		}
		if at := slices.Index(h.Export().Counts, 1); at != bucketIndex(v, subBucketBits) {
			t.Fatalf("%d is in bucket %d, not %d", v, at, bucketIndex(v, subBucketBits))
		}
	}
}

// TestMergedSketches merges the sketches of several clients, and compares the percentiles with the durations
// themselves.
func TestMergedSketches(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for name, draw := range map[string]func(client int) float64{
		"fast":             func(int) float64 { return 40 * random.ExpFloat64() },
		"different means":  func(client int) float64 { return float64(client*client+1) * 1000 * random.ExpFloat64() },
		"one slow client":  func(client int) float64 { return []float64{1e6, 300, 300, 300}[client] * (1 + random.Float64()) },
		"heavy tail":       func(int) float64 { return 500 / (1e-9 + random.Float64()*random.Float64()) },
		"all the same":     func(int) float64 { return 12_345 },
		"zero":             func(int) float64 { return 0 },
		"some before zero": func(int) float64 { return 30*random.NormFloat64() + 1 },
	} {
		t.Run(name, func(t *testing.T) {
			var merged Sketch
			pooled, times := NewHistogram(), PhaseTimes{}
			var all []int64
			for client := range 4 {
				h := NewHistogram()
				for range 500 * (client + 1) {
					took := int64(draw(client))
					h.Record(took)
					all = append(all, took)
				}
				one := h.Sketch()
				h.Pack()
				if !bytes.Equal(one, h.Sketch()) {
					t.Error("the sketch of a packed histogram is another")
				}
				merged.Merge(one)
				merged.Merge(nil)
				pooled.Merge(h)
			}
			if !bytes.Equal(merged, pooled.Sketch()) {
				t.Error("the merged sketch isn't that of the durations pooled")
			}
			slices.Sort(all)
			times[Waiting] = PhaseTime{Count: pooled.Count(), Sum: pooled.Sum(), Max: pooled.Max()}
			times.SetSketched(&Sketches{Waiting: merged})
			got := times[Waiting].PhasePercentiles
			if got == nil {
				t.Fatal("the percentiles are unknown")
			}
			for p, estimate := range map[percentile.Percentile]int64{percentile.P50: got.P50, percentile.P90: got.P90, percentile.P99: got.P99} {
				truth := min(max(all[percentile.Rank(p.Percent(), int64(len(all)))-1], 0), HighestMicroseconds)
				if off := max(estimate-truth, truth-estimate); 64*off > truth {
					t.Errorf("p%s is %d µs, the duration of its rank %d µs", p, estimate, truth)
				}
				if estimate > pooled.Max() {
					t.Errorf("p%s is %d µs, longer than the longest, %d µs", p, estimate, pooled.Max())
				}
			}
		})
	}
}

// TestSketchesOfSomeClients merges a client without sketches.
func TestSketchesOfSomeClients(t *testing.T) {
	var l Latencies
	for v := range int64(100) {
		l.Of(Connect).Record(v)
		l.Of(Waiting).Record(10 * v)
		l.Of(Total).Record(11 * v)
	}
	times, sketches := l.Times(), l.Sketches()
	if len(sketches[Total]) != 0 || len(sketches[Receiving]) != 0 || len(sketches[Waiting]) == 0 {
		t.Errorf("sketches %v", sketches)
	}
	times.Add(&PhaseTimes{Connect: {Count: 1, Sum: 5, Max: 5}})
	times.SetSketched(&sketches)
	if p := times[Waiting].PhasePercentiles; times[Connect].PhasePercentiles != nil || times[TLS].PhasePercentiles != nil || p == nil || p.P50 < 482 || p.P50 > 498 {
		t.Errorf("%+v", times)
	}
}

// TestExactPercentiles sets those of histograms.
func TestExactPercentiles(t *testing.T) {
	var l Latencies
	for v := range int64(1000) {
		l.Of(Connect).Record(v)
		l.Of(Waiting).Record(v)
	}
	times := l.Times()
	times[Connect].Count++
	times.SetExact(&l)
	if got := times[Waiting].PhasePercentiles; got == nil || *got != (PhasePercentiles{P50: 499, P90: 899, P99: 989}) {
		t.Errorf("%+v", got)
	}
	if times[Connect].PhasePercentiles != nil || times[TLS].PhasePercentiles != nil {
		t.Errorf("%+v", times)
	}
}

// TestSketchesThatCannotBe sets what no client can have sent.
func TestSketchesThatCannotBe(t *testing.T) {
	numbers := func(all ...int64) (encoded []byte) {
		for _, n := range all {
			encoded = binary.AppendVarint(encoded, n)
		}
		return encoded
	}
	ones := func(n int) []int64 { return slices.Repeat([]int64{1}, n) }
	times := PhaseTimes{Connect: {Count: 3, Sum: 15, Max: 5}}
	for name, test := range map[string]struct {
		encoded [][]byte
		want    string
	}{
		"as it is":                  {[][]byte{numbers(-5, 3)}, ""},
		"none":                      {[][]byte{nil}, ""},
		"another form of the same":  {[][]byte{numbers(0, 0, 0, -2, 3, 0)}, ""},
		"of no phase":               {nil, ""},
		"of a phase too many":       {make([][]byte, Phases+1), "sketches of 10 phases"},
		"fewer durations":           {[][]byte{numbers(-5, 2)}, "connect: 2 durations up to bucket 5"},
		"more durations":            {[][]byte{numbers(1, -4, 3)}, "connect: 4 durations"},
		"longer durations":          {[][]byte{numbers(-5, 2, 1)}, "up to bucket 6"},
		"no durations":              {[][]byte{numbers(-900)}, "connect: 0 durations"},
		"of a phase without any":    {[][]byte{nil, numbers(1)}, "tls: 1 durations"},
		"more buckets than all":     {[][]byte{numbers(ones(sketchBuckets + 1)...)}, "in bucket 918 of 918"},
		"empty buckets beyond all":  {[][]byte{numbers(-919)}, "count -919 in bucket 0"},
		"a count beyond all":        {[][]byte{numbers(-918, 1)}, "in bucket 918"},
		"as many as can't be":       {[][]byte{numbers(-5, 1<<54)}, "count 18014398509481984"},
		"a sum that can't be":       {[][]byte{numbers(-4, 1<<53, 1<<53)}, "durations"},
		"an overflow":               {[][]byte{bytes.Repeat([]byte{0xff}, 20)}, "count 0 in bucket 0"},
		"cut off":                   {[][]byte{{0x80}}, "count 0 in bucket 0"},
		"a number longer than need": {[][]byte{append(numbers(-5), 0x86, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0)}, "in bucket 5"},
		"phases without end":        {make([][]byte, 1000), "1000 phases"},
	} {
		t.Run(name, func(t *testing.T) {
			var s Sketches
			if n := len(test.encoded); n > 0 && n < int(Phases) {
				test.encoded = append(test.encoded, make([][]byte, int(Phases)-n)...)
			}
			err := s.Set(test.encoded, &times)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

// TestSketchesOverflow merges more durations than a sketch can count.
func TestSketchesOverflow(t *testing.T) {
	var s Sketch
	most := Sketch(binary.AppendVarint(nil, maxCount))
	s.Merge(most)
	s.Merge(most)
	if !bytes.Equal(s, most) {
		t.Errorf("%v", s)
	}
	times := PhaseTimes{Connect: {Count: 2 * maxCount, Max: 0}}
	if times.SetSketched(&Sketches{Connect: s}); times[Connect].PhasePercentiles != nil {
		t.Error("the percentiles of half of the durations are known")
	}
}

// FuzzSketches sets sketches, merges them and computes percentiles.
func FuzzSketches(f *testing.F) {
	h := NewHistogram()
	for v := int64(1); v < 2*HighestMicroseconds; v += v/2 + 1 {
		h.Record(v)
	}
	f.Add([]byte(h.Sketch()), h.Max(), []byte(h.Sketch()))
	f.Add([]byte{9, 6}, int64(5), []byte{1, 2, 0, 2})
	f.Add(binary.AppendVarint(nil, maxCount), int64(-3), binary.AppendVarint(nil, 1))
	f.Fuzz(func(t *testing.T, one []byte, longest int64, other []byte) {
		times := PhaseTimes{}
		b, err := scanBuckets(one, sketchBuckets, nil)
		c, errOther := scanBuckets(other, sketchBuckets, nil)
		if err != nil || errOther != nil {
			return
		}
		times[Connect] = PhaseTime{Count: b.total, Max: longest}
		var s, merged Sketches
		if s.Set([][]byte{one}, &times) != nil {
			return
		}
		merged.Merge(&s)
		times.SetSketched(&merged)
		if p := times[Connect].PhasePercentiles; b.total > 0 && (p == nil || p.P50 > p.P90 || p.P90 > p.P99 || p.P99 > longest) {
			t.Errorf("%+v of %d durations up to %d µs", p, b.total, longest)
		}
		merged[Connect].Merge(other)
		if sum, err := scanBuckets(merged[Connect], sketchBuckets, nil); err != nil || b.total+c.total <= maxCount && sum.total != b.total+c.total {
			t.Errorf("%d durations (%v), want %d", sum.total, err, b.total+c.total)
		}
	})
}

// BenchmarkSketches checks a client's sketches of seven phases with 2,000 requests, and merges them with those of
// a hundred clients: what a manager does with them.
func BenchmarkSketches(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	var merged Sketches
	var encoded [][]byte
	var times PhaseTimes
	for range 100 {
		var l Latencies
		for p := range Phases {
			for range 2000 {
				l.Of(p).Record(int64(5000 * (0.5 + random.ExpFloat64()) / float64(p+1)))
			}
		}
		sketches := l.Sketches()
		merged.Merge(&sketches)
		encoded, times = sketches.Encoded(), l.Times()
	}
	b.ReportAllocs()
	for b.Loop() {
		var s Sketches
		if err := s.Set(encoded, &times); err != nil {
			b.Fatal(err)
		}
		merged.Merge(&s)
	}
}

// TestSketchesOfJSON reads sketches that somebody may have put into a file.
func TestSketchesOfJSON(t *testing.T) {
	for text, want := range map[string]string{`null`: "", `""`: "", `"Ag=="`: "", `5`: "decode sketch", `"?"`: "decode sketch", `"/w=="`: "decode sketch", `"AQ=="`: "", `"////////Dw=="`: "decode sketch"} {
		var s Sketch
		if err := json.Unmarshal([]byte(text), &s); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
