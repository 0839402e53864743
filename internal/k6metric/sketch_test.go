package k6metric

import (
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/DataDog/sketches-go/ddsketch/encoding"
)

// bin is an index and a number of values.
type bin struct {
	at int64
	n  float64
}

// sparse returns an encoded sketch of positive values in the given bins.
func sparse(bins ...bin) []byte {
	var b []byte
	encoding.EncodeFlag(&b, encoding.NewFlag(encoding.FlagTypePositiveStore, encoding.BinEncodingIndexDeltasAndCounts))
	encoding.EncodeUvarint64(&b, uint64(len(bins)))
	last := int64(0)
	for _, one := range bins {
		encoding.EncodeVarint64(&b, one.at-last)
		encoding.EncodeVarfloat64(&b, one.n)
		last = one.at
	}
	return b
}

// dense returns an encoded sketch that claims n bins, step apart from first on. It has the given
// number of values, one in each bin.
func dense(n uint64, first, step int64, values int) []byte {
	var b []byte
	encoding.EncodeFlag(&b, encoding.NewFlag(encoding.FlagTypePositiveStore, encoding.BinEncodingContiguousCounts))
	encoding.EncodeUvarint64(&b, n)
	encoding.EncodeVarint64(&b, first)
	encoding.EncodeVarint64(&b, step)
	for range values {
		encoding.EncodeVarfloat64(&b, 1)
	}
	return b
}

func zeros(n float64) []byte {
	var b []byte
	encoding.EncodeFlag(&b, encoding.FlagZeroCountVarFloat)
	encoding.EncodeVarfloat64(&b, n)
	return b
}

