package loadplan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/profile"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/steady"
)

// TestWarmupUntilSteady: whatever the load, clients warm up for the limit unless
// they are told to end, at the load that the measurement comes to or, of stages,
// begins with. It isn't split.
func TestWarmupUntilSteady(t *testing.T) {
	level := func(n int64) profile.Profile { return profile.Profile{{From: n, To: n}} }
	loads := map[string]struct {
		load v1alpha1.Load
		want profile.Profile
	}{
		"closed":        {v1alpha1.Load{Closed: &v1alpha1.ClosedLoad{Connections: 4, RequestCount: ptr.To(int64(10)), RampSeconds: ptr.To(int32(5))}}, nil},
		"open":          {v1alpha1.Load{Open: &v1alpha1.OpenLoad{RequestsPerSecond: "50", DurationSeconds: ptr.To(int32(9))}}, level(50)},
		"connections":   {v1alpha1.Load{Stages: &v1alpha1.StagesLoad{Levels: []v1alpha1.LoadLevel{{Connections: ptr.To(int32(6)), HoldSeconds: 5}, {Connections: ptr.To(int32(8)), HoldSeconds: 5}}}}, level(3)},
		"arrival rates": {v1alpha1.Load{Stages: &v1alpha1.StagesLoad{Levels: []v1alpha1.LoadLevel{{RequestsPerSecond: ptr.To(int32(7)), HoldSeconds: 5}}}}, level(7)},
	}
	for name, test := range loads {
		t.Run(name, func(t *testing.T) {
			test.load.LoadIsPer = v1alpha1.LoadPerRun
			run := of(2, test.load)
			for limit, seconds := range map[*int32]int64{nil: 300, ptr.To(int32(20)): 20} {
				run.Spec.Load.Warmup = &v1alpha1.Warmup{Steady: &v1alpha1.SteadyState{TimeoutSeconds: limit}}
				for _, p := range Plans(run, nil) {
					if err := p.Check(); err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(&session.Amount{DurationMicroseconds: seconds * 1_000_000, Profile: test.want}, p.Warmup); diff != "" {
						t.Error(diff)
					}
				}
				if warmup, _ := Extents(&run.Spec); warmup != (Extent{Seconds: seconds}) {
					t.Errorf("it takes %+v", warmup)
				}
			}
		})
	}
}

func TestSteady(t *testing.T) {
	if diff := cmp.Diff(steady.Criterion{WindowSeconds: 5, Windows: 3, ThroughputPercent: 5, P99Percent: 25, TimeoutSeconds: 300}, Steady(&v1alpha1.SteadyState{})); diff != "" {
		t.Error(diff)
	}
	given := &v1alpha1.SteadyState{
		WindowSeconds: ptr.To(int32(1)), Windows: ptr.To(int32(2)), ThroughputPercent: ptr.To(int32(3)), P99Percent: ptr.To(int32(4)), TimeoutSeconds: ptr.To(int32(9)),
	}
	if diff := cmp.Diff(steady.Criterion{WindowSeconds: 1, Windows: 2, ThroughputPercent: 3, P99Percent: 4, TimeoutSeconds: 9}, Steady(given)); diff != "" {
		t.Error(diff)
	}
}
