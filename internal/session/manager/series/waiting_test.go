package series

import (
	"testing"
	"time"

	"github.com/assay-dev/assay/internal/profile"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
)

// alternated returns a target whose load alternates, after samples at each second, each late by a number of microseconds. It uses all of a
// CPU, and its backend half of one, while it is loaded, and idle percent of that while it isn't. order makes the calls that need not
// come first.
func alternated(slices *profile.Slices, late, idle int64, order func(t *Target, start int64, add func())) *Target {
	const s, start = 1_000_000, 100_000_000
	t := NewTarget()
	usage := func(at int64) int64 { // up to a time
		own := int64(0)
		for w := int64(0); w < at-start; w += s {
			if begin := time.Duration(w) * time.Microsecond; slices.Next(begin) == begin {
				own += min(at-start-w, s)
			}
		}
		return own + max(at-start-own, 0)*idle/100
	}
	order(t, start, func() {
		for second := int64(-3); second <= 12; second++ {
			at := start + second*s + late
			used := usage(at)
			node := &result.NodeUsage{CPUTime: at, Idle: at - used}
			_, _, _ = t.Add(&result.ServerSample{
				Server: result.ServerUsage{At: at, UserCPU: used, Resident: 100 + second, Throttled: result.Unknown}, Node: node,
				Backends: []result.BackendUsage{{Name: "app", ServerUsage: result.ServerUsage{At: at, SystemCPU: used / 2}}},
			})
		}
	})
	return t
}

// TestUsageWhileOthersAreLoaded checks that seconds and totals have what the target used in its slices, whatever it used in others', and
// in which order the manager gets to know.
func TestUsageWhileOthersAreLoaded(t *testing.T) {
	const s, start = 1_000_000, 100_000_000
	orders := map[string]func(t *Target, slices *profile.Slices, at int64, add func()){
		"plans first": func(t *Target, slices *profile.Slices, at int64, add func()) {
			t.SetSlices(slices)
			t.SetStart(at)
			add()
		},
		"start first": func(t *Target, slices *profile.Slices, at int64, add func()) {
			t.SetStart(at)
			t.SetSlices(slices)
			add()
		},
		"plans last": func(t *Target, slices *profile.Slices, at int64, add func()) {
			t.SetStart(at)
			add()
			t.SetSlices(slices)
		},
		"plans again": func(t *Target, slices *profile.Slices, at int64, add func()) {
			t.SetStart(at)
			t.SetSlices(slices)
			add()
			t.SetSlices(slices)
		},
	}
	for name, order := range orders {
		for variant := range 2 {
			for _, late := range []int64{0, 4000, 60_000} {
				for _, idle := range []int64{0, 10} {
					slices := &profile.Slices{Variant: variant, Variants: 2}
					target := alternated(slices, late, idle, func(t *Target, at int64, add func()) { order(t, slices, at, add) })
					for second := range int64(5) {
						var got result.Second
						target.Set(&got, start+second*s, start+(second+1)*s)
						lost := idle * late / 50
						if second == 0 { // the load begins between two samples, as without slices
							lost = late
						}
						if got.ServerCPU < s-1000-lost || got.ServerCPU > s+idle*s/100 || second > 0 && got.ServerCPU != s && late == 0 {
							t.Errorf("%s, variant %d, %d µs late, %d%% idle: second %d took %d µs of CPU", name, variant, late, idle, second, got.ServerCPU)
						}
						if diff := got.BackendCPU["app"] - got.ServerCPU/2; diff < -2 || diff > 2 {
							t.Errorf("second %d took %d µs of the backend's CPU, %d µs of the server's", second, got.BackendCPU["app"], got.ServerCPU)
						}
						if got.Node == nil || got.Node.CPUTime-got.Node.Idle < got.ServerCPU-2 || got.Server.Throttled != result.Unknown {
							t.Errorf("second %d: %+v, around %+v", second, got.Server, got.Node)
						}
					}
					agent := session.AgentState{}
					target.SetState(&agent)
					w := agent.Waiting
					if w == nil || w.Microseconds < 2*s || w.CPU != w.Microseconds*idle/100*3/2 {
						t.Errorf("%s, variant %d, %d µs late: used while waiting %+v, want %d%% of 1.5 CPUs", name, variant, late, w, idle)
					}
					server, _ := agent.Measured()
					if mean := server.CPUPercent(); mean < 98 || mean > 102 || agent.Latest.At-start > 6*s+late {
						t.Errorf("%s, variant %d, %d µs late, %d%% idle: %.1f%% of a CPU until %d", name, variant, late, idle, mean, agent.Latest.At-start)
					}
				}
			}
		}
	}
}

// TestLoadThatDoesNotAlternate has no early samples left once the plans are known.
func TestLoadThatDoesNotAlternate(t *testing.T) {
	target := NewTarget()
	_, _, _ = target.Add(&result.ServerSample{Server: result.ServerUsage{At: 5, UserCPU: 7}})
	kept := len(target.early)
	target.SetSlices(nil)
	_, stale, _ := target.Add(&result.ServerSample{Server: result.ServerUsage{At: 5, UserCPU: 9}})
	agent := session.AgentState{}
	target.SetState(&agent)
	if kept != 1 || len(target.early) != 0 || !stale || target.server.Latest.UserCPU != 7 || agent.Waiting != nil {
		t.Errorf("%d early samples, then %d, stale %t, latest %+v, waiting %+v", kept, len(target.early), stale, target.server.Latest, agent.Waiting)
	}
}
