package loadplan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/session"
)

func TestPlans(t *testing.T) {
	spec := &v1alpha1.BenchmarkRunSpec{
		Target:  v1alpha1.Target{Content: []v1alpha1.ContentFile{{Path: "/a", SizeBytes: 7}}},
		Clients: v1alpha1.Clients{Replicas: ptr.To(int32(2))},
		Load: v1alpha1.Load{
			Requests:   []v1alpha1.Request{{Path: "/a", Weight: ptr.To(int32(3))}, {Path: "/b"}},
			Connection: v1alpha1.Connection{KeepAlive: v1alpha1.KeepAliveDisabled, TimeoutSeconds: ptr.To(int32(2))},
			Closed:     &v1alpha1.ClosedLoad{Connections: 25, Requests: ptr.To(int64(50000))},
		},
		Warmup: &v1alpha1.Warmup{DurationSeconds: ptr.To(int32(5))},
	}
	want := &session.Plan{
		Connections:         25,
		TimeoutMicroseconds: 2_000_000,
		Requests:            []session.PlannedRequest{{Path: "/a", Weight: 3, Length: 7}, {Path: "/b", Weight: 1, Length: -1}},
		Warmup:              &session.Amount{DurationMicroseconds: 5_000_000},
		Measurement:         session.Amount{Requests: 50000},
	}
	plans := Plans(spec)
	if len(plans) != 2 {
		t.Fatalf("%d plans, want 2", len(plans))
	}
	if plans[0].Seed == plans[1].Seed {
		t.Error("both clients have the same seed")
	}
	for i, plan := range plans {
		if err := plan.Check(); err != nil {
			t.Errorf("client %d: %v", i, err)
		}
		plan.Seed = 0
		if diff := cmp.Diff(want, plan); diff != "" {
			t.Errorf("client %d (-want +got):\n%s", i, diff)
		}
	}
}

func TestPlansAreTheSameEachTime(t *testing.T) {
	spec := &v1alpha1.BenchmarkRunSpec{
		Clients: v1alpha1.Clients{Replicas: ptr.To(int32(300))},
		Load: v1alpha1.Load{
			Requests: []v1alpha1.Request{{Path: "/"}},
			Closed:   &v1alpha1.ClosedLoad{Connections: 1, DurationSeconds: ptr.To(int32(1))},
		},
	}
	first := Plans(spec)
	if diff := cmp.Diff(first, Plans(spec)); diff != "" {
		t.Errorf("(-first +second):\n%s", diff)
	}
	seeds := map[uint64]bool{}
	for _, plan := range first {
		seeds[plan.Seed] = true
	}
	if len(seeds) != len(first) {
		t.Errorf("%d clients share %d seeds", len(first), len(seeds))
	}
}
