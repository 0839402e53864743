package statistics

import (
	"math"
	"math/big"
	"math/bits"
	"slices"
	"testing"
)

// TestNullDistributions enumerates all equally likely outcomes.
func TestNullDistributions(t *testing.T) {
	for n := 1; n <= 10; n++ {
		signs, ranks := make([]float64, n+1), make([]float64, n*(n+1)/2+1)
		for outcome := range 1 << n {
			sum := 0
			for i := range n {
				if outcome>>i&1 == 1 {
					sum += i + 1
				}
			}
			signs[bits.OnesCount(uint(outcome))] += math.Ldexp(1, -n)
			ranks[sum] += math.Ldexp(1, -n)
		}
		compareTails(t, "binomial", binomial(n), cumulate(signs))
		compareTails(t, "signed rank", signedRank(n), cumulate(ranks))
	}
	for n := 1; n <= 7; n++ {
		counts := make([]float64, n*(n-1)/2+1)
		permute(make([]int, 0, n), n, func(order []int) { counts[inversions(order)]++ })
		all := 0.0
		for _, c := range counts {
			all += c
		}
		for k := range counts {
			counts[k] /= all
		}
		compareTails(t, "Kendall", kendall(n), cumulate(counts))
	}
	for n := 1; n <= 6; n++ {
		for m := 1; m <= 6; m++ {
			counts, all := make([]float64, n*m+1), 0.0
			for outcome := range 1 << (n + m) {
				if bits.OnesCount(uint(outcome)) != n {
					continue
				}
				u, ones := 0, 0
				for i := range n + m {
					if outcome>>i&1 == 1 {
						ones++
					} else {
						u += ones
					}
				}
				counts[u]++
				all++
			}
			for k := range counts {
				counts[k] /= all
			}
			compareTails(t, "Mann-Whitney", mannWhitney(n, m), cumulate(counts))
		}
	}
}

// permute visits every order of the numbers below n.
func permute(order []int, n int, visit func([]int)) {
	if len(order) == n {
		visit(order)
		return
	}
	for i := range n {
		if !slices.Contains(order, i) {
			permute(append(order, i), n, visit)
		}
	}
}

func inversions(order []int) (n int) {
	for i := range order {
		for _, later := range order[i+1:] {
			if order[i] > later {
				n++
			}
		}
	}
	return n
}

func compareTails(t *testing.T, name string, got, whole []float64) {
	t.Helper()
	if len(got) != (len(whole)+1)/2 {
		t.Fatalf("%s: %d probabilities, want the lower half of %d", name, len(got), len(whole))
	}
	for k := range got {
		if math.Abs(got[k]-whole[k]) > 1e-12 {
			t.Fatalf("%s: P(T <= %d) = %g, want %g", name, k, got[k], whole[k])
		}
	}
}

// TestMannWhitneyOfLargeSamples compares with whole numbers: the counts of samples of this size
// have 47 digits.
func TestMannWhitneyOfLargeSamples(t *testing.T) {
	n, m := 90, 70
	counts := make([]big.Int, n*m/2+1)
	counts[0].SetInt64(1)
	for i := 1; i <= m; i++ {
		for k := len(counts) - 1; k >= n+i; k-- {
			counts[k].Sub(&counts[k], &counts[k-n-i])
		}
		for k := i; k < len(counts); k++ {
			counts[k].Add(&counts[k], &counts[k-i])
		}
	}
	all, sum := new(big.Int).Binomial(int64(n+m), int64(m)), new(big.Int)
	for k, got := range mannWhitney(n, m) {
		want, _ := new(big.Rat).SetFrac(sum.Add(sum, &counts[k]), all).Float64()
		if math.Abs(got-want) > 1e-11*want {
			t.Fatalf("P(U <= %d) = %g, want %g", k, got, want)
		}
	}
}

// TestCriticalValues compares with the tables of textbooks, which give the largest statistic that is
// significant at 5% (two-sided).
func TestCriticalValues(t *testing.T) {
	for n, want := range map[int]int{5: -1, 6: 0, 8: 3, 10: 8, 15: 25, 20: 52, 25: 89} {
		if got := critical(signedRank(n), 0.05) - 1; got != want {
			t.Errorf("signed rank of %d: %d, want %d", n, got, want)
		}
	}
	for n, want := range map[int]int{3: -1, 4: 0, 5: 2, 8: 13, 10: 23, 20: 127} {
		if got := critical(mannWhitney(n, n), 0.05) - 1; got != want {
			t.Errorf("Mann-Whitney of %d and %d: %d, want %d", n, n, got, want)
		}
	}
	for n, want := range map[int]int{4: -1, 5: 0, 8: 5, 10: 11, 20: 64} {
		if got := critical(kendall(n), 0.05) - 1; got != want {
			t.Errorf("Kendall of %d: %d, want %d", n, got, want)
		}
	}
	for n, want := range map[int]int{5: -1, 6: 0, 10: 1, 20: 5, 100: 39} {
		if got := critical(binomial(n), 0.05) - 1; got != want {
			t.Errorf("binomial of %d: %d, want %d", n, got, want)
		}
	}
}
