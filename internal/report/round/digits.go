package round

import (
	"math"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/internal/benchmark"
)

// significantDigits is the number of digits of a figure without an interval.
const significantDigits = 3

// maxPercentDecimals is the number of decimals of percentages in other places, such as the status.
const maxPercentDecimals = 2

// decimalsOf returns the number of decimals of a figure that is known to within halfWidth: its last digit is at the
// first digit of the half-width, one further if that is 1 or 2. A negative number stands for tens, hundreds and so on.
// Without a half-width, the figure has 3 significant digits.
func decimalsOf(figure, halfWidth float64) int {
	if halfWidth > 0 && !math.IsInf(halfWidth, 0) {
		first, exponent := leading(halfWidth, -1)
		if first == '1' || first == '2' {
			exponent--
		}
		return -exponent
	}
	if figure == 0 || math.IsNaN(figure) || math.IsInf(figure, 0) {
		return 0
	}
	_, exponent := leading(figure, significantDigits-1)
	return significantDigits - 1 - exponent
}

// leading returns the first digit of a number that has the given number of further digits, or as many as it needs
// with -1, and the power of ten of that digit.
func leading(x float64, digits int) (first byte, exponent int) {
	mantissa, power, _ := strings.Cut(strconv.FormatFloat(math.Abs(x), 'e', digits, 64), "e")
	exponent, _ = strconv.Atoi(power)
	return mantissa[0], exponent
}

// fixed formats a number with decimals, or rounds it to tens, hundreds and so on if they are negative. Thousands are
// separated by commas. A positive number that would be written as 0 is written as less than the last digit's unit.
func fixed(x float64, decimals int) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "-"
	}
	if decimals < 0 {
		unit := math.Pow10(-decimals)
		if rounded := math.Round(x/unit) * unit; rounded != 0 || x <= 0 {
			return separated(strconv.FormatFloat(rounded, 'f', 0, 64))
		}
		decimals = 0
	}
	text := strconv.FormatFloat(x, 'f', decimals, 64)
	if strings.Trim(text, "-0.") != "" {
		return separated(text)
	}
	if x > 0 {
		return "<" + strconv.FormatFloat(math.Pow10(-decimals), 'f', decimals, 64)
	}
	return strings.TrimPrefix(text, "-")
}

// separated separates the thousands of a decimal number by commas: 1,234,567.8.
func separated(text string) string {
	whole, fraction, has := strings.Cut(text, ".")
	first := 0
	if strings.HasPrefix(whole, "-") {
		first = 1
	}
	for i := len(whole) - 3; i > first; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if has {
		return whole + "." + fraction
	}
	return whole
}

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
	decimals := max(0, decimalsOf(*e.Percent, width))
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
