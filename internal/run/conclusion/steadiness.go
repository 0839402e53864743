package conclusion

import (
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/result"
)

// WarmupStatus returns whether the target became steady, as the status has it.
func WarmupStatus(s *result.Steadiness) *v1alpha1.WarmupStatus {
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

// steadiness returns the decision that the status records about a warm-up, or nil.
func steadiness(run *v1alpha1.BenchmarkRun) *result.Steadiness {
	status := run.Status.Warmup
	if status == nil || run.Spec.Load.Warmup == nil || run.Spec.Load.Warmup.Steady == nil {
		return nil
	}
	c := loadplan.Steady(run.Spec.Load.Warmup.Steady)
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
