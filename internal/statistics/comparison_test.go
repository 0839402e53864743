package statistics

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPaired(t *testing.T) {
	ones := []float64{1, 1, 1, 1, 1, 1}
	zeros := []float64{0, 0, 0, 0, 0, 0}
	for name, test := range map[string]struct {
		baseline, candidate []float64
		want                Effect
	}{
		"same":       {ones, ones, Effect{Interval{1, 1, 1, 0.96875}, 1}},
		"all double": {ones, []float64{2, 2, 2, 2, 2, 2}, Effect{Interval{2, 2, 2, 0.96875}, 0.03125}},
		"different": {ones, []float64{1, 2, 4, 8, 16, 32},
			Effect{Interval{math.Exp2(2.5), 1, 32, 0.96875}, 0.0625}},
		"too few":              {ones[:5], []float64{2, 2, 2, 2, 2}, Effect{Interval{2, 0, inf, 1}, 0.0625}},
		"no errors, both":      {zeros, zeros, Effect{Interval{1, 1, 1, 0.96875}, 1}},
		"errors are new":       {zeros, ones, Effect{Interval{inf, inf, inf, 0.96875}, 0.03125}},
		"errors are gone":      {ones, zeros, Effect{Interval{0, 0, 0, 0.96875}, 0.03125}},
		"errors now and then":  {zeros, []float64{0, 0, 0, 1, 2, 1}, Effect{Interval{inf, 1, inf, 0.96875}, 0.4375}},
		"errors on both sides": {[]float64{0, 1, 1, 1, 1, 1}, []float64{1, 0, 1, 1, 1, 1}, Effect{Interval{1, 0, inf, 0.96875}, 1}},
		"one missing":          {ones, []float64{2, 2, 2, 2, 2, nan}, Effect{Interval{2, 0, inf, 0.96875}, 0.4375}},
		"no values":            {ones, []float64{nan, nan, nan, nan, nan, nan}, Effect{Interval{nan, 0, inf, 0.96875}, 1}},
	} {
		c, err := Paired(test.baseline, test.candidate)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(test.want, c.Effect(0.05), approx); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestUnpaired(t *testing.T) {
	ones := []float64{1, 1, 1, 1, 1}
	for name, test := range map[string]struct {
		baseline, candidate []float64
		want                Effect
	}{
		"same":        {ones, ones, Effect{Interval{1, 1, 1, 1 - 8./252}, 1}},
		"all greater": {[]float64{1, 2, 4, 8, 16}, []float64{32, 64, 128, 256}, Effect{Interval{math.Exp2(4.5), 4, 128, 1 - 4./126}, 2. / 126}},
		"too few":     {[]float64{1, 1, 1}, []float64{2, 2, 2}, Effect{Interval{2, 0, inf, 1}, 0.1}},
		"no errors":   {[]float64{0, 0, 0, 0}, []float64{0, 0, 0, 0}, Effect{Interval{1, 1, 1, 1 - 2./70}, 1}},
		"new errors":  {[]float64{0, 0, 0, 0}, []float64{1, 2, 3, 4}, Effect{Interval{inf, inf, inf, 1 - 2./70}, 2. / 70}},
		"one missing": {[]float64{1, 1, 1, 1}, []float64{2, 2, 2, nan}, Effect{Interval{2, 0, inf, 1 - 2./70}, 24. / 70}},
	} {
		c, err := Unpaired(test.baseline, test.candidate)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(test.want, c.Effect(0.05), approx); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestTiesAcrossScales compares ratios of 1.1 in both directions with the same ratios of larger and
// smaller values: their logarithms differ by rounding, and are ties all the same.
func TestTiesAcrossScales(t *testing.T) {
	baseline, candidate := []float64{10, 11, 10, 10, 11, 10, 11}, []float64{11, 10, 11, 11, 10, 11, 10}
	for name, compare := range map[string]func(x, y []float64) (Comparison, error){"paired": Paired, "unpaired": Unpaired} {
		same, err := compare(baseline, candidate)
		if err != nil {
			t.Fatal(err)
		}
		for _, scale := range []float64{0.1, 0.3, 7, 1000} {
			x, y := slices.Clone(baseline), slices.Clone(candidate)
			for i := range x {
				if name == "unpaired" || i%3 == 0 {
					x[i], y[i] = scale*x[i], scale*y[i]
				}
			}
			scaled, err := compare(x, y)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(same.Effect(0.2), scaled.Effect(0.2)); diff != "" {
				t.Errorf("%s, scale %g: %s", name, scale, diff)
			}
		}
	}
}

func TestComparisonErrors(t *testing.T) {
	if _, err := Paired([]float64{1, 2}, []float64{1}); err == nil {
		t.Error("different lengths: no error")
	}
	for _, bad := range [][]float64{{}, {-1}, {inf}} {
		if _, err := Unpaired(bad, []float64{1}); err == nil {
			t.Errorf("baseline %v: no error", bad)
		}
		if _, err := Unpaired([]float64{1}, bad); err == nil {
			t.Errorf("candidate %v: no error", bad)
		}
	}
}

// TestIntervalAndP compares random samples with many ties, zeros and missing values.
func TestIntervalAndP(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 0))
	draw := func(n int) []float64 {
		values := make([]float64, n)
		for i := range values {
			values[i] = float64(random.IntN(8))
			if random.IntN(20) == 0 {
				values[i] = nan
			}
		}
		return values
	}
	both := 0
	for range 1000 {
		n := 6 + random.IntN(8)
		x, y := draw(n), draw(n)
		for i := range y {
			y[i] *= float64(1 + random.IntN(4))
		}
		alpha := []float64{0.1, 0.05, 0.01}[random.IntN(3)]
		for name, compare := range map[string]func(x, y []float64) (Comparison, error){"paired": Paired, "unpaired": Unpaired} {
			c, err := compare(x, y)
			if err != nil {
				t.Fatal(err)
			}
			e := c.Effect(alpha)
			differs := e.Low > 1 || e.High < 1
			if differs != (e.P <= alpha) {
				t.Fatalf("%s: interval %g to %g at alpha %g, but p is %g\n%v\n%v", name, e.Low, e.High, alpha, e.P, x, y)
			}
			if differs {
				both++
			}
			mirrored, _ := compare(y, x)
			m := mirrored.Effect(alpha)
			want := Effect{Interval{1 / e.Estimate, 1 / e.High, 1 / e.Low, e.Confidence}, e.P}
			if diff := cmp.Diff(want, m, approx); diff != "" {
				t.Fatalf("%s, samples exchanged: %s\n%v\n%v", name, diff, x, y)
			}
		}
	}
	if both < 100 || both > 1900 {
		t.Errorf("%d of 2000 differ: the samples don't try both cases", both)
	}
}

// TestMissingIsTheWorstCase replaces a missing value by anything: no interval may leave the one
// with the missing value.
func TestMissingIsTheWorstCase(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 0))
	for range 200 {
		var x, y []float64
		for range 14 {
			x, y = append(x, 1+random.Float64()), append(y, 1.5+random.Float64())
		}
		y[5] = nan
		unknown, _ := Paired(x, y)
		wide := unknown.Effect(0.05)
		if !wide.Bounded() {
			t.Fatalf("the interval %g to %g of 14 pairs isn't bounded", wide.Low, wide.High)
		}
		for _, v := range []float64{0, 0.01, 1, 1.7, 3, 1e9} {
			replaced := slices.Clone(y)
			replaced[5] = v
			c, _ := Paired(x, replaced)
			if e := c.Effect(0.05); e.Low < wide.Low || e.High > wide.High {
				t.Fatalf("with %g instead of the missing value: %g to %g, not within %g to %g", v, e.Low, e.High, wide.Low, wide.High)
			}
		}
	}
}
