package loadplan

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/breakingpoint"
	"github.com/assay-dev/assay/internal/profile"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
)

// of is a run with a load.
func of(replicas int, load v1alpha1.Load) *v1alpha1.BenchmarkRun {
	load.Requests = []v1alpha1.Request{{Path: "/"}}
	return &v1alpha1.BenchmarkRun{Spec: v1alpha1.BenchmarkRunSpec{Clients: v1alpha1.Clients{Replicas: ptr.To(int32(replicas))}, Load: load}}
}

// TestTotalsAreSplitExactly: of any total over any number of clients, the parts
// add up to it and differ by one at most.
func TestTotalsAreSplitExactly(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		clients := 1 + r.IntN(1000)
		connections := clients + r.IntN(20_000-clients+1)
		requests := int64(connections) + r.Int64N(1_000_000_000_000)
		run := of(clients, v1alpha1.Load{LoadIsPer: v1alpha1.LoadPerRun, Closed: &v1alpha1.ClosedLoad{
			Connections: int32(connections), RequestCount: &requests, RampSeconds: ptr.To(int32(7)),
		}})
		run.Spec.Load.Warmup = &v1alpha1.Warmup{RequestCount: ptr.To(int64(connections))}
		var sum session.Plan
		plans := Plans(run, nil)
		for i, p := range plans {
			if err := p.Check(); err != nil {
				t.Fatalf("client %d of %d: %v", i, clients, err)
			}
			sum.Connections += p.Connections
			sum.Measurement.Requests += p.Measurement.Requests
			if p.Measurement.Requests < int64(p.Connections) {
				t.Fatalf("client %d makes %d requests over %d connections", i, p.Measurement.Requests, p.Connections)
			}
			if d := plans[0].Measurement.Requests - p.Measurement.Requests; d < 0 || d > 1 {
				t.Fatalf("clients make %d and %d requests", plans[0].Measurement.Requests, p.Measurement.Requests)
			}
		}
		if sum.Connections != connections || sum.Measurement.Requests != requests {
			t.Fatalf("%d connections and %d requests over %d clients came to %d and %d",
				connections, requests, clients, sum.Connections, sum.Measurement.Requests)
		}
	}
}

// TestFractionalRates has rates that are no whole numbers: those of a plan are, and divided by its scale.
func TestFractionalRates(t *testing.T) {
	for rates, want := range map[[2]v1alpha1.ArrivalRate]struct {
		from, to int64
		scale    int
	}{{"0", "30"}: {0, 30, 0}, {"1", "0.5"}: {10, 5, 10}, {"0.25", "7.5"}: {25, 750, 100}, {"3", "1.001"}: {3000, 1001, 1000}, {"0", "99999.999"}: {0, 99_999_999, 1000}} {
		run := of(2, v1alpha1.Load{Open: &v1alpha1.OpenLoad{
			RequestsPerSecond: rates[1], DurationSeconds: ptr.To(int32(20)), Ramp: &v1alpha1.RateRamp{From: &rates[0], Seconds: 5},
		}})
		p := Plans(run, nil)[0]
		if err := p.Check(); err != nil {
			t.Errorf("%v: %v", rates, err)
		}
		if s := p.Measurement.Profile[0]; s.From != 2*want.from || s.To != 2*want.to || p.Arrivals.Scale != want.scale {
			t.Errorf("%v: from %d to %d, divided by %d", rates, s.From, s.To, p.Arrivals.Scale)
		}
	}
}

func TestOpenPlans(t *testing.T) {
	load := v1alpha1.Load{Open: &v1alpha1.OpenLoad{
		RequestsPerSecond: "100", Ramp: &v1alpha1.RateRamp{From: ptr.To(v1alpha1.ArrivalRate("10")), Seconds: 5},
		InterArrivalTimes: v1alpha1.InterArrivalPoisson, RequestCount: ptr.To(int64(1001)), MaxConnections: ptr.To(int32(50)),
	}}
	for per, want := range map[v1alpha1.LoadIsPer]struct{ rate, requests, connections int64 }{
		v1alpha1.LoadPerClient: {100 * 3, 1001, 50}, v1alpha1.LoadPerRun: {100, 334, 17},
	} {
		load.LoadIsPer = per
		run := of(3, load)
		run.Spec.Load.Warmup = &v1alpha1.Warmup{DurationSeconds: ptr.To(int32(9))}
		p := Plans(run, nil)[0]
		if err := p.Check(); err != nil {
			t.Error(err)
		}
		got := []any{p.Arrivals, p.Measurement, *p.Warmup, p.Connections, Shape(&run.Spec)}
		steady := profile.Profile{{From: want.rate, To: want.rate}}
		if diff := cmp.Diff([]any{
			&session.Arrivals{Shares: 3, Poisson: true},
			session.Amount{Requests: want.requests, Profile: profile.Profile{{From: want.rate / 10, To: want.rate, DurationMicroseconds: 5_000_000}}},
			session.Amount{DurationMicroseconds: 9_000_000, Profile: steady},
			int(want.connections), result.LoadOpen,
		}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", per, diff)
		}
	}
}

