package inference_test

import (
	"testing"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/benchmark/inference"
	"github.com/assay-dev/assay/test/benchtest"
)

func TestCheckRepetitions(t *testing.T) {
	two := []v1alpha1.BenchmarkMetric{"LatencyP99", "RequestsPerSecond"}
	stored := benchtest.Compare("x", two...)
	stored.Baseline = v1alpha1.Baseline{LastPassed: &v1alpha1.LastPassed{}}
	reported := benchtest.Compare("x", two...)
	reported.Metrics[0].Role, reported.Metrics[1].Role = v1alpha1.RoleReport, v1alpha1.RoleReport
	for name, c := range map[string]struct {
		axis       v1alpha1.Axis
		comparison *v1alpha1.Comparison
		confidence int32
		least      int32 // that works
		want       string
	}{
		"one":                   {benchtest.Options("a", "x", "y"), benchtest.Compare("x", "LatencyP99"), 95, 6, "spec.repetitions.min: 5, must be at least 6 for 1 comparison of gate metrics with the baseline at 95% confidence: with fewer blocks no interval exists"},
		"two metrics":           {benchtest.Options("a", "x", "y"), benchtest.Compare("x", two...), 95, 7, "spec.repetitions.min: 6, must be at least 7 for 2 comparisons of gate metrics with the baseline at 95% confidence: with fewer blocks no interval exists"},
		"two metrics, 5 cells":  {benchtest.Options("a", "v", "w", "x", "y", "z"), benchtest.Compare("x", two...), 95, 9, "spec.repetitions.min: 8, must be at least 9 for 8 comparisons of gate metrics with the baseline at 95% confidence: with fewer blocks no interval exists"},
		"a higher confidence":   {benchtest.Options("a", "x", "y"), benchtest.Compare("x", "LatencyP99"), 99, 8, "spec.repetitions.min: 7, must be at least 8 for 1 comparison of gate metrics with the baseline at 99% confidence: with fewer blocks no interval exists"},
		"only reported metrics": {benchtest.Options("a", "x", "y"), reported, 95, 1, ""},
		"a stored baseline":     {benchtest.Options("a", "x", "y"), stored, 95, 1, ""},
		"no comparison":         {benchtest.Options("a", "x", "y"), nil, 95, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			spec := &v1alpha1.BenchmarkSpec{Axes: []v1alpha1.Axis{c.axis}, Comparison: c.comparison, Repetitions: benchtest.Repetitions(c.least)}
			if c.comparison != nil {
				c.comparison.ConfidencePercent = &c.confidence
			}
			cells, err := cells.Of(spec)
			if err != nil {
				t.Fatal(err)
			}
			if err := inference.CheckRepetitions(spec, cells); err != nil {
				t.Error(err)
			}
			if c.want == "" {
				return
			}
			spec.Repetitions.Min = ptr.To(c.least - 1)
			if err := inference.CheckRepetitions(spec, cells); err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
			spec.Repetitions = nil // 10 by default
			if err := inference.CheckRepetitions(spec, cells); err != nil {
				t.Error(err)
			}
		})
	}
}
