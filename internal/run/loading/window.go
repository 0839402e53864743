package loading

import (
	"math"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/run/observed"
)

// window returns the metrics of the last seconds for the status: those that it has until there are newer ones.
func window(run *v1alpha1.BenchmarkRun, o *observed.Run) *v1alpha1.ProgressWindow {
	s := &o.Window
	if s.Seconds == 0 {
		if before := run.Status.Progress; before != nil {
			return before.Window
		}
		return nil
	}
	w := &v1alpha1.ProgressWindow{Second: ptr.To(s.Second), Seconds: ptr.To(s.Seconds), Requests: ptr.To(s.Requests), Errors: ptr.To(s.Errors)}
	if s.P50 != result.Unknown && s.Requests > s.Errors {
		w.P50Microseconds, w.P99Microseconds = ptr.To(s.P50), ptr.To(s.P99)
	}
	percent := func(microseconds, limitMillis int64) *int32 {
		if microseconds == result.Unknown || limitMillis <= 0 {
			return nil
		}
		return ptr.To(int32(math.Round(float64(microseconds) / float64(10*s.Seconds*limitMillis))))
	}
	spec := &run.Spec
	w.TargetCPUPercent = percent(s.ServerCPU, manifest.CPUMillis(spec.Target.Resources))
	w.ClientCPUPercent = percent(s.ClientCPU, manifest.CPUMillis(spec.Clients.Resources)*int64(loadplan.Replicas(spec)))
	return w
}
