package picture

import (
	"math"
	"strconv"
	"strings"
)

// Significant returns a figure with three significant digits, and whole thousands and more: "4,510", "93.8", "0.0512".
// It returns "-" if x isn't finite.
func Significant(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "-"
	}
	if x == 0 {
		return "0"
	}
	mantissa := strconv.FormatFloat(math.Abs(x), 'e', 2, 64)
	_, power, _ := strings.Cut(mantissa, "e")
	exponent, _ := strconv.Atoi(power)
	rounded, _ := strconv.ParseFloat(mantissa, 64)
	text := Separated(strconv.FormatFloat(rounded, 'f', max(0, 2-exponent), 64))
	if x < 0 {
		return "−" + text
	}
	return text
}

// Count returns a whole number with a comma before each three digits.
func Count(n int64) string { return Separated(strconv.FormatInt(n, 10)) }

// Separated separates the thousands of a decimal number by commas: 1,234,567.8.
func Separated(number string) string {
	whole, fraction, has := strings.Cut(number, ".")
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

// Share returns a part of a whole in percent: "12.3%". A share that isn't 0 or 100% is never rounded to it: "<0.01%",
// ">99.99%".
func Share(part, whole int64) string {
	switch {
	case whole <= 0:
		return "-"
	case part == 0:
		return "0%"
	case part == whole:
		return "100%"
	}
	switch percent := 100 * float64(part) / float64(whole); {
	case percent < 0.01:
		return "<0.01%"
	case percent > 99.99:
		return ">99.99%"
	case percent < 1 || percent > 99:
		return strconv.FormatFloat(percent, 'f', 2, 64) + "%"
	default:
		return strconv.FormatFloat(percent, 'f', 1, 64) + "%"
	}
}

// Percent returns a percentage as a whole number: "53%", and "<1%" for what isn't quite 0.
func Percent(percent float64) string {
	if percent > 0 && percent < 0.5 {
		return "<1%"
	}
	return strconv.FormatFloat(percent, 'f', 0, 64) + "%"
}

// Milliseconds returns microseconds as milliseconds with three significant digits, without the unit.
func Milliseconds(microseconds int64) string { return Significant(float64(microseconds) / 1000) }

// Unit puts a unit behind a figure, with the narrow no-break space of pages.
func Unit(figure, unit string) string {
	if unit == "" || unit == "%" {
		return figure + unit
	}
	return figure + "\u202f" + unit
}
