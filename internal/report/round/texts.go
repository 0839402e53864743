package round

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/assay-dev/assay/internal/report/number"
)

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