// TestR5 is the load of R5: users ramped by 200 from 200 to 1000, each level held
// for 10 minutes, half a second between requests, over 50 machines.
func TestR5(t *testing.T) {
	stages := &v1alpha1.StagesLoad{ThinkTime: &v1alpha1.ThinkTime{MinMilliseconds: 500}}
	for users := int32(200); users <= 1000; users += 200 {
		stages.Levels = append(stages.Levels, v1alpha1.LoadLevel{Connections: ptr.To(users), RampSeconds: ptr.To(int32(60)), HoldSeconds: 600})
	}
	run := of(50, v1alpha1.Load{LoadIsPer: v1alpha1.LoadPerRun, Stages: stages})
	for i, p := range Plans(run, nil) {
		if err := p.Check(); err != nil {
			t.Fatal(err)
		}
		levels := p.Measurement.Profile.Levels()
		if p.Connections != 20 || len(levels) != 5 || levels[1].Load != 8 || p.ThinkTime.MinMicroseconds != 500_000 || p.Arrivals != nil {
			t.Fatalf("client %d: %+v", i, p)
		}
	}
	levels, steps := Levels(&run.Spec)
	if step := steps[4]; len(steps) != 5 || step.From != 800 || step.TargetConnections != 1000 || step.Start != 2640 || step.End != 2700 {
		t.Errorf("the last of %d steps is %+v", len(steps), step)
	}
	if last := levels[4]; last.TargetConnections != 1000 || last.Start != 2700 || last.End != 3300 || last.ServerCPU != -1 {
		t.Errorf("the last level is %+v", last)
	}
	if _, extent := Extents(&run.Spec); extent != (Extent{Seconds: 3300}) {
		t.Errorf("it takes %+v", extent)
	}
}

// TestProfile checks that the load of all clients is that of the spec, or its multiple.
func TestProfile(t *testing.T) {
	levels := []v1alpha1.LoadLevel{{RequestsPerSecond: ptr.To(int32(10)), HoldSeconds: 2}, {RequestsPerSecond: ptr.To(int32(30)), RampSeconds: ptr.To(int32(4)), HoldSeconds: 1}}
	for per, n := range map[v1alpha1.LoadIsPer]int64{v1alpha1.LoadPerRun: 1, v1alpha1.LoadPerClient: 3} {
		run := of(3, v1alpha1.Load{LoadIsPer: per, Stages: &v1alpha1.StagesLoad{Levels: levels}})
		want := profile.Profile{
			{From: 10 * n, To: 10 * n, DurationMicroseconds: 2_000_000, Level: true}, {From: 10 * n, To: 30 * n, DurationMicroseconds: 4_000_000},
			{From: 30 * n, To: 30 * n, DurationMicroseconds: 1_000_000, Level: true},
		}
		if diff := cmp.Diff(want, Profile(&run.Spec)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", per, diff)
		}
	}
	if p := Profile(&of(1, v1alpha1.Load{Closed: &v1alpha1.ClosedLoad{Connections: 1}}).Spec); p != nil {
		t.Errorf("of another load: %+v", p)
	}
}

func TestBreakingPoints(t *testing.T) {
	run := of(1, v1alpha1.Load{Stages: &v1alpha1.StagesLoad{}})
	if got := BreakingPoints(&run.Spec); got != breakingpoint.Defaults || StopAt(run.Spec.Load.Stages) != (breakingpoint.Bounds{}) {
		t.Errorf("defaults %+v", got)
	}
	run.Spec.Thresholds = []v1alpha1.Threshold{{Metric: v1alpha1.MetricLatencyP99, Below: "0.25s"}}
	if got := BreakingPoints(&run.Spec).LatencyP99; got != 250_000 {
		t.Errorf("with a threshold: %d", got)
	}
	run.Spec.Load.Stages.StopAt = []v1alpha1.Threshold{
		{Metric: v1alpha1.MetricTargetCPU, Above: "80%"}, {Metric: v1alpha1.MetricFailedRequests, Above: "6"}, {Metric: v1alpha1.MetricErrorRate, Above: "0.5%"},
		{Metric: v1alpha1.MetricLatencyP99, Above: "500ms"}, {Metric: v1alpha1.MetricThroughputGain, Below: "4%"},
	}
	want := breakingpoint.Bounds{CPUPercent: 80, FailedRequests: 7, ErrorPercent: 0.5, LatencyP99: 500_000, ThroughputGainPercent: 4}
	if got, stop := BreakingPoints(&run.Spec), StopAt(run.Spec.Load.Stages); got != want || stop != want {
		t.Errorf("%+v, stop at %+v", got, stop)
	}
}

func TestExtents(t *testing.T) {
	run := of(3, v1alpha1.Load{Open: &v1alpha1.OpenLoad{RequestsPerSecond: "1", RequestCount: ptr.To(int64(100))}})
	run.Spec.Load.Warmup = &v1alpha1.Warmup{DurationSeconds: ptr.To(int32(9))}
	warmup, measurement := Extents(&run.Spec)
	if warmup != (Extent{Seconds: 9}) || measurement != (Extent{Requests: 300}) {
		t.Errorf("%+v and %+v", warmup, measurement)
	}
	run.Spec.Load.LoadIsPer = v1alpha1.LoadPerRun
	if _, measurement = Extents(&run.Spec); measurement != (Extent{Requests: 100}) {
		t.Errorf("%+v", measurement)
	}
}

// Each run of a block has its own slices, and the stages of all take the time of all.
func TestSlicesOfABlock(t *testing.T) {
	run := of(1, v1alpha1.Load{Closed: &v1alpha1.ClosedLoad{Connections: 10, DurationSeconds: ptr.To(int32(30))}})
	run.Spec.Load.Warmup = &v1alpha1.Warmup{DurationSeconds: ptr.To(int32(5))}
	run.Spec.Alternation = &v1alpha1.Alternation{Block: "pair", Variants: 3, Variant: ptr.To(int32(2))}
	plan := Plans(run, nil)[0]
	if plan.Slices == nil || *plan.Slices != (profile.Slices{Variant: 2, Variants: 3}) || plan.Check() != nil || plan.Measurement.Duration() != 30*time.Second {
		t.Errorf("%+v, %v", plan, plan.Check())
	}
	if warmup, measurement := Extents(&run.Spec); warmup.Seconds != 15 || measurement.Seconds != 90 {
		t.Errorf("%+v and %+v", warmup, measurement)
	}
}
