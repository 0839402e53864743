package ui

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// none stands for a figure that isn't there.
const none = "–"

// count returns a number with a comma every three digits.
func count(n int64) string {
	text := strconv.FormatInt(n, 10)
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign, text = "-", text[1:]
	}
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return sign + text
}

// significant returns a number with three significant digits, and with all before the decimal point.
func significant(x float64) string {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return none
	case math.Abs(x) >= 100 || x == 0:
		return count(int64(math.Round(x)))
	}
	digits := 2 - int(math.Floor(math.Log10(math.Abs(x))))
	text := strconv.FormatFloat(x, 'f', digits, 64)
	if rounded, err := strconv.ParseFloat(text, 64); err == nil && math.Abs(rounded) >= math.Pow10(3-digits) && digits > 0 {
		text = strconv.FormatFloat(x, 'f', digits-1, 64) // 9.999 is 10.0
	}
	return text
}

// milliseconds returns microseconds as milliseconds, with three significant digits and no unit.
func milliseconds(us int64) string { return significant(float64(us) / 1000) }

// rate returns a rate of the API with three significant digits.
func rate(text string) string {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return none
	}
	return significant(x)
}

// share returns a share in percent that is only 0% or 100% if it is exactly that.
func share(part, whole int64) string {
	if whole <= 0 {
		return none
	}
	percent := 100 * float64(part) / float64(whole)
	switch {
	case part > 0 && percent < 0.01:
		return "<0.01%"
	case part < whole && percent > 99.99:
		return ">99.99%"
	}
	return strconv.FormatFloat(percent, 'g', 3, 64) + "%"
}

// span returns a duration in the form 12s, 3:05 or 2:03:05.
func span(d time.Duration) string {
	s := int64(d.Round(time.Second) / time.Second)
	switch {
	case s < 120:
		return fmt.Sprintf("%ds", s)
	case s < 7200:
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// stamp returns a time in the user's time zone, to the minute.
func stamp(t time.Time) string {
	if t.IsZero() {
		return none
	}
	return t.Local().Format("2006-01-02 15:04")
}
