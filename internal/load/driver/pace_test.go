package driver

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-dev/assay/internal/profile"
	"github.com/assay-dev/assay/internal/session"
)

// startsBySecond counts the requests by the second in which they started.
func startsBySecond(d stageResult) map[int]int {
	bySecond := map[int]int{}
	for _, o := range d.outcomes {
		bySecond[int((o.Ended-o.Total)/time.Second)]++
	}
	return bySecond
}

func TestThinkTime(t *testing.T) {
	for name, thinkTime := range map[string]session.ThinkTime{
		"fixed": {MinMicroseconds: 400_000, MaxMicroseconds: 400_000}, "random": {MinMicroseconds: 100_000, MaxMicroseconds: 700_000},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := plan(10, 0, "/")
				p.ThinkTime = &thinkTime
				p.Measurement = session.Amount{DurationMicroseconds: 100_000_000}
				got := virtually(t, p, after(100*time.Millisecond))
				// A request and its think time take half a second on average.
				if n := got.Requests; n < 1950 || n > 2050 || name == "fixed" && n != 2000 {
					t.Errorf("%d requests", n)
				}
				for _, o := range got.outcomes {
					if o.Total != 100*time.Millisecond {
						t.Fatalf("the latency includes think time: %+v", o)
					}
				}
				if got.Connections != 10 || got.elapsed > 101*time.Second {
					t.Errorf("%d connections, %v", got.Connections, got.elapsed)
				}
			})
		})
	}
}

func TestConnectionRamp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := plan(10, 0, "/")
		p.Measurement = session.Amount{DurationMicroseconds: 20_000_000, Profile: profile.Profile{{To: 10, DurationMicroseconds: 10_000_000}}}
		bySecond := startsBySecond(virtually(t, p, after(time.Second)))
		for second := range 20 {
			if want := min(second+1, 10); bySecond[second] != want {
				t.Errorf("in second %d %d requests started, want %d", second, bySecond[second], want)
			}
		}
	})
}

func TestConnectionStages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := plan(8, 0, "/")
		p.Measurement = session.Amount{DurationMicroseconds: 30_000_000, Profile: profile.Profile{
			{From: 2, To: 2, DurationMicroseconds: 10_000_000, Level: true},
			{From: 8, To: 8, DurationMicroseconds: 10_000_000, Level: true},
			{From: 4, To: 4, DurationMicroseconds: 10_000_000, Level: true},
		}}
		got := virtually(t, p, after(time.Second))
		bySecond := startsBySecond(got)
		for second := range 30 {
			if want := []int{2, 8, 4}[second/10]; bySecond[second] != want {
				t.Errorf("in second %d %d requests started, want %d", second, bySecond[second], want)
			}
		}
		if got.Connections != 8 {
			t.Errorf("%d connections", got.Connections)
		}
	})
}
