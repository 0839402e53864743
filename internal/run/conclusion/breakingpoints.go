package conclusion

import (
	"fmt"
	"time"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/breakingpoint"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/run/state"
)

// BrokenLoad returns the planned load of a run with stages, and the limits of its target.
func BrokenLoad(run *v1alpha1.BenchmarkRun) *breakingpoint.Load {
	spec := &run.Spec
	load := &breakingpoint.Load{Profile: loadplan.Profile(spec), Rate: loadplan.Shape(spec) == result.LoadOpen}
	load.End = int64(load.Profile.Duration() / time.Second)
	if state.IsExternal(run) {
		return load
	}
	load.Containers = []result.Container{{Name: result.ServerContainer, CPULimit: manifest.ServerCPUMillis(&spec.Target, 0)}}
	for i := range spec.Target.Backends {
		b := &spec.Target.Backends[i]
		load.Containers = append(load.Containers, result.Container{Name: b.Name, CPULimit: manifest.ServerCPUMillis(&spec.Target, i+1)})
	}
	load.SharedCPULimit = sharedCPUMillis(&spec.Target)
	return load
}

// sharedCPUMillis returns the limit of all servers together in thousandths of a CPU, or 0 if only their own limits do.
func sharedCPUMillis(t *v1alpha1.Target) int64 {
	if t.SharedCPU == nil {
		return 0
	}
	return t.SharedCPU.MilliValue()
}

// addBreakingPoints adds the breaking points to the result of a load with stages, whose levels it has.
func (e *Evidence) addBreakingPoints(r *result.Result) {
	if e.Run.Spec.Load.Stages == nil {
		return
	}
	load := BrokenLoad(e.Run)
	if stop := e.Run.Status.Stop; stop != nil {
		end := ptr.Deref(stop.EndSeconds, 0)
		for i := range r.Levels { // clients that were told later ended later
			end = max(end, r.Levels[i].End)
		}
		for i := range r.Steps {
			end = max(end, r.Steps[i].End)
		}
		load.End = end
		r.Stop = &result.Stop{BreakingPoint: *BreakingPointOf(&stop.BreakingPoint), End: end}
	}
	r.BreakingPoints = breakingpoint.Find(r.Series, load, loadplan.BreakingPoints(&e.Run.Spec))
}

// BreakingPointStatus returns a breaking point as the status has it.
func BreakingPointStatus(p *result.BreakingPoint) v1alpha1.BreakingPoint {
	status := v1alpha1.BreakingPoint{
		Kind: v1alpha1.BreakingPointKind(p.Kind), Container: p.Container, Bound: p.Bound, Actual: p.Actual,
		StartSeconds: ptr.To(p.Second), During: v1alpha1.PartLevel,
	}
	if p.Step {
		status.During = v1alpha1.PartStep
	}
	if p.RatePerSecond > 0 {
		status.RequestsPerSecond = ptr.To(p.RatePerSecond)
	} else {
		status.Connections = ptr.To(p.Connections)
	}
	return status
}

// BreakingPointOf is the inverse of breakingPointStatus.
func BreakingPointOf(p *v1alpha1.BreakingPoint) *result.BreakingPoint {
	return &result.BreakingPoint{
		Kind: result.BreakingPointKind(p.Kind), Container: p.Container, Bound: p.Bound, Reached: true, Actual: p.Actual,
		Second: ptr.Deref(p.StartSeconds, 0), Step: p.During == v1alpha1.PartStep,
		Connections: ptr.Deref(p.Connections, 0), RatePerSecond: ptr.Deref(p.RequestsPerSecond, 0),
	}
}

// maxBreakingPoints limits the breaking points in the status, and is more than there can be.
const maxBreakingPoints = 16

func breakingPointStatuses(r *result.Result) []v1alpha1.BreakingPoint {
	var statuses []v1alpha1.BreakingPoint
	for i := range r.BreakingPoints {
		if p := &r.BreakingPoints[i]; p.Reached && len(statuses) < maxBreakingPoints {
			statuses = append(statuses, BreakingPointStatus(p))
		}
	}
	return statuses
}

// DescribeBreakingPoint returns a breaking point in words: "CPU of app was 93.4% (above 90%) at 312 connections".
func DescribeBreakingPoint(p *result.BreakingPoint) string {
	name := string(p.Kind)
	if p.Container != "" {
		name += " of " + p.Container
	}
	unit := "connections"
	if p.RatePerSecond > 0 {
		unit = "requests/s"
	}
	return fmt.Sprintf("%s was %s (%s) at %d %s", name, p.Actual, p.Bound, p.Load(), unit)
}
