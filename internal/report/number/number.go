// Package number writes numbers in words, as reports, pages and pictures have them: with the digits that they are known by, and with
// commas between thousands.
package number

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// significantDigits is the number of digits of a value without an interval.
const significantDigits = 3

// Significant returns a value with three significant digits, and whole thousands and more: "4,510", "93.8", "0.0512".
// It returns "-" if x isn't finite.
func Significant(x float64) string {
	text := Fixed(x, Decimals(x, 0))
	if number, negative := strings.CutPrefix(text, "-"); negative && number != "" {
		return "−" + number
	}
	return text
}

// Decimals returns the number of decimals of a value that is known to within halfWidth, half the width of its interval:
// its last digit is at the first digit of the half-width, one further if that is 1 or 2. A negative number stands for
// tens, hundreds and so on. Without a half-width, the value has 3 significant digits.
func Decimals(value, halfWidth float64) int {
	if halfWidth > 0 && !math.IsInf(halfWidth, 0) {
		first, exponent := leading(halfWidth, -1)
		if first == '1' || first == '2' {
			exponent--
		}
		return -exponent
	}
	if value == 0 || math.IsNaN(value) || math.IsInf(value, 0) {
		return 0
	}
	_, exponent := leading(value, significantDigits-1)
	return significantDigits - 1 - exponent
}

// leading returns the first digit of a number that has the given number of further digits, or as many as it needs
// with -1, and the power of ten of that digit.
func leading(x float64, digits int) (first byte, exponent int) {
	mantissa, power, _ := strings.Cut(strconv.FormatFloat(math.Abs(x), 'e', digits, 64), "e")
	exponent, _ = strconv.Atoi(power)
	return mantissa[0], exponent
}

// Fixed formats a number with decimals, or rounds it to tens, hundreds and so on if they are negative. A positive number
// that would be written as 0 is written as less than the unit of the last digit: "<0.1". It returns "-" if x isn't
// finite.
func Fixed(x float64, decimals int) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "-"
	}
	if decimals < 0 {
		unit := math.Pow10(-decimals)
		if rounded := math.Round(x/unit) * unit; rounded != 0 || x <= 0 {
			return Separated(strconv.FormatFloat(rounded+0, 'f', 0, 64))
		}
		decimals = 0
	}
	text := strconv.FormatFloat(x, 'f', decimals, 64)
	if strings.Trim(text, "-0.") != "" {
		return Separated(text)
	}
	if x > 0 {
		return "<" + strconv.FormatFloat(math.Pow10(-decimals), 'f', decimals, 64)
	}
	return strings.TrimPrefix(text, "-")
}

// Minus returns a text with minus signs in place of the hyphens before its numbers: programs that read pages aloud omit
// hyphens.
func Minus(text string) string { return hyphen.ReplaceAllString(text, "${1}−${2}") }

var hyphen = regexp.MustCompile(`(^|[\s(])-([0-9])`)

// Count returns a whole number with a comma before each three digits.
func Count(n int64) string { return Separated(strconv.FormatInt(n, 10)) }

// Rate returns a rate per second with its decimals, and its thousands separated.
func Rate(perSecond float64) string { return Separated(strconv.FormatFloat(perSecond, 'f', -1, 64)) }

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

// Plural returns a number of what a noun names: "1 run", "2 runs".
func Plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// OrDash returns a text, or "-" if it isn't known.
func OrDash(known bool, text string) string {
	if !known {
		return "-"
	}
	return text
}

// Unit puts a unit behind a value, with the narrow no-break space of pages.
func Unit(value, unit string) string {
	if unit == "" || unit == "%" {
		return value + unit
	}
	return value + "\u202f" + unit
}
