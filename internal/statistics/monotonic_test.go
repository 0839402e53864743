package statistics

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestTrendOf(t *testing.T) {
	for name, tc := range map[string]struct {
		series   []float64
		slope, p float64
	}{
		"one value":                {[]float64{7}, nan, 1},
		"two values":               {[]float64{7, 9}, 2, 1},
		"rising":                   {[]float64{1, 3, 5, 7, 9}, 2, 2. / 120},
		"falling":                  {[]float64{9, 7, 5, 3, 1}, -2, 2. / 120},
		"constant":                 {[]float64{4, 4, 4, 4, 4, 4}, 0, 1},
		"rising but for one pair":  {[]float64{1, 3, 2, 4, 5}, 1, 2 * 5. / 120},
		"rising with equal values": {[]float64{1, 2, 2, 3, 4}, 17. / 24, 2 * 5. / 120},
		"rising with an outlier":   {[]float64{0, 1, 2, 3, 90, 5, 6, 7, 8, 9}, 1, 2 * 1717. / 3628800},
	} {
		got := TrendOf(tc.series)
		if math.Abs(got.Slope-tc.slope) > 1e-9 || math.IsNaN(got.Slope) != math.IsNaN(tc.slope) {
			t.Errorf("%s: slope %g, want %g", name, got.Slope, tc.slope)
		}
		if math.Abs(got.P/tc.p-1) > 1e-9 {
			t.Errorf("%s: p %g, want %g", name, got.P, tc.p)
		}
	}
}

// TestTrendIsFoundAsOftenAsItsPSays counts how often noise without a trend has a small p.
func TestTrendIsFoundAsOftenAsItsPSays(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 0))
	const trials = 4000
	for _, n := range []int{6, 15, 30} {
		below := 0
		for range trials {
			series := make([]float64, n)
			for i := range series {
				series[i] = math.Exp(random.NormFloat64() / 10)
			}
			if TrendOf(series).P <= 0.05 {
				below++
			}
		}
		// Four standard deviations of a binomial count above 5%. Few values have few possible p.
		if share := float64(below) / trials; share > 0.05+0.014 || share < 0.01 {
			t.Errorf("%d values: p at most 0.05 in %g of the series", n, share)
		}
	}
}
