package profile

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func random(r *rand.Rand) Profile {
	var p Profile
	for range 1 + r.IntN(6) {
		s := Segment{From: r.Int64N(1000), To: r.Int64N(1000), DurationMicroseconds: r.Int64N(60_000_000)}
		if r.IntN(3) == 0 {
			s.To = s.From
		}
		p = append(p, s)
	}
	p[len(p)-1].To = 1 + r.Int64N(1000)
	return p
}

// TestWhenIsTheInverseOfArea checks random profiles, also after their end.
func TestWhenIsTheInverseOfArea(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		p := random(r)
		last := time.Duration(-1)
		all := p.Area(p.Duration()) * 1.5
		for range 20 {
			area := r.Float64() * all
			at := p.When(area)
			if got := p.Area(at); math.Abs(got-area) > 1e-5*(1+area) {
				t.Fatalf("%v: an area of %v is reached at %v, where it is %v", p, area, at, got)
			}
		}
		for area := 0.0; area < 100; area++ {
			at := p.When(area)
			if at < last {
				t.Fatalf("%v: %v comes before what is less", p, area)
			}
			last = at
		}
	}
}

// TestLongConstantRateDoesntDrift checks that times are still exact to a nanosecond
// after a week at 7/s.
func TestLongConstantRateDoesntDrift(t *testing.T) {
	p := Profile{{From: 7, To: 7}}
	const n = 7 * 7 * 24 * 3600
	if got := p.When(n); got != 7*24*time.Hour {
		t.Errorf("%d requests at 7/s take %v", n, got)
	}
}

// TestAboveMatchesLoad compares Above with the load at random times.
func TestAboveIsWhatIsSampled(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	at := func(p Profile, instant time.Duration) float64 {
		for _, s := range p {
			if instant < s.duration() {
				return float64(s.From) + float64(s.To-s.From)*instant.Seconds()/s.seconds()
			}
			instant -= s.duration()
		}
		return float64(p.Final())
	}
	for range 500 {
		p := random(r)
		for range 10 {
			number := r.Int64N(1000)
			from := time.Duration(r.Int64N(int64(p.Duration()) + 1))
			begin, end := p.Above(number, from)
			for range 20 {
				instant := from + time.Duration(r.Int64N(int64(2*time.Minute)))
				load := at(p, instant)
				if instant >= end || math.Abs(load-float64(number)) < 0.01 {
					continue
				}
				if within := instant >= begin; within != (load > float64(number)) {
					t.Fatalf("%v: from %v on, the load is above %d from %v to %v; at %v it is %v", p, from, number, begin, end, instant, load)
				}
			}
		}
	}
}

func TestLevels(t *testing.T) {
	p := Profile{
		{To: 200, DurationMicroseconds: 30_000_000}, {From: 200, To: 200, DurationMicroseconds: 600_000_000, Level: true},
		{From: 400, To: 400, DurationMicroseconds: 60_000_000, Level: true},
	}
	got := p.Levels()
	if len(got) != 2 || got[0] != (Level{Load: 200, Start: 30, End: 630}) || got[1] != (Level{Load: 400, Start: 630, End: 690}) {
		t.Errorf("levels %+v", got)
	}
	if err := p.Check(400); err != nil {
		t.Error(err)
	}
	for name, bad := range map[string]Profile{
		"too much": {{From: 401, To: 1}}, "negative": {{From: -1, To: 1}}, "backwards": {{To: 1, DurationMicroseconds: -1}},
		"half a second": {{To: 1, DurationMicroseconds: 500_000, Level: true}},
	} {
		if bad.Check(400) == nil {
			t.Errorf("%s was taken", name)
		}
	}
}
