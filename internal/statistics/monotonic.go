package statistics

import (
	"math"
	"slices"
)

// Trend is a monotonic change of a series: of values in their order, the same time apart.
type Trend struct {
	// Slope is the median of the slopes between all pairs of values (Theil, 1950; Sen, "Estimates of the
	// Regression Coefficient Based on Kendall's Tau", 1968), in the values' unit for each step. A share of
	// 29% of the values can be anything without moving it far.
	Slope float64
	// P is the two-sided p value of the Mann-Kendall test (Mann, "Nonparametric Tests Against Trend",
	// 1945): the probability of as many rising, or falling, pairs in a series of independent values
	// without a trend. With equal values it is too large rather than too small.
	P float64
}

// TrendOf returns the trend of a series. Without two values it has a Slope of NaN and a P of 1. Values
// must be finite. Time grows with the cube of the length.
func TrendOf(series []float64) Trend {
	n := len(series)
	slopes := make([]float64, 0, n*max(0, n-1)/2)
	var rising, falling int
	for i, a := range series {
		for j, b := range series[i+1:] {
			slopes = append(slopes, (b-a)/float64(j+1))
			switch {
			case b > a:
				rising++
			case b < a:
				falling++
			}
		}
	}
	slices.Sort(slopes)
	// Equal pairs count as half, as if either order were as likely.
	fewer := min(rising, falling) + (len(slopes)-rising-falling+1)/2
	p := 1.0
	if tail := kendall(n); fewer < len(tail) {
		p = math.Min(1, 2*tail[fewer])
	}
	return Trend{Slope: median(slopes), P: p}
}
