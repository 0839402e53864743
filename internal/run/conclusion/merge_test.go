package conclusion

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/validity"
)

// TestBoundsOfAMetric checks that a metric may be bounded from both sides.
func TestBoundsOfAMetric(t *testing.T) {
	br := &v1alpha1.BenchmarkRun{Spec: v1alpha1.BenchmarkRunSpec{Thresholds: []v1alpha1.Threshold{
		{Metric: v1alpha1.MetricLatencyP99, Above: "1ms", Below: "50ms"}, {Metric: v1alpha1.MetricErrorRate, Below: "1%"},
	}}}
	want := []validity.Bound{{Metric: "LatencyP99", Above: "1ms"}, {Metric: "LatencyP99", Below: "50ms"}, {Metric: "ErrorRate", Below: "1%"}}
	if diff := cmp.Diff(want, bounds(br)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
