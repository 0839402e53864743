package round

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/assay-dev/assay/internal/report/number"
)

// Plural returns a number of what a noun names: "1 run", "2 runs".
func Plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

func orDash(known bool, text string) string {
	if !known {
		return "-"
	}
	return text
}

func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// digits formats a large number with separators: 1,234,567.
func digits(x float64) string {
	return number.Separated(strconv.FormatFloat(math.Round(x), 'f', 0, 64))
}
