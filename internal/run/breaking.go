package run

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

// stopLead is the least time from the decision to end a load until its end, so that the end reaches every client
// before it comes.
const stopLead = time.Second

// endEarly decides whether the load ends at a breaking point, and returns that in words, or nothing. at is the start
// of the measurement. The decision is written into the status before it is sent to any client, so that another
// manager keeps to it. Until it is written, another manager decides the same from what the clients send again.
func (p *planner) endEarly(at int64) string {
	if p.Status.Stop == nil && at != 0 {
		p.Status.Stop = p.decideStop(at)
	}
	stop := p.Status.Stop
	if stop == nil {
		return ""
	}
	p.EndMeasurement = ptr.Deref(stop.EndSeconds, 0)
	return fmt.Sprintf("The load ends after %ds: %s.", p.EndMeasurement, describeBreakingPoint(fromStatus(&stop.BreakingPoint)))
}

// decideStop returns the breaking point at which the load has to end, or nil. A load that ends by then has no
// need of it.
func (p *planner) decideStop(at int64) *v1alpha1.StopStatus {
	bounds := loadplan.StopAt(p.run.Spec.Load.Stages)
	if bounds == (breakingpoint.Bounds{}) {
		return nil
	}
	load := brokenLoad(p.run)
	first := breakingpoint.First(breakingpoint.Find(p.observed.Passed, load, bounds))
	if first == nil {
		return nil
	}
	elapsed := time.Duration(p.observed.Sessions.Now-at)*time.Microsecond + stopLead
	end := max(int64(elapsed/time.Second)+1, 1)
	if end >= load.End {
		return nil
	}
	return &v1alpha1.StopStatus{BreakingPoint: breakingPointStatus(first), EndSeconds: ptr.To(end)}
}

// brokenLoad returns the planned load of a run with stages, and the limits of its target.
func brokenLoad(run *v1alpha1.BenchmarkRun) *breakingpoint.Load {
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
func (p *planner) addBreakingPoints(r *result.Result) {
	if p.run.Spec.Load.Stages == nil {
		return
	}
	load := brokenLoad(p.run)
	if stop := p.Status.Stop; stop != nil {
		end := ptr.Deref(stop.EndSeconds, 0)
		for i := range r.Levels { // clients that were told later ended later
			end = max(end, r.Levels[i].End)
		}
		for i := range r.Steps {
			end = max(end, r.Steps[i].End)
		}
		load.End = end
		r.Stop = &result.Stop{BreakingPoint: *fromStatus(&stop.BreakingPoint), End: end}
	}
	r.BreakingPoints = breakingpoint.Find(r.Series, load, loadplan.BreakingPoints(&p.run.Spec))
}

func breakingPointStatus(p *result.BreakingPoint) v1alpha1.BreakingPoint {
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

// fromStatus is the inverse of breakingPointStatus.
func fromStatus(p *v1alpha1.BreakingPoint) *result.BreakingPoint {
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
			statuses = append(statuses, breakingPointStatus(p))
		}
	}
	return statuses
}

// describeBreakingPoint returns a breaking point in words: "CPU of app was 93.4% (above 90%) at 312 connections".
func describeBreakingPoint(p *result.BreakingPoint) string {
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
