package session

import (
	"testing"

	"github.com/assay-dev/assay/internal/profile"
	"github.com/assay-dev/assay/internal/result"
)

func TestLevelsAndArrivalsComeAcross(t *testing.T) {
	levels := make([]result.LevelTotals, 2)
	levels[0].CPU, levels[0].Seconds = -1, -1
	levels[1].Requests, levels[1].CPU, levels[1].Dropped = 1, 7, 3
	levels[1].Latencies.Of(result.Total).Record(5)
	arrivals := &result.Arrivals{Due: 10, PlannedMicroseconds: 1_000_000, StartedMicroseconds: 2_000_000}
	got, err := DecodeTotals(encoded(t, &result.Totals{Levels: levels, Arrivals: arrivals, Measure: result.Measure{Counts: result.Counts{Dropped: 10}}}))
	if err != nil {
		t.Fatal(err)
	}
	if all := got.Levels; len(all) != 2 || all[1].Counts != levels[1].Counts || all[1].CPU != 7 || all[1].Latencies.Get(result.Total).Sum() != 5 ||
		all[0].CPU != 0 || all[0].Seconds != 0 {
		t.Errorf("%+v", all)
	}
	if *got.Arrivals != *arrivals {
		t.Errorf("%+v", got.Arrivals)
	}
	for _, bad := range []result.Arrivals{{Due: 9}, {Due: 10, PlannedMicroseconds: -1}, {Due: 10, StartedMicroseconds: -1}, {Due: 1 << 50}} {
		if checkArrivals(&bad, &result.Counts{Dropped: 10}) == nil {
			t.Errorf("%v was taken", bad)
		}
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
