package statistics

// binomial returns the lower half of the cumulative distribution of how many of n independent values
// are below their median.
func binomial(n int) []float64 {
	return sumOfHalves(n, func(int) int { return 1 })
}

// signedRank returns the lower half of the cumulative null distribution of the Wilcoxon signed-rank
// statistic of n differences: each of the ranks 1 to n counts with probability one half.
func signedRank(n int) []float64 {
	return sumOfHalves(n, func(rank int) int { return rank })
}

// sumOfHalves returns the lower half of the cumulative distribution of the sum of step(1) to step(n),
// each of which counts with probability one half.
func sumOfHalves(n int, step func(int) int) []float64 {
	p := []float64{1}
	for i := 1; i <= n; i++ {
		s := step(i)
		p = append(p, make([]float64, s)...)
		for k := len(p) - 1; k >= 0; k-- {
			p[k] /= 2
			if k >= s {
				p[k] += p[k-s] / 2
			}
		}
	}
	return cumulate(p[:(len(p)+1)/2])
}

// mannWhitney returns the lower half of the cumulative null distribution of the Mann-Whitney statistic
// of samples of n and m values. The counts are the coefficients of the Gaussian binomial
// coefficient, multiplied up factor by factor (Harding, "An Efficient, Unified Approach for
// Generating the Mann-Whitney, Wilcoxon and Some Other Distributions", Applied Statistics 33, 1984).
func mannWhitney(n, m int) []float64 {
	p := make([]float64, n*m/2+1)
	p[0] = 1
	all := 1.0
	for i := 1; i <= m; i++ {
		for k := len(p) - 1; k >= n+i; k-- {
			p[k] -= p[k-n-i]
		}
		for k := i; k < len(p); k++ {
			p[k] += p[k-i]
		}
		all *= float64(n+i) / float64(i)
	}
	for k := range p {
		p[k] /= all
	}
	return cumulate(p)
}

// kendall returns the lower half of the cumulative null distribution of the number of inversions of n
// values: the pairs of which the earlier is the larger. Value i is inverted with any number, from 0 to
// i-1, of those before it, all of them equally likely (Kendall, "A New Measure of Rank Correlation",
// Biometrika 30, 1938).
func kendall(n int) []float64 {
	p := []float64{1}
	for i := 2; i <= n; i++ {
		next := make([]float64, len(p)+i-1)
		sum := 0.0
		for k := range next {
			if k < len(p) {
				sum += p[k]
			}
			if k >= i {
				sum -= p[k-i]
			}
			next[k] = sum / float64(i)
		}
		p = next
	}
	return cumulate(p[:(len(p)+1)/2])
}

func cumulate(p []float64) []float64 {
	for k := 1; k < len(p); k++ {
		p[k] += p[k-1]
	}
	return p
}
