package breakingpoint

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/profile"
	"github.com/assay-dev/assay/internal/result"
)

const million = 1_000_000

func hold(n, seconds int64) profile.Segment {
	return profile.Segment{From: n, To: n, DurationMicroseconds: seconds * million, Level: true}
}

func ramp(from, to, seconds int64) profile.Segment {
	return profile.Segment{From: from, To: to, DurationMicroseconds: seconds * million}
}

// target is a target whose metrics are functions of the load alone, so that the instant of each breaking point
// is known.
type target struct {
	// knee is the load from which on the throughput stays the same. Below it, each user makes one
	// request per second.
	knee float64
	// serverPercent and appPercent are the CPU usage of the containers in percent of their limits (1 and
	// 2 CPUs) per user below the knee.
	serverPercent, appPercent float64
	// failing is the load from which on failedPercent of the requests fail, 0 for never.
	failing, failedPercent float64
	// noise is the standard deviation of throughput and CPU as a share.
	noise float64
}

// series returns the seconds of a load, in entries of a number of seconds.
func (t target) series(p profile.Profile, width int64) []result.Second {
	random := rand.New(rand.NewPCG(1, 2))
	duration := int64(p.Duration().Seconds())
	var all []result.Second
	for at := int64(0); at < duration; at++ {
		load := p.Area(seconds(at+1)) - p.Area(seconds(at))
		noise := 1 + t.noise*random.NormFloat64()
		throughput := min(load, t.knee)
		s := result.Second{Second: at, Seconds: 1, Requests: int64(math.Round(throughput * 100 * noise))}
		if t.failing > 0 && load >= t.failing {
			s.Errors = int64(float64(s.Requests) * t.failedPercent / 100)
		}
		s.P99 = int64(load * 1000) // 1 ms per user
		s.ServerCPU = int64(min(throughput*t.serverPercent*noise, 100) / 100 * million)
		s.BackendCPU = map[string]int64{"app": int64(min(throughput*t.appPercent*noise, 100) / 100 * 2 * million)}
		if n := len(all) - 1; n >= 0 && at%width != 0 {
			p99 := max(all[n].P99, s.P99)
			all[n].Join(&s)
			all[n].P99 = p99 // the manager has the joint distribution
		} else {
			all = append(all, s)
		}
	}
	return all
}

func containers() []result.Container {
	return []result.Container{{Name: result.ServerContainer, CPULimit: 1000}, {Name: "app", CPULimit: 2000}}
}

func loadOf(p profile.Profile) *Load {
	return &Load{Profile: p, End: int64(p.Duration().Seconds()), Containers: containers()}
}

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }

