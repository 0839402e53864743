package ui

import (
	"fmt"
	"strconv"
	"time"

	"github.com/assay-dev/assay/internal/report/number"
)

// none stands for a metric that isn't there.
const none = "-"

// rateOf returns a rate of the API with three significant digits.
func rateOf(text string) string {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return none
	}
	return number.Significant(x)
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

// stamp returns a time in the user's time zone, to the minute; the year apart, for which narrow pages have no room.
func stamp(t time.Time) (year, rest string) {
	if t.IsZero() {
		return "", none
	}
	t = t.Local()
	return t.Format("2006"), t.Format("01-02 15:04")
}
