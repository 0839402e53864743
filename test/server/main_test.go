package main

import (
	"testing"
	"time"
)

// TestLimitedRate asks for ten seconds at a rate below and above the limit, with a stall in the middle after
// which the late requests come at once.
func TestLimitedRate(t *testing.T) {
	const limit, seconds = 300, 10
	for _, test := range []struct {
		perSecond int
		stall     time.Duration
		served    int // of all requests
	}{
		{perSecond: 297, served: 2970},
		{perSecond: 297, stall: 40 * time.Millisecond, served: 2970},
		{perSecond: 306, served: 3000},
		{perSecond: 1200, served: 3000},
	} {
		s := newServer()
		begin := time.Now()
		served := 0
		for i := range test.perSecond * seconds {
			at := time.Duration(i) * time.Second / time.Duration(test.perSecond)
			if at > 5*time.Second && at < 5*time.Second+test.stall {
				at = 5*time.Second + test.stall
			}
			if s.admit("/limited/300/10", begin.Add(at), limit) {
				served++
			}
		}
		if served < test.served-2 || served > test.served+2 {
			t.Errorf("%d requests/s with a stall of %s: %d served, want %d", test.perSecond, test.stall, served, test.served)
		}
	}
}

func TestRandomDelay(t *testing.T) {
	var sum time.Duration
	const n = 100_000
	for range n {
		d := randomDelay(1000)
		if d < 500*time.Microsecond || d > 1500*time.Microsecond {
			t.Fatalf("a delay of %s", d)
		}
		sum += d
	}
	// The mean of n times has a standard deviation of 0.9 microseconds.
	if mean := sum / n; mean < 990*time.Microsecond || mean > 1010*time.Microsecond {
		t.Errorf("the mean is %s", mean)
	}
}
