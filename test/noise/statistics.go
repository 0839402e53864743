package main

import "math"

// components returns the variances within groups and between groups of values, by the analysis of variance of one random
// factor. That between groups is an unbiased estimate and may be negative. Both are NaN if no group has two values.
func components(groups [][]float64) (within, between float64) {
	var all []float64
	var sizes, inside float64
	for _, g := range groups {
		all = append(all, g...)
		sizes += square(float64(len(g)))
		inside += squares(g)
	}
	n, k := float64(len(all)), float64(len(groups))
	if n <= k {
		return math.NaN(), math.NaN()
	}
	within = inside / (n - k)
	return within, (squares(all) - inside - (k-1)*within) / (n - sizes/n)
}

// regression is a straight line through points, whose residuals have the standard deviation residual.
type regression struct{ slope, r, residual float64 }

// regress fits y to x, both of which are sets of groups of values whose means differ for reasons of their own.
func regress(x, y [][]float64) regression {
	var xx, yy, xy, freedom float64
	for i := range x {
		mx, my := mean(x[i]), mean(y[i])
		for j := range x[i] {
			dx, dy := x[i][j]-mx, y[i][j]-my
			xx, yy, xy = xx+dx*dx, yy+dy*dy, xy+dx*dy
		}
		freedom += float64(len(x[i]) - 1)
	}
	return regression{xy / xx, xy / math.Sqrt(xx*yy), math.Sqrt((yy - xy*xy/xx) / (freedom - 1))}
}

// lag1 returns the autocorrelation of neighboring values in the groups. The mean of a short group follows its values, which
// makes the plain estimate too small by about (1+3r)/n for groups of n (Kendall 1954): that is put back. Groups of less than
// 10 have no estimate: it is NaN.
func lag1(groups [][]float64) float64 {
	var products, sum, values float64
	for _, g := range groups {
		m := mean(g)
		for i := 1; i < len(g); i++ {
			products += (g[i-1] - m) * (g[i] - m)
		}
		sum += squares(g)
		values += float64(len(g))
	}
	n := values / float64(len(groups))
	if n < 10 {
		return math.NaN()
	}
	r := products / sum * n / (n - 1)
	return (r*n + 1) / (n - 3)
}

// deviation returns the standard deviation of values, or NaN if there are less than two.
func deviation(values []float64) float64 {
	return math.Sqrt(squares(values) / max(0, float64(len(values)-1)))
}

// squares returns the sum of the squared distances of values to their mean.
func squares(values []float64) (sum float64) {
	m := mean(values)
	for _, v := range values {
		sum += square(v - m)
	}
	return sum
}

func mean(values []float64) (m float64) {
	for _, v := range values {
		m += v / float64(len(values))
	}
	return m
}

func square(x float64) float64 { return x * x }
