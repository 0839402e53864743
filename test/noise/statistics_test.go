package main

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestComponents checks that both components are found again in simulated data, in the mean of many sets, also where groups differ
// in size.
func TestComponents(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for _, test := range []struct {
		within, between float64 // standard deviations
		sizes           []int
	}{
		{within: 3, between: 0, sizes: []int{10, 10, 10, 10}},
		{within: 3, between: 2, sizes: []int{10, 10, 10, 10}},
		{within: 1, between: 5, sizes: []int{2, 2, 2, 2, 2, 2}},
		{within: 2, between: 2, sizes: []int{3, 12, 5, 20}},
	} {
		const sets = 4000
		var within, between float64
		for range sets {
			groups := make([][]float64, len(test.sizes))
			for i, size := range test.sizes {
				of := 7 + test.between*random.NormFloat64()
				for range size {
					groups[i] = append(groups[i], of+test.within*random.NormFloat64())
				}
			}
			w, b := components(groups)
			within, between = within+w/sets, between+b/sets
		}
		near(t, "within", within, square(test.within), 0.05*square(test.within))
		near(t, "between", between, square(test.between), 0.05*square(test.between)+0.02*square(test.within))
	}
}

// TestRegress checks that a slope, a correlation and what is left are found again, whatever the groups' means are.
func TestRegress(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	x, y := make([][]float64, 40), make([][]float64, 40)
	for i := range x {
		mx, my := 10*random.NormFloat64(), 10*random.NormFloat64()
		for range 50 {
			v := 2 * random.NormFloat64()
			x[i], y[i] = append(x[i], mx+v), append(y[i], my-1.5*v+random.NormFloat64())
		}
	}
	line := regress(x, y)
	near(t, "slope", line.slope, -1.5, 0.05)
	near(t, "r", line.r, -3/math.Sqrt(10), 0.01)
	near(t, "residual", line.residual, 1, 0.05)
}

// TestLag1 checks that the autocorrelation is found again, also in short groups.
func TestLag1(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	for _, r := range []float64{0, 0.5} {
		for _, size := range []int{10, 100} {
			groups := make([][]float64, 40000/size)
			for i := range groups {
				v := random.NormFloat64()
				for range size {
					groups[i] = append(groups[i], 5+v)
					v = r*v + math.Sqrt(1-r*r)*random.NormFloat64()
				}
			}
			near(t, "lag 1", lag1(groups), r, 1/math.Sqrt(float64(10*size))) // what is put back is right to the order of 1/n
		}
	}
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: %g, want %g within %g", what, got, want, tolerance)
	}
}
