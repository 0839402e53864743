package statistics

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"
)

// TestPairs compares pairs that are counted with those that are computed and sorted, with ties, zeros and missing values.
func TestPairs(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 0))
	drawn := func(n int) []float64 {
		values := make([]float64, n)
		for i := range values {
			switch random.IntN(8) {
			case 0:
				values[i] = 0
			case 1:
				values[i] = nan
			case 2:
				values[i] = float64(1 + random.IntN(3))
			default:
				values[i] = 1000 * random.ExpFloat64()
			}
		}
		return values
	}
	rounded := func(log float64) float64 { return math.Round(log*1e12) / 1e12 }
	check := func(all []float64, got *pairs, unknown int) {
		t.Helper()
		known := ascending(slices.DeleteFunc(slices.Clone(all), math.IsNaN))
		slices.Sort(known)
		if got.len() != len(known) || unknown != len(all)-len(known) {
			t.Fatalf("%d pairs, %d unknown, want %d, %d", got.len(), unknown, len(known), len(all)-len(known))
		}
		for i, want := range known {
			if v := got.at(i); v != want {
				t.Fatalf("pair %d of %v: %g", i, known, v)
			}
		}
		for _, v := range []float64{0, -0.5, 0.5, 3} {
			below := sort.SearchFloat64s(known, v)
			atMost := sort.Search(len(known), func(i int) bool { return known[i] > v })
			if got.atMost(v) != atMost || got.below(v) != below {
				t.Fatalf("%g in %v: %d at most, %d below", v, known, got.atMost(v), got.below(v))
			}
		}
	}
	for range 500 {
		baseline, candidate := drawn(1+random.IntN(8)), drawn(1+random.IntN(8))
		var all []float64
		for _, b := range baseline {
			for _, c := range candidate {
				all = append(all, rounded(logRatio(b, c)))
			}
		}
		p, unknown := differences(logs(baseline), logs(candidate))
		check(all, p, unknown)

		ratios := make([]float64, len(candidate))
		for i, c := range candidate {
			ratios[i] = logRatio(drawn(1)[0], c)
		}
		all = nil
		for i := range ratios {
			for j := range i + 1 {
				all = append(all, rounded((ratios[i]+ratios[j])/2))
			}
		}
		p, unknown = averages(ratios)
		check(all, p, unknown)
	}
}

// TestAComparisonIsSmall has the largest samples: what a comparison keeps grows with their values, not with their pairs.
func TestAComparisonIsSmall(t *testing.T) {
	values := make([]float64, MaxRuns)
	for i := range values {
		values[i] = float64(i + 1)
	}
	for name, compare := range map[string]func(baseline, candidate []float64) (Comparison, error){"paired": Paired, "unpaired": Unpaired} {
		bytes := func(n int) int64 {
			return testing.Benchmark(func(b *testing.B) {
				for range b.N {
					if _, err := compare(values[:n], values[:n]); err != nil {
						t.Fatal(err)
					}
				}
			}).AllocedBytesPerOp()
		}
		if half, full := bytes(MaxRuns/2), bytes(MaxRuns); full > 5*half/2 || full > 64*MaxRuns {
			t.Errorf("%s: %d bytes, %d of half as many", name, full, half)
		}
	}
}
