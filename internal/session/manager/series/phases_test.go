package series

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/assay-dev/assay/internal/result"
)

// timed returns a second in which each request waited for a time drawn at random, and is received
// at once.
func timed(number int64, requests int, draw func() float64) *result.ClientSecond {
	s := &result.ClientSecond{Second: number}
	s.Requests = int64(requests)
	for range requests {
		took := int64(draw())
		s.Latencies.Of(result.Waiting).Record(took)
		s.Latencies.Of(result.Receiving).Record(0)
		s.Latencies.Of(result.Total).Record(took)
	}
	s.Phases, s.Sketches = s.Latencies.Times(), s.Latencies.Sketches()
	return s
}

// near reports whether the percentiles of a sketch are those of a histogram, to within both geometries.
func near(got *result.PhasePercentiles, want *result.Histogram) bool {
	if got == nil {
		return false
	}
	for percent, estimate := range map[float64]int64{50: got.P50, 90: got.P90, 99: got.P99} {
		truth := float64(want.Percentile(percent))
		if off := float64(estimate) - truth; off > 0.017*truth || -off > 0.017*truth {
			return false
		}
	}
	return true
}

// TestPercentilesOfPhases compares the percentiles of each entry with the histogram of all its durations. The
// clients have different waiting times, also where seconds were joined.
func TestPercentilesOfPhases(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, seconds := range []int64{5, 1300} {
		s := NewClients()
		pooled := map[int64]*result.Histogram{}
		width := int64(1)
		for seconds > width*MaxLength {
			width *= 2
		}
		for client := range 3 {
			for number := range seconds {
				second := timed(number, 20*(client+1), func() float64 {
					return random.ExpFloat64() * float64(100*client*client*client+50) * float64(number%7+1)
				})
				key := number / width
				if pooled[key] == nil {
					pooled[key] = result.NewHistogram()
				}
				pooled[key].Merge(second.Latencies[result.Waiting])
				s.Add(second, 1)
			}
		}
		all := s.Seconds()
		if len(all) != len(pooled) {
			t.Fatalf("%d entries, want %d", len(all), len(pooled))
		}
		for i := range all {
			e, want := &all[i], pooled[all[i].Second/width]
			if waiting := e.Phases[result.Waiting]; !near(waiting.PhasePercentiles, want) || waiting.Count != want.Count() {
				t.Errorf("%d seconds from %d: waiting %+v of %d, want p50 %d, p99 %d", e.Seconds, e.Second, waiting.PhasePercentiles, waiting.Count, want.Percentile(50), want.Percentile(99))
			}
			if p := e.Phases[result.Receiving].PhasePercentiles; p == nil || *p != (result.PhasePercentiles{}) {
				t.Errorf("%d seconds from %d: receiving %+v", e.Seconds, e.Second, p)
			}
			if p := e.Phases[result.Total].PhasePercentiles; p == nil || *p != (result.PhasePercentiles{P50: e.P50, P90: e.P90, P99: e.P99}) {
				t.Errorf("%d seconds from %d: total %+v, want %d, %d, %d", e.Seconds, e.Second, p, e.P50, e.P90, e.P99)
			}
		}
	}
}

// TestPercentilesOfOldClients merges seconds of clients that send no sketches, or nothing of the phases.
func TestPercentilesOfOldClients(t *testing.T) {
	took := func() float64 { return 500 }
	for name, test := range map[string]struct {
		change       func(*result.ClientSecond)
		total, known bool
	}{
		"all the same":                 {func(*result.ClientSecond) {}, true, true},
		"no sketches":                  {func(s *result.ClientSecond) { s.Sketches = result.Sketches{} }, true, false},
		"of the first protocol":        {func(s *result.ClientSecond) { s.Sketches, s.Phases = result.Sketches{}, result.PhaseTimes{} }, false, true},
		"without a successful request": {func(s *result.ClientSecond) { *s = result.ClientSecond{} }, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewClients()
			old := timed(0, 10, took)
			test.change(old)
			s.Add(old, 1)
			s.Add(timed(0, 20, took), 1)
			got := s.Seconds()[0].Phases
			if known := got[result.Waiting].PhasePercentiles != nil; known != test.known {
				t.Errorf("waiting %+v", got[result.Waiting])
			}
			if known := got[result.Total].PhasePercentiles != nil; known != test.total || got[result.Connect].PhasePercentiles != nil {
				t.Errorf("phases %+v", got)
			}
		})
	}
}

// TestSketchesStay checks that the sketches of seconds are those of all clients, and don't change with the series.
func TestSketchesStay(t *testing.T) {
	s := NewClients()
	random := rand.New(rand.NewPCG(3, 4))
	pooled := result.NewHistogram()
	for range 2 {
		second := timed(0, 1000, func() float64 { return random.ExpFloat64() * 5000 })
		pooled.Merge(second.Latencies[result.Total])
		s.Add(second, 1)
	}
	first := s.Seconds()[0].Sketch
	read := slices.Clone(first)
	s.Add(second(0, 1), 1)
	pooledBefore := pooled.Sketch()
	pooled.Record(1)
	if now := s.Seconds()[0].Sketch; !slices.Equal(now, pooled.Sketch()) {
		t.Error("the sketch isn't that of all durations")
	}
	if !slices.Equal(read, pooledBefore) || !slices.Equal(first, read) {
		t.Error("the sketch isn't that of all durations then, or has changed")
	}
}
