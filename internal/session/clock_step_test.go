package session

import (
	"testing"
	"time"
)

func TestClockStep(t *testing.T) {
	from := time.Now() // with a monotonic reading
	for name, test := range map[string]struct {
		monotonic, wall, want time.Duration
	}{
		"nothing happens":    {time.Minute, time.Minute, 0},
		"set a little":       {time.Minute, time.Minute + 900*time.Millisecond, 0},
		"set forwards":       {time.Minute, time.Hour + time.Minute, time.Hour},
		"set backwards":      {time.Minute, -time.Hour + time.Minute, -time.Hour},
		"the host has slept": {time.Second, 10 * time.Minute, 10*time.Minute - time.Second},
	} {
		if got := clockStep(test.wall, test.monotonic); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
	if got := ClockStep(from, from.Add(time.Hour)); got != 0 {
		t.Errorf("an hour later it was set by %s", got)
	}
}
