package driver

import (
	"slices"
	"testing"
	"time"
)

// TestPeekKeepsTheSchedule checks that peek returns what next does, and that a schedule is the same with and without it.
func TestPeekKeepsTheSchedule(t *testing.T) {
	for name, poisson := range map[string]bool{"constant": false, "poisson": true} {
		t.Run(name, func(t *testing.T) {
			p := open(1, 100, time.Second)
			p.Arrivals.Poisson = poisson
			plain, peeked := newSchedule(&p, p.Measurement), newSchedule(&p, p.Measurement)
			var times []time.Duration
			for at, ok := plain.next(); ok; at, ok = plain.next() {
				times = append(times, at)
			}
			for i := 0; ; i++ {
				ahead, more := peeked.peek()
				again, _ := peeked.peek()
				at, ok := peeked.next()
				if ok != more || at != ahead || again != ahead {
					t.Fatalf("request %d: peeked at %v, %v and %v, then due at %v, %v", i, ahead, more, again, at, ok)
				}
				if !ok {
					if i != len(times) {
						t.Errorf("%d requests with peeking, %d without", i, len(times))
					}
					break
				}
				if i >= len(times) || at != times[i] {
					t.Fatalf("request %d at %v, not in %v", i, at, times[max(0, i-1):min(i+1, len(times))])
				}
			}
			if !slices.IsSorted(times) || peeked.count != plain.count {
				t.Errorf("%v, %d and %d requests", times, peeked.count, plain.count)
			}
		})
	}
}
