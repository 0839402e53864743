package statistics

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAlpha(t *testing.T) {
	for _, test := range []struct {
		percent float64
		metrics int
		want    float64
	}{{95, 1, 0.05}, {95, 0, 0.05}, {95, 5, 0.01}, {99, 10, 0.001}, {99.9, 1, 0.001}} {
		if got := Alpha(test.percent, test.metrics); math.Abs(got-test.want) > 1e-12 {
			t.Errorf("%g%%, %d metrics: %g, want %g", test.percent, test.metrics, got, test.want)
		}
	}
}

// TestMinBlocks holds the smallest numbers against the intervals themselves.
func TestMinBlocks(t *testing.T) {
	for _, percent := range []float64{50, 80, 90, 93.75, 95, 99, 99.9} {
		for metrics := 1; metrics <= 1280; metrics = 1 + metrics*5/4 {
			alpha := Alpha(percent, metrics)
			n := MinBlocks(alpha)
			for _, tail := range []func(int) []float64{signedRank, binomial} {
				if critical(tail(n), alpha) == 0 || n > 1 && critical(tail(n-1), alpha) > 0 {
					t.Errorf("%g%%, %d metrics: %d isn't the smallest number", percent, metrics, n)
				}
			}
			for _, stored := range []int{2, 5, 10} {
				n := MinRuns(alpha, stored)
				if n > MaxRuns {
					if critical(mannWhitney(stored, MaxRuns), alpha) > 0 {
						t.Errorf("%g%%, %d metrics, %d stored: %d runs are enough", percent, metrics, stored, MaxRuns)
					}
				} else if critical(mannWhitney(stored, n), alpha) == 0 || n > 1 && critical(mannWhitney(stored, n-1), alpha) > 0 {
					t.Errorf("%g%%, %d metrics, %d stored: %d isn't the smallest number", percent, metrics, stored, n)
				}
			}
		}
	}
	if n := MinBlocks(0); n != MaxRuns+1 {
		t.Errorf("alpha 0: %d", n)
	}
}

// TestBenjaminiHochberg repeats the example of the paper (section 3.3): of 15 p values four are
// found at 5%, where Bonferroni finds three.
func TestBenjaminiHochberg(t *testing.T) {
	p := []float64{0.0201, 0.0001, 0.0004, 0.0019, 0.0095, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1}
	var found []float64
	for i, q := range BenjaminiHochberg(p) {
		if q <= 0.05 {
			found = append(found, p[i])
		}
		if q < p[i] || q > 1 {
			t.Errorf("p %g is adjusted to %g", p[i], q)
		}
	}
	if diff := cmp.Diff([]float64{0.0001, 0.0004, 0.0019, 0.0095}, found); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]float64{0.04, 0.04, 0.04, 0.04}, BenjaminiHochberg([]float64{0.01, 0.02, 0.03, 0.04}), approx); diff != "" {
		t.Error(diff)
	}
	if got := BenjaminiHochberg(nil); len(got) != 0 {
		t.Errorf("no p values: %v", got)
	}
}

func TestFalseDiscoveryLevels(t *testing.T) {
	for _, test := range []struct{ p, want []float64 }{
		{[]float64{0.3, 0.2, 0.9, 0.8}, []float64{0.0125, 0.0125, 0.0125, 0.0125}},
		{[]float64{0.3, 0.001, 0.9, 0.002}, []float64{0.0375, 0.025, 0.0375, 0.025}},
		{[]float64{0.001, 0.002}, []float64{0.05, 0.05}},
		{nil, []float64{}},
	} {
		if diff := cmp.Diff(test.want, FalseDiscovery(test.p, 0.05), approx); diff != "" {
			t.Errorf("%v: %s", test.p, diff)
		}
	}
}

// TestFalseDiscovery holds the intervals of reported metrics against the adjusted p values.
func TestFalseDiscovery(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 0))
	differences, found := 0, 0
	for range 100 {
		var comparisons []Comparison
		var p []float64
		for i := range 12 {
			var x, y []float64
			for range 12 {
				x = append(x, math.Exp(random.NormFloat64()/10))
				y = append(y, math.Exp(random.NormFloat64()/10+float64(i%4)/20))
			}
			c, err := Paired(x, y)
			if err != nil {
				t.Fatal(err)
			}
			comparisons, p = append(comparisons, c), append(p, c.P())
		}
		alphas, adjusted := FalseDiscovery(p, 0.05), BenjaminiHochberg(p)
		for i, c := range comparisons {
			e := c.Effect(alphas[i])
			differs := e.Low > 1 || e.High < 1
			if differs != (adjusted[i] <= 0.05) {
				t.Fatalf("interval %g to %g at alpha %g, but the adjusted p is %g", e.Low, e.High, alphas[i], adjusted[i])
			}
			if e.P <= 0.05 {
				differences++
			}
			if differs {
				found++
			}
		}
	}
	if found == 0 || found >= differences {
		t.Errorf("%d differences found of %d: the adjustment isn't tried", found, differences)
	}
}
