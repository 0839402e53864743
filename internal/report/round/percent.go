package round

import (
	"math"
	"slices"

	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/report/number"
)

// maxPercentDecimals is the number of decimals of percentages in other places, such as the status.
const maxPercentDecimals = 2

// percentDecimals returns the decimals with which an effect and its interval are written. They are more than the
// interval supports if an end would else seem to be 0, or at a bound.
func percentDecimals(e *benchmark.Effect, bounds []float64) int {
	if e.Percent == nil {
		return 0
	}
	width := half(e.LowPercent, e.HighPercent)
	decimals := max(0, number.Decimals(*e.Percent, width))
	if width == 0 {
		return decimals
	}
	seems := func(end float64) bool {
		scale := math.Pow10(decimals)
		return slices.ContainsFunc(append(bounds, 0), func(bound float64) bool { return end != bound && math.Round(end*scale) == bound*scale })
	}
	for decimals < maxPercentDecimals && (seems(*e.LowPercent) || seems(*e.HighPercent)) {
		decimals++
	}
	return decimals
}

// SignedPercent formats a change without an interval.
func SignedPercent(percent float64) string {
	return signedPercent(&benchmark.Effect{Percent: &percent}, &percent, nil)
}

// Change returns the estimate of an effect in percent, with its sign: "-" if it is unknown.
// bounds are those from which the ends of its interval are to be told, in percent.
func Change(e *benchmark.Effect, bounds ...float64) string {
	return signedPercent(e, e.Percent, bounds)
}

// Interval returns the interval of an effect in percent: "-" if there is none. bounds are as Change takes them.
func Interval(e *benchmark.Effect, bounds ...float64) string {
	if e.LowPercent == nil && e.HighPercent == nil {
		return "-"
	}
	end := func(p *float64) string {
		if p == nil {
			return "unbounded"
		}
		return signedPercent(e, p, bounds)
	}
	return end(e.LowPercent) + " to " + end(e.HighPercent)
}

func signedPercent(e *benchmark.Effect, p *float64, bounds []float64) string {
	if p == nil {
		return "-"
	}
	text := number.Fixed(*p, percentDecimals(e, bounds))
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