// TestHostileSketches decodes sketches that a client made by hand. The library panics on some of
// them, and allocates or computes without bound for others.
func TestHostileSketches(t *testing.T) {
	deltas := append([]byte{}, dense(3, 5, 1, 3)...)
	deltas[0] = encodingOf(encoding.BinEncodingIndexDeltas)
	mapped := []byte{2}
	for _, value := range []float64{1.002, 0} {
		encoding.EncodeFloat64LE(&mapped, value)
	}
	for name, test := range map[string]struct {
		encoded []byte
		want    string
	}{
		"an index near 2^31":        {sparse(bin{math.MaxInt32, 1}), "bin 2147483647"},
		"an index near -2^31":       {sparse(bin{math.MinInt32, 1}), "bin -2147483648"},
		"an index beyond all":       {sparse(bin{math.MaxInt64, 1}), "bin 9223372036854775807"},
		"an overflow of the index":  {sparse(bin{300_000, 1}, bin{math.MinInt64, 1}), "after another"},
		"bins far apart":            {sparse(bin{0, 1}, bin{8191, 1}, bin{8192, 1}), "bin 8192 of a store that begins at bin 0"},
		"a step beyond the store":   {sparse(bin{0, 1}, bin{200_000, 1}), "a bin 200000 after another"},
		"bins backwards":            {sparse(bin{10, 1}, bin{5, 1}), "a bin -5 after another"},
		"a bin twice":               {sparse(bin{10, 1}, bin{10, 1}), "a bin 0 after another"},
		"many bins":                 {dense(1<<60, 0, 1, 5), "1152921504606846976 bins"},
		"no bins":                   {dense(0, 0, 1, 0), "0 bins"},
		"bins without step":         {dense(5, 0, 0, 5), "a bin 0 after another"},
		"bins that are cut off":     {dense(8000, 0, 1, 5), "EOF"},
		"negative values":           {sparse(bin{1, -5}), "-5 values"},
		"half a value":              {sparse(bin{1, 0.5}), "0.5 values"},
		"values that are no number": {zeros(math.NaN()), "NaN values"},
		"infinitely many values":    {zeros(math.Inf(1)), "values"},
		"too many values":           {append(zeros(1<<52), sparse(bin{1, 1 << 52}, bin{2, 1})...), "1 values"},
		"a store twice":             {append(sparse(bin{1, 1}), dense(1, 1, 1, 1)...), "two blocks"},
		"zeros twice":               {append(zeros(1), zeros(1)...), "two blocks"},
		"bins without counts":       {deltas, "unknown form"},
		"a mapping":                 {mapped, "unknown block"},
		"exact values":              {[]byte{0xa0, 1}, "unknown block"},
		"nothing after a flag":      {[]byte{1}, "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			err := newDistribution().UnmarshalBinary(test.encoded)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

func encodingOf(form encoding.SubFlag) byte {
	var b []byte
	encoding.EncodeFlag(&b, encoding.NewFlag(encoding.FlagTypePositiveStore, form))
	return b[0]
}

// TestSketchesTakeNoMemory decodes a sketch whose two bins would take 64 kB. As long as nobody
// reads it, it takes none.
func TestSketchesTakeNoMemory(t *testing.T) {
	encoded := sparse(bin{0, 1}, bin{8191, 1})
	d := newDistribution()
	index()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 100 {
		if err := d.UnmarshalBinary(encoded); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 200_000 {
		t.Errorf("100 sketches of %d bytes allocated %d bytes", len(encoded), grown)
	}
	if d.count() != 2 {
		t.Errorf("%d values", d.count())
	}
}

// TestValues checks values of a client's metric that JSON can't express or that overflow in sums.
func TestValues(t *testing.T) {
	for name, change := range map[string]func(*Metric){
		"a sum that is no number": func(m *Metric) { m.Sum = math.NaN() },
		"an infinite sum":         func(m *Metric) { m.Sum = math.Inf(1) },
		"an infinite minimum":     func(m *Metric) { m.Min = math.Inf(-1) },
		"a maximum of no number":  func(m *Metric) { m.Max = math.NaN() },
		"an infinite last value":  func(m *Metric) { m.Last = math.Inf(1) },
		"many samples":            func(m *Metric) { m.Samples = math.MaxInt64 },
		"a long unit":             func(m *Metric) { m.Unit = Unit(strings.Repeat("x", 1<<20)) },
	} {
		m := Metric{Name: "m", Kind: Gauge, Samples: 1}
		if err := m.Check(); err != nil {
			t.Fatal(err)
		}
		change(&m)
		if err := m.Check(); err == nil || len(err.Error()) > 1024 {
			t.Errorf("%s: %v", name, err)
		}
	}
	m := New("m", Counter, None)
	m.Add(math.MaxFloat64, 1)
	m.Add(math.MaxFloat64, 2)
	merged, _ := Merge([]Metric{*m}, []Metric{*m})
	if err := merged[0].Check(); err != nil {
		t.Error(err)
	}
}

// FuzzSketch decodes two sketches, merges and encodes them. A count that was accepted stays exact.
func FuzzSketch(f *testing.F) {
	d := newDistribution()
	for _, v := range []float64{-1e300, -3, 0, 1e-300, 1, 2, 3, 1e300} {
		d.add(v)
	}
	real, _ := d.MarshalBinary()
	for _, seed := range [][]byte{nil, real, sparse(bin{math.MaxInt32, 1}), sparse(bin{-300_000, 5}, bin{-299_000, 1}), sparse(bin{300_000, 5}), dense(200, 0, 40, 200), zeros(7)} {
		f.Add(seed, real)
		f.Add(real, seed)
	}
	f.Fuzz(func(t *testing.T, one, other []byte) {
		a, b := newDistribution(), newDistribution()
		if a.UnmarshalBinary(one) != nil || b.UnmarshalBinary(other) != nil {
			return
		}
		want := a.count() + b.count()
		if n := int64(a.view().GetCount()); n != a.count() {
			t.Errorf("%d values, the library counts %d", a.count(), n)
		}
		if err := a.merge(b); err != nil {
			t.Fatal(err)
		}
		if want < maxValues && a.count() != want {
			t.Errorf("%d values merged, want %d", a.count(), want)
		}
		for _, p := range []float64{0, 50, 99.99, 100} {
			if math.IsNaN(a.percentile(p)) {
				t.Errorf("p%g is no number", p)
			}
		}
		encoded, err := a.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if want < maxValues {
			if err := b.UnmarshalBinary(encoded); err != nil || b.count() != want {
				t.Errorf("%d values encoded, %v", b.count(), err)
			}
		}
	})
}
