package loadplan

import (
	"testing"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/profile"
)

// TestPlansOfAlternation checks that all clients of a run have the slices of its place in the block.
func TestPlansOfAlternation(t *testing.T) {
	inTime := v1alpha1.Load{
		Requests: []v1alpha1.Request{{Path: "/"}}, Warmup: &v1alpha1.Warmup{DurationSeconds: ptr.To(int32(5))},
	}
	closed, open := inTime, inTime
	closed.Closed = &v1alpha1.ClosedLoad{Connections: 4, DurationSeconds: ptr.To(int32(30))}
	open.Open = &v1alpha1.OpenLoad{RequestsPerSecond: "100.5", DurationSeconds: ptr.To(int32(30))}
	for name, load := range map[string]v1alpha1.Load{"closed": closed, "open": open} {
		for _, a := range []*v1alpha1.Alternation{nil, {Block: "b", Variants: 3, Variant: ptr.To(int32(2))}} {
			run := &v1alpha1.BenchmarkRun{Spec: v1alpha1.BenchmarkRunSpec{Load: load, Alternation: a}}
			run.Spec.Clients.Replicas = ptr.To(int32(2))
			for i, plan := range Plans(run, nil) {
				slices, variants := plan.Slices, plan.Describe().Variants
				if plan.Check() != nil || (slices != nil) != (a != nil) || slices != nil && (*slices != profile.Slices{Variant: 2, Variants: 3} || variants != 3) || slices == nil && variants != 0 {
					t.Errorf("%s: client %d has the slices %+v of %d variants, %v", name, i, slices, variants, plan.Check())
				}
			}
		}
	}
}
