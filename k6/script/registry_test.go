package script

import (
	"fmt"
	"slices"
	"testing"

	"go.k6.io/k6/v2/metrics"

	"github.com/assay-dev/assay/internal/k6metric"
)

// TestMetricsOfK6AreKept adds more metrics than fit before k6's own, as a script that makes no requests until its
// first iteration has ended.
func TestMetricsOfK6AreKept(t *testing.T) {
	all := metrics.NewRegistry()
	k6 := metrics.RegisterBuiltinMetrics(all)
	r := newRegistry(nil)
	add := func(m *metrics.Metric) {
		r.add(&metrics.Sample{TimeSeries: metrics.TimeSeries{Metric: m, Tags: all.RootTagSet()}, Value: 1})
	}
	const tooMany = 50
	for i := range k6metric.MaxScriptMetrics + tooMany {
		add(all.MustNewMetric(fmt.Sprintf("own_%d", i), metrics.Counter))
	}
	for _, m := range all.All() {
		if slices.Contains(ofK6, m.Name) {
			add(m)
		}
	}
	if r.dropped != tooMany {
		t.Errorf("%d metrics were dropped, want %d", r.dropped, tooMany)
	}
	if !slices.ContainsFunc(r.all(), func(m k6metric.Metric) bool { return m.Name == k6.Iterations.Name && m.Sum == 1 }) {
		t.Error("iterations are not kept")
	}
	if n := len(r.all()); n != k6metric.MaxScriptMetrics+len(ofK6)-len(unmergeable) || n > k6metric.MaxMetrics {
		t.Errorf("%d metrics are kept, of at most %d", n, k6metric.MaxMetrics)
	}
}
