package session

import (
	"testing"

	"github.com/assay-dev/assay/internal/profile"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

func TestLevelsAndArrivalsComeAcross(t *testing.T) {
	levels := make([]result.LevelTotals, 2)
	levels[1].Requests, levels[1].CPU, levels[1].Dropped = 1, 7, 3
	levels[1].Latencies.Of(result.Total).Record(5)
	w, err := LevelsToWire(levels)
	if err != nil {
		t.Fatal(err)
	}
	got, err := LevelsFromWire(w)
	if err != nil || len(got) != 2 || got[1].Counts != levels[1].Counts || got[1].CPU != 7 || got[1].Latencies.Get(result.Total).Sum() != 5 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := LevelsFromWire(make([]*sessionpb.LevelTotals, MaxLevels+1)); err == nil {
		t.Error("too many levels were taken")
	}
	if _, err := LevelsFromWire([]*sessionpb.LevelTotals{{}}); err == nil {
		t.Error("a level without counts was taken")
	}

	arrivals := &result.Arrivals{Due: 10, PlannedMicroseconds: 1_000_000, StartedMicroseconds: 2_000_000}
	back, err := ArrivalsFromWire(result.ArrivalFigures.Values(arrivals), &result.Counts{Dropped: 10})
	if err != nil || *back != *arrivals {
		t.Errorf("%+v, %v", back, err)
	}
	for _, bad := range [][]int64{{9}, {10, -1}, {10, 0, -1}, {1 << 50}, make([]int64, 1000)} {
		if _, err := ArrivalsFromWire(bad, &result.Counts{Dropped: 10}); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
	if none, err := ArrivalsFromWire(result.ArrivalFigures.Values(nil), &result.Counts{}); none != nil || err != nil {
		t.Errorf("%v, %v", none, err)
	}
}

// TestInvalidShapes checks that plans with invalid profiles, arrivals and think
// times are rejected.
func TestInvalidShapes(t *testing.T) {
	plan := func() *Plan {
		return &Plan{
			Connections: 5, TimeoutMicroseconds: 1, Requests: []PlannedRequest{{Path: "/", Weight: 1}},
			Measurement: Amount{DurationMicroseconds: 1, Profile: profile.Profile{{From: 5, To: 5}}},
		}
	}
	if err := plan().Check(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Plan){
		"more connections than there are": func(p *Plan) { p.Measurement.Profile[0].To = 6 },
		"pause backwards":                 func(p *Plan) { p.ThinkTime = &ThinkTime{MinMicroseconds: 2, MaxMicroseconds: 1} },
		"pause of arrivals":               func(p *Plan) { p.Arrivals, p.ThinkTime = &Arrivals{Shares: 1}, &ThinkTime{} },
		"arrivals without a rate":         func(p *Plan) { p.Arrivals, p.Measurement.Profile = &Arrivals{Shares: 1}, nil },
		"arrivals that cease":             func(p *Plan) { p.Arrivals, p.Measurement.Profile[0].To = &Arrivals{Shares: 1}, 0 },
		"a share that isn't one":          func(p *Plan) { p.Arrivals = &Arrivals{Share: 1, Shares: 1} },
		"warm-up without a rate": func(p *Plan) {
			p.Arrivals, p.Warmup = &Arrivals{Shares: 1}, &Amount{Requests: 1}
		},
	} {
		p := plan()
		change(p)
		if p.Check() == nil {
			t.Errorf("%s was taken", name)
		}
	}
}
