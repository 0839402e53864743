package round

import (
	"math"

	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/report/number"
)

// maxPercentDecimals is the number of decimals of percentages in other places, such as the status.
const maxPercentDecimals = 2

// percentDecimals returns the decimals with which an effect and its interval are written. They are more than the
// interval supports if an end would else seem to be at the tolerance.
func percentDecimals(e *benchmark.Effect) int {
	if e.Percent == nil {
		return 0
	}
	width := half(e.LowPercent, e.HighPercent)
	decimals := max(0, number.Decimals(*e.Percent, width))
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

// SignedPercent formats a change without an interval.
func SignedPercent(percent float64) string {
	return signedPercent(&benchmark.Effect{Percent: &percent}, &percent)
}

// Change returns the estimate of an effect in percent, with its sign: "-" if it is unknown.
func Change(e *benchmark.Effect) string { return signedPercent(e, e.Percent) }

// Interval returns the interval of an effect in percent: "-" if there is none.
func Interval(e *benchmark.Effect) string {
	if e.LowPercent == nil && e.HighPercent == nil {
		return "-"
	}
	end := func(p *float64) string {
		if p == nil {
			return "unbounded"
		}
		return signedPercent(e, p)
	}
	return end(e.LowPercent) + " to " + end(e.HighPercent)
}

func signedPercent(e *benchmark.Effect, p *float64) string {
	if p == nil {
		return "-"
	}
	text := number.Fixed(*p, percentDecimals(e))
	if *p > 0 {
		text = "+" + text
	}
	return text + "%"
}

// Detectable returns the smallest difference that a round like this one finds in 4 of 5 cases: "-" if it is unknown.
func Detectable(e *benchmark.Effect) string {
	if e.DetectablePercent == nil {
		return "-"
	}
	return number.Fixed(*e.DetectablePercent, max(0, number.Decimals(*e.DetectablePercent, *e.DetectablePercent))) + "%"
}
