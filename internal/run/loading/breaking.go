package loading

import (
	"fmt"
	"time"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/breakingpoint"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/run/conclusion"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/step"
)

// stopLead is the least time from the decision to end a load until its end, so that the end reaches every client
// before it comes.
const stopLead = time.Second

// endEarly decides whether the load ends at a breaking point, and returns that in words, or nothing. at is the start
// of the measurement. The decision is written into the status before it is sent to any client, so that another
// manager keeps to it. Until it is written, another manager decides the same from what the clients send again.
func endEarly(p *step.Planner, at int64) string {
	if p.Status.Stop == nil && at != 0 {
		p.Status.Stop = decideStop(p.Run, p.Observed, at)
	}
	stop := p.Status.Stop
	if stop == nil {
		return ""
	}
	p.EndMeasurement = ptr.Deref(stop.EndSeconds, 0)
	return fmt.Sprintf("The load ends after %ds: %s.", p.EndMeasurement, conclusion.DescribeBreakingPoint(conclusion.BreakingPointOf(&stop.BreakingPoint)))
}

// decideStop returns the breaking point at which the load has to end, or nil. A load that ends by then has no
// need of it.
func decideStop(run *v1alpha1.BenchmarkRun, o *observed.Run, at int64) *v1alpha1.StopStatus {
	bounds := loadplan.StopAt(run.Spec.Load.Stages)
	if bounds == (breakingpoint.Bounds{}) {
		return nil
	}
	load := conclusion.BrokenLoad(run)
	first := breakingpoint.First(breakingpoint.Find(o.Passed, load, bounds))
	if first == nil {
		return nil
	}
	elapsed := time.Duration(o.Sessions.Now-at)*time.Microsecond + stopLead
	end := max(int64(elapsed/time.Second)+1, 1)
	if end >= load.End {
		return nil
	}
	return &v1alpha1.StopStatus{BreakingPoint: conclusion.BreakingPointStatus(first), EndSeconds: ptr.To(end)}
}
