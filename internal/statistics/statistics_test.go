package statistics

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var (
	nan    = math.NaN()
	inf    = math.Inf(1)
	approx = cmp.Options{cmpopts.EquateNaNs(), cmpopts.EquateApprox(0, 1e-9)}
)

func TestMedian(t *testing.T) {
	for name, test := range map[string]struct {
		values []float64
		alpha  float64
		want   Interval
	}{
		"too few":              {[]float64{1, 2, 3, 4, 5}, 0.05, Interval{3, -inf, inf, 1}},
		"just enough":          {[]float64{6, 5, 4, 3, 2, 1}, 0.05, Interval{3.5, 1, 6, 0.96875}},
		"ten":                  {[]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 0.05, Interval{5.5, 2, 9, 1 - 22./1024}},
		"all the same":         {[]float64{7, 7, 7, 7, 7, 7}, 0.05, Interval{7, 7, 7, 0.96875}},
		"zeros":                {[]float64{0, 0, 0, 0, 0, 1}, 0.05, Interval{0, 0, 1, 0.96875}},
		"one missing of six":   {[]float64{1, 2, nan, 4, 5, 6}, 0.05, Interval{4, -inf, inf, 0.96875}},
		"one missing of ten":   {[]float64{1, 2, 3, 4, nan, 6, 7, 8, 9, 10}, 0.05, Interval{6, 1, 10, 1 - 22./1024}},
		"all missing":          {[]float64{nan, nan, nan, nan, nan, nan}, 0.05, Interval{nan, -inf, inf, 0.96875}},
		"one":                  {[]float64{3}, 0.05, Interval{3, -inf, inf, 1}},
		"one, less confidence": {[]float64{3}, 1, Interval{3, 3, 3, 0}},
	} {
		got, err := Median(test.values, test.alpha)
		if diff := cmp.Diff(test.want, got, approx); err != nil || diff != "" {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
	for name, values := range map[string][]float64{
		"none": {}, "negative": {1, -1}, "infinite": {inf}, "too many": make([]float64, MaxRuns+1),
	} {
		if _, err := Median(values, 0.05); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestCoverage draws from a skewed distribution, finely and rounded so that there are ties: the
// intervals must hold the true value as often as they say.
func TestCoverage(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 0))
	const rounds, n, alpha = 2000, 10, 0.05
	for name, step := range map[string]float64{"continuous": 1e-9, "with ties": 25} {
		sample := func(n int) []float64 {
			values := make([]float64, n)
			for i := range values {
				values[i] = max(step, step*math.Round(100*math.Exp(random.NormFloat64()/2)/step))
			}
			return values
		}
		missed := map[string]int{}
		miss := func(what string, i Interval, truth float64) {
			if i.Low > truth || i.High < truth {
				missed[what]++
			}
		}
		for range rounds {
			x, y := sample(n), sample(n)
			i, _ := Median(x, alpha)
			miss("median", i, 100)
			paired, _ := Paired(x, y)
			miss("paired", paired.Effect(alpha).Interval, 1)
			unpaired, _ := Unpaired(x, y[:8])
			miss("unpaired", unpaired.Effect(alpha).Interval, 1)
		}
		t.Logf("%s: missed %v of %d", name, missed, rounds)
		for what, count := range missed {
			if low, _ := share(count, rounds); low > alpha {
				t.Errorf("%s, %s: missed %d of %d, at least a share of %.3f", name, what, count, rounds, low)
			}
		}
	}
}
