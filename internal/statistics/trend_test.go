package statistics

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestChangePoints(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 0))
	levels := func(lengthsAndLevels ...float64) []float64 {
		var series []float64
		for i := 0; i < len(lengthsAndLevels); i += 2 {
			for range int(lengthsAndLevels[i]) {
				series = append(series, lengthsAndLevels[i+1]*math.Exp(random.NormFloat64()*0.02))
			}
		}
		return series
	}
	for name, test := range map[string]struct {
		series []float64
		want   []int
	}{
		"none":           {nil, nil},
		"short":          {[]float64{1, 1, 9, 9}, nil},
		"level":          {levels(40, 100), nil},
		"constant":       {make([]float64, 30), nil},
		"a step":         {levels(20, 100, 20, 110), []int{20}},
		"a step at last": {levels(35, 100, 5, 115), []int{35}},
		"two steps":      {levels(20, 100, 20, 120, 20, 110), []int{20, 40}},
		"there and back": {levels(15, 100, 15, 90, 15, 100), []int{15, 30}},
		"one outlier":    {append(append(levels(20, 100), 150), levels(20, 100)...), nil},
	} {
		points, err := ChangePoints(test.series, 5, 0.01)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got []int
		for _, p := range points {
			got = append(got, p.Index)
			if p.P > 0.01 || p.P <= 0 {
				t.Errorf("%s: p %g", name, p.P)
			}
			if change := math.Abs(p.After/p.Before - 1); change < 0.05 || change > 0.25 {
				t.Errorf("%s: from %g to %g", name, p.Before, p.After)
			}
		}
		// Noise can move a change point to a neighboring round.
		if diff := cmp.Diff(test.want, got, cmp.Comparer(func(a, b int) bool { return a-b <= 1 && b-a <= 1 })); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for _, bad := range []float64{nan, inf} {
		if _, err := ChangePoints([]float64{1, bad}, 5, 0.05); err == nil {
			t.Errorf("%g: no error", bad)
		}
	}
	if _, err := ChangePoints([]float64{1, 2}, 1, 0.05); err == nil {
		t.Error("segments of one value: no error")
	}
}

// TestChangePointsByChance looks at series without a change, of a skewed distribution.
func TestChangePointsByChance(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 0))
	const rounds, significance = 300, 0.05
	found := 0
	for range rounds {
		series := make([]float64, 24)
		for i := range series {
			series[i] = math.Exp(random.NormFloat64() / 2)
		}
		points, err := ChangePoints(series, 5, significance)
		if err != nil {
			t.Fatal(err)
		}
		if len(points) > 0 {
			found++
		}
	}
	t.Logf("change points in %d of %d", found, rounds)
	if low, _ := share(found, rounds); low > significance {
		t.Errorf("change points in %d of %d series without one", found, rounds)
	}
}

// TestSplitSegment compares the sums with the statistic as the paper defines it.
func TestSplitSegment(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 0))
	const minSegment = 3
	for range 50 {
		x := make([]float64, 2*minSegment+random.IntN(10))
		fill(x, random.NormFloat64)
		best, bestAt := math.Inf(-1), 0
		for at := minSegment; at <= len(x)-minSegment; at++ {
			for end := at + minSegment; end <= len(x); end++ {
				var between, first, second float64
				for i := range end {
					for j := range i {
						switch d := math.Abs(x[i] - x[j]); {
						case i < at:
							first += d
						case j >= at:
							second += d
						default:
							between += d
						}
					}
				}
				if q := energy(between, first, second, at, end-at, inverses(end)); q > best {
					best, bestAt = q, at
				}
			}
		}
		if at, q := splitSegment(x, minSegment); at != bestAt || math.Abs(q-best) > 1e-9 {
			t.Fatalf("split at %d with %g, want %d with %g", at, q, bestAt, best)
		}
	}
	// Two values on each side: 2*2/4 * (2*mean between - mean within - mean within).
	if q := energy(4*10, 1, 2, 2, 2, inverses(4)); math.Abs(q-(2*10-1-2)) > 1e-9 {
		t.Errorf("energy %g", q)
	}
}
