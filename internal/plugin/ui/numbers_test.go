package ui

import (
	"testing"
	"time"
)

// TestNumbers checks digits and durations.
func TestNumbers(t *testing.T) {
	for got, want := range map[string]string{
		rateOf("4510.25"): "4,510", rateOf("x"): none,
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
