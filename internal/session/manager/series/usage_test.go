package series

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/result"
)

func TestUsage(t *testing.T) {
	const s = 1_000_000
	reading := func(at, cpu, resident int64) *result.ServerUsage {
		return &result.ServerUsage{At: at, UserCPU: cpu, Resident: resident}
	}
	tests := map[string]struct {
		start    int64
		readings []*result.ServerUsage
		begin    int64 // time of the sample
		cpu      []int64
		resident []int64
		peak     float64
		rss      int64
	}{
		"on time": {
			10 * s, []*result.ServerUsage{reading(10*s, 100, 5), reading(11*s, 500_100, 7), reading(12*s, 1_400_100, 6)},
			10 * s, []int64{500_000, 900_000, -1}, []int64{7, 6, -1}, 90, 7,
		},
		"late by some milliseconds": {
			10 * s, []*result.ServerUsage{reading(10*s+4000, 0, 5), reading(11*s+4000, s/2, 7), reading(12*s+4000, s, 6)},
			10*s + 4000, []int64{498_000, 500_000, 2000}, []int64{7, 6, 6}, 50, 7,
		},
		"read before": {
			10 * s, []*result.ServerUsage{reading(5*s, 0, 900), reading(9*s, 100, 900), reading(10*s+1000, 200, 5), reading(11*s+1000, 1200, 6)},
			10*s + 1000, []int64{1000, 1, -1}, []int64{6, 6, -1}, 0.1, 6,
		},
		"ended within a second": {
			10 * s, []*result.ServerUsage{reading(10*s, 0, 5), reading(10*s+400_000, 300_000, 8)},
			10 * s, []int64{300_000, -1, -1}, []int64{8, -1, -1}, 75, 8,
		},
		"too late": {
			10 * s, []*result.ServerUsage{reading(11*s, 5, 5), reading(12*s, 6, 5)},
			11 * s, []int64{-1, 1, -1}, []int64{-1, 5, -1}, 0.0001, 5,
		},
		"backwards": {
			10 * s, []*result.ServerUsage{reading(10*s, 5, 5), reading(9*s, 900, 900), reading(11*s, 7, 5)},
			10 * s, []int64{2, -1, -1}, []int64{5, -1, -1}, 0.0002, 5,
		},
		"none": {10 * s, nil, 0, []int64{-1, -1, -1}, []int64{-1, -1, -1}, 0, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for _, startFirst := range []bool{true, false} {
				u := newUsage(0)
				if startFirst {
					u.setStart(test.start)
				}
				for i, r := range test.readings {
					if !startFirst && i == 1 {
						u.setStart(test.start)
					}
					u.add(r)
				}
				var begin int64
				if u.Begin != nil {
					begin = u.Begin.At
				}
				var cpu, resident []int64
				for i := range int64(3) {
					var second result.Second
					used, ok := u.samples.between(test.start+i*s, test.start+(i+1)*s)
					second.SetServer(&used, ok)
					cpu, resident = append(cpu, second.ServerCPU), append(resident, second.ServerResident)
				}
				if diff := cmp.Diff([]any{test.begin, test.cpu, test.resident, test.peak, test.rss}, []any{begin, cpu, resident, u.peak(), u.PeakResident}); diff != "" {
					t.Errorf("start first %t: %s", startFirst, diff)
				}
			}
		})
	}
}

func TestUsageIsBounded(t *testing.T) {
	u := newUsage(0)
	u.setStart(1_000_000)
	const n = 3 * maxPoints
	for i := range int64(n) {
		u.add(&result.ServerUsage{At: (i + 1) * 1_000_000, UserCPU: i * 1000})
	}
	if len(u.samples.points) > maxPoints {
		t.Errorf("%d readings are kept", len(u.samples.points))
	}
	if used, _ := u.samples.between(1_000_000, 24_001_000_000); used.UserCPU != 24_000_000 {
		t.Errorf("CPU time %d", used.UserCPU)
	}
}

// TestLongestPauseOfTheMeasurement has a longer pause before the measurement, and more samples than are kept.
func TestLongestPauseOfTheMeasurement(t *testing.T) {
	u := newUsage(0)
	sample := func(second, longest int64) {
		u.add(&result.ServerUsage{At: second * 1_000_000, GCPauses: second, GCPauseMax: longest, HeapUsed: -1})
	}
	sample(9, 900)
	u.setStart(10_000_000)
	sample(10, 800) // of the second before the start
	for second := int64(11); second < 2*maxPoints; second++ {
		sample(second, second%500)
	}
	state := u.state()
	server := result.Server{Begin: *state.Begin, End: *state.Latest}
	if spent := server.Spent(); spent.GCPauseMax != 499 || spent.GCPauses != 2*maxPoints-1-10 || spent.HeapUsed != result.Unknown {
		t.Errorf("%+v", spent)
	}
	if used, ok := u.samples.between(20_000_000, 3000_000_000); !ok || used.GCPauseMax != 499 {
		t.Errorf("of many seconds, joined: %+v", used)
	}
}