// TestFind checks the time and the load of each breaking point of targets that break at known loads, during a
// step of 5 users per second and at levels.
func TestFind(t *testing.T) {
	type at struct {
		Second, Load int64
		Step         bool
	}
	of := func(points []result.BreakingPoint) map[string]at {
		reached := map[string]at{}
		for _, p := range points {
			if p.Reached {
				reached[string(p.Kind)+p.Container] = at{p.Second, p.Load(), p.Step}
			}
		}
		return reached
	}
	rising := profile.Profile{ramp(0, 1000, 200), hold(1000, 60)}
	levels := profile.Profile{hold(200, 60), hold(400, 60), hold(600, 60), hold(800, 60), hold(1000, 60)}
	bounds := Bounds{CPUPercent: 90, FailedRequests: 1, ErrorPercent: 5, LatencyP99: 500_000, ThroughputGainPercent: 5}
	tests := map[string]struct {
		target  target
		profile profile.Profile
		want    map[string]at
	}{
		// The server passes 90% at 900 users, which the load comes to after 180 s: second 180 has 902.5 in
		// the mean. The app passes 90% at 450 users, and both together 270% of 300% at 540.
		"CPU during a step": {
			target{knee: 2000, serverPercent: 0.1, appPercent: 0.2}, rising, map[string]at{
				"CPUserver": {180, 903, true}, "CPUapp": {90, 453, true}, "LatencyP99": {100, 503, true},
				// The app's usage ends at 100%: the sum is 90% at 700 users (70% + 2·100% = 270%).
				"PodCPU": {140, 703, true},
			},
		},
		"CPU at a level": {
			target{knee: 2000, serverPercent: 0.1, appPercent: 0.16}, levels, map[string]at{
				"CPUapp": {120, 600, false}, "LatencyP99": {120, 600, false}, "PodCPU": {180, 800, false}, "CPUserver": {240, 1000, false},
			},
		},
		"failing during a step": {
			target{knee: 2000, failing: 700, failedPercent: 6}, rising, map[string]at{
				"FailedRequests": {140, 703, true}, "ErrorRate": {140, 703, true}, "LatencyP99": {100, 503, true},
			},
		},
		"few fail": {
			target{knee: 2000, failing: 600, failedPercent: 4}, levels, map[string]at{
				"FailedRequests": {120, 600, false}, "LatencyP99": {120, 600, false},
			},
		},
		// With a knee at 630, the throughput above 600 is within 5% of the highest: the first such window
		// is that of seconds 116 to 125, of 605 users on average.
		"throughput during a step": {
			target{knee: 630}, rising, map[string]at{"Throughput": {120, 603, true}, "LatencyP99": {100, 503, true}},
		},
		"throughput at a level": {
			target{knee: 610}, levels, map[string]at{"Throughput": {124, 600, false}, "LatencyP99": {120, 600, false}},
		},
		"nothing": {target{knee: 2000}, profile.Profile{ramp(0, 300, 100), hold(300, 60)}, map[string]at{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for _, width := range []int64{1, 2, 4} {
				got, want := of(Find(test.target.series(test.profile, width), loadOf(test.profile), bounds)), test.want
				// An entry that begins before the point shows its mean: the point may be an entry later.
				near := cmp.Comparer(func(a, b at) bool {
					slope := int64(0)
					if a.Step {
						slope = 5
					}
					return a.Step == b.Step && max(a.Second-b.Second, b.Second-a.Second) < 2*width && max(a.Load-b.Load, b.Load-a.Load) <= slope*2*(width-1)+1
				})
				if diff := cmp.Diff(want, got, near); diff != "" {
					t.Errorf("entries of %d s (-want +got):\n%s", width, diff)
				}
			}
		})
	}
}

// TestFindIsStable checks that noise as of a real target moves no point by more than 5%.
func TestFindIsStable(t *testing.T) {
	p := profile.Profile{ramp(0, 1000, 300), hold(1000, 60)}
	series := target{knee: 700, serverPercent: 0.13, appPercent: 0.05, noise: 0.03}.series(p, 1)
	want := map[result.BreakingPointKind]float64{result.BreakingCPU: 90 / 0.13, result.BreakingThroughput: 700 / 1.05}
	for _, point := range Find(series, loadOf(p), Bounds{CPUPercent: 90, ThroughputGainPercent: 5}) {
		truth, expected := want[point.Kind]
		expected = expected && point.Container != "app"
		if point.Reached != expected || expected && math.Abs(float64(point.Load())/truth-1) > 0.05 {
			t.Errorf("%+v, want one at %.0f: %t", point, truth, expected)
		}
	}
}

// TestFindInABeginning checks that a series that grows has the same points as soon as they can be known: a load
// ends early at them.
func TestFindInABeginning(t *testing.T) {
	p := profile.Profile{ramp(0, 1000, 200), hold(1000, 60)}
	series := target{knee: 450, serverPercent: 0.1, appPercent: 0.21, failing: 600, failedPercent: 10}.series(p, 1)
	final := Find(series, loadOf(p), Defaults)
	known := map[string]int64{}
	for n := range series {
		for i, point := range Find(series[:n], loadOf(p), Defaults) {
			key := string(point.Kind) + point.Container
			if point.Reached && known[key] == 0 {
				known[key] = int64(n)
				if diff := cmp.Diff(final[len(final)-len(Find(series[:n], loadOf(p), Defaults))+i], point); diff != "" {
					t.Errorf("after %d s (-final +then):\n%s", n, diff)
				}
			}
		}
	}
	// The app is above 90% from second 86 on. The throughput's window begins with second 81 and has 430
	// users on average; the three windows with 516 or more begin with second 99 and last 30 s.
	if diff := cmp.Diff(map[string]int64{"CPUapp": 89, "FailedRequests": 121, "ErrorRate": 121, "Throughput": 129}, known); diff != "" {
		t.Errorf("seconds after which they are known (-want +got):\n%s", diff)
	}
}

