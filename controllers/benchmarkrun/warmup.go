package benchmarkrun

import (
	"fmt"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/internal/steady"
)

// warmUp has the clients warm the target up until all of them have ended that.
func (p *planner) warmUp(at int64) {
	replicas := loadplan.Replicas(&p.run.Spec)
	ended := 0
	for i := range replicas {
		if c := p.observed.sessions.Clients[i]; c.WarmupEnded && c.Connected {
			ended++
		}
	}
	message := fmt.Sprintf("%d of %d clients have ended their warm-up", ended, replicas)
	if said := p.settle(ended == replicas); said != "" {
		message += "; " + said
	}
	if ended == replicas {
		p.measure(p.begin(sessionpb.Stage_STAGE_MEASUREMENT))
		return
	}
	p.start = map[sessionpb.Stage]int64{sessionpb.Stage_STAGE_WARMUP: at}
	extent, _ := loadplan.Extents(&p.run.Spec)
	progress := p.progress(sessionpb.Stage_STAGE_WARMUP, at, extent)
	if p.run.Spec.Warmup.Steady != nil {
		progress.RemainingSeconds = nil // the extent is a limit
	}
	p.state(v1alpha1.ReasonWarmingUp, message, progress)
	p.requeueAfter = sooner(p.requeueAfter, progressInterval)
}

// settle decides whether a target that is warmed up until it is steady has
// become so. The decision is written into the status before any client is told,
// so that another manager keeps to it; until then it would come to the same by
// what the clients send again. ended is whether the warm-up is over whatever the
// decision. It returns how the decision stands, in words.
func (p *planner) settle(ended bool) string {
	spec := p.run.Spec.Warmup.Steady
	if spec == nil {
		return ""
	}
	if p.status.Warmup == nil {
		seen := loadplan.Steady(spec).Judge(p.observed.windows)
		if !seen.Reached && !ended {
			return steady.Describe(seen)
		}
		p.status.Warmup = warmupStatus(seen)
	}
	p.endWarmup = p.status.Warmup.Steady == v1alpha1.SteadyReached
	return "the target is steady"
}

func warmupStatus(s *result.Steadiness) *v1alpha1.WarmupStatus {
	status := &v1alpha1.WarmupStatus{Steady: v1alpha1.SteadyNotReached}
	if s.Reached {
		status.Steady = v1alpha1.SteadyReached
	}
	for _, w := range s.Windows {
		status.Windows = append(status.Windows, v1alpha1.WarmupWindow{
			StartSeconds: ptr.To(w.Second), Succeeded: ptr.To(w.Succeeded), P99Microseconds: ptr.To(w.P99),
		})
	}
	return status
}

// steadiness is what the status has of a run's warm-up; nil for nothing.
func steadiness(run *v1alpha1.BenchmarkRun) *result.Steadiness {
	status := run.Status.Warmup
	if status == nil || run.Spec.Warmup == nil || run.Spec.Warmup.Steady == nil {
		return nil
	}
	c := loadplan.Steady(run.Spec.Warmup.Steady)
	s := &result.Steadiness{
		Reached: status.Steady == v1alpha1.SteadyReached, ThroughputPercent: c.ThroughputPercent, P99Percent: c.P99Percent,
		Windows: []result.WarmupWindow{},
	}
	for _, w := range status.Windows {
		s.Windows = append(s.Windows, result.WarmupWindow{
			Second: ptr.Deref(w.StartSeconds, 0), Seconds: c.WindowSeconds,
			Succeeded: ptr.Deref(w.Succeeded, 0), P99: ptr.Deref(w.P99Microseconds, 0),
		})
	}
	return s
}
