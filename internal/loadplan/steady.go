package loadplan

import (
	"cmp"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/steady"
)

// Steady is when a target counts as steady.
func Steady(s *v1alpha1.SteadyState) steady.Criterion {
	given := func(n *int32, byDefault int64) int64 { return cmp.Or(int64(ptr.Deref(n, 0)), byDefault) }
	d := steady.Defaults
	return steady.Criterion{
		WindowSeconds: given(s.WindowSeconds, d.WindowSeconds), Windows: given(s.Windows, d.Windows),
		ThroughputPercent: given(s.ThroughputPercent, d.ThroughputPercent), P99Percent: given(s.P99Percent, d.P99Percent),
		TimeoutSeconds: given(s.TimeoutSeconds, d.TimeoutSeconds),
	}
}

// warmupSeconds returns the length or the timeout of a warm-up, or nil for a number of requests.
func warmupSeconds(w *v1alpha1.Warmup) *int32 {
	if w.Steady != nil {
		return ptr.To(int32(Steady(w.Steady).TimeoutSeconds))
	}
	return w.DurationSeconds
}
