package ui

import (
	"math"
	"testing"
	"time"
)

func secondsOf(n int64) time.Duration { return time.Duration(n) * time.Second }

// TestFigures checks digits, shares that are never rounded to none or all, and durations.
func TestFigures(t *testing.T) {
	for got, want := range map[string]string{
		count(0): "0", count(999): "999", count(1000): "1,000", count(-1234567): "-1,234,567",
		significant(0): "0", significant(4510.2): "4,510", significant(93.82): "93.8", significant(5.517): "5.52", significant(0.01234): "0.0123",
		significant(9.999): "10.0", significant(99.99): "100", significant(math.NaN()): none, milliseconds(795_123): "795",
		rate("4510.25"): "4,510", rate("x"): none,
		share(0, 100): "0%", share(100, 100): "100%", share(1, 1_000_000): "<0.01%", share(999_999, 1_000_000): ">99.99%", share(1, 3): "33.3%", share(1, 0): none,
		span(12 * time.Second): "12s", span(185 * time.Second): "3:05", span(7385 * time.Second): "2:03:05",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if roundTime(61) != 120 || roundTime(25*3600) != 48*3600 {
		t.Error("lengths of the x axis")
	}
}