func TestSingleSecondsAreNoBreakingPoint(t *testing.T) {
	p := profile.Profile{hold(10, 30)}
	series := target{knee: 100, serverPercent: 1, appPercent: 1}.series(p, 1)
	for _, at := range []int{5, 6, 8, 9, 20} { // garbage collections, of two seconds at most
		series[at].ServerCPU, series[at].P99 = million, 2*million
	}
	for _, point := range Find(series, loadOf(p), Bounds{CPUPercent: 90, LatencyP99: million}) {
		if point.Reached {
			t.Errorf("%+v", point)
		}
	}
	series[7].P99, series[7].Requests, series[7].Errors = result.Unknown, 3, 3 // nothing succeeds meanwhile
	if got := Find(series, loadOf(p), Bounds{LatencyP99: million})[0]; !got.Reached || got.Second != 5 || got.Actual != "2000ms" {
		t.Errorf("%+v", got)
	}
}

// TestErrorRateNeedsRequests checks that one failed request of few is no share, that it is one together with
// those of the seconds before, and that what fails after the load's end counts with its last load.
func TestErrorRateNeedsRequests(t *testing.T) {
	p := profile.Profile{hold(7, 20)}
	series := make([]result.Second, 23)
	for i := range series {
		series[i] = result.Second{Second: int64(i), Seconds: 1, Requests: 10, P99: 1, ServerCPU: -1}
	}
	find := func() result.BreakingPoint {
		return Find(series, &Load{Profile: p, Rate: true, End: 20}, Bounds{ErrorPercent: 5})[0]
	}
	series[2].Errors = 6 // of 30 requests: too few
	if got := find(); !got.Reached || got.Second != 9 || got.RatePerSecond != 7 || got.Actual != "6.0%" {
		t.Errorf("%+v", got)
	}
	series[2].Errors, series[22].Errors = 4, 6 // 4 of any 100 requests, and timeouts
	if got := find(); !got.Reached || got.Second != 22 || got.Load() != 7 || got.Step || got.Actual != "6.0%" {
		t.Errorf("%+v", got)
	}
}

// TestUnknownUsage checks that the CPU of containers of unknown usage isn't said to be below a bound.
func TestUnknownUsage(t *testing.T) {
	p := profile.Profile{hold(10, 5)}
	series := target{knee: 100, serverPercent: 1, appPercent: 1}.series(p, 1)
	for i := range series {
		series[i].BackendCPU = nil
	}
	got := Find(series, loadOf(p), Bounds{CPUPercent: 9})
	want := []result.BreakingPoint{{Kind: result.BreakingCPU, Container: "server", Bound: "above 9%", Reached: true, Second: 0, Seconds: 1, Connections: 10, Actual: "10.0%"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := Find(nil, loadOf(p), Defaults); len(got) != 3 || First(got) != nil {
		t.Errorf("of no seconds: %+v", got)
	}
}

// TestSharedLimit checks that the CPU of the pod is that of its limit if this is less than the sum of the containers'.
func TestSharedLimit(t *testing.T) {
	p := profile.Profile{ramp(0, 1000, 200), hold(1000, 60)}
	series := target{knee: 2000, serverPercent: 0.1, appPercent: 0.05}.series(p, 1) // 0.2% of a CPU per user, 90% of 1.5 CPUs at 675
	load := loadOf(p)
	load.SharedCPULimit = 1500
	for _, point := range Find(series, load, Bounds{CPUPercent: 90}) {
		want := map[string]int64{"CPUserver": 180, "PodCPU": 135}[string(point.Kind)+point.Container]
		if point.Reached != (want > 0) || point.Second != want {
			t.Errorf("%+v, want it at %d s", point, want)
		}
	}
}

func TestFirst(t *testing.T) {
	points := []result.BreakingPoint{
		{Kind: result.BreakingCPU}, {Kind: result.BreakingPodCPU, Reached: true, Second: 7},
		{Kind: result.BreakingErrorRate, Reached: true, Second: 5}, {Kind: result.BreakingThroughput, Reached: true, Second: 5},
	}
	if got := First(points); got == nil || got.Kind != result.BreakingErrorRate {
		t.Errorf("%+v", got)
	}
}
