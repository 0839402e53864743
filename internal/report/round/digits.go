package round

import (
	"math"

	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/report/picture"
)

// maxPercentDecimals is the number of decimals of percentages in other places, such as the status.
const maxPercentDecimals = 2

// half returns half the distance of the ends of an interval; 0 unless it has both.
func half(low, high *float64) float64 {
	if low == nil || high == nil {
		return 0
	}
	return (*high - *low) / 2
}

// percentDecimals returns the decimals with which an effect and its interval are written. They are more than the
// interval supports if an end would else seem to be at the tolerance.
func percentDecimals(e *benchmark.Effect) int {
	if e.Percent == nil {
		return 0
	}
	width := half(e.LowPercent, e.HighPercent)
	decimals := max(0, picture.Decimals(*e.Percent, width))
	if width == 0 {
		return decimals
	}
	tolerance := float64(e.TolerancePercent)
	seems := func(end float64) bool {
		size, scale := math.Abs(end), math.Pow10(decimals)
		return size != tolerance && math.Round(size*scale) == tolerance*scale
	}
	for decimals < maxPercentDecimals && (seems(*e.LowPercent) || seems(*e.HighPercent)) {
		decimals++
	}
	return decimals
}
