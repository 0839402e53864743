package benchmarkrun

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/controllers/metrics"
	"github.com/assay-dev/assay/internal/session/manager"
)

// Statistics implements metrics.Sessions.
func (*fakeSessions) Statistics() manager.Statistics { return manager.Statistics{} }

// counted returns the counters that are not 0, with their labels' values.
func counted(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			var labels []string
			for _, label := range m.GetLabel() {
				labels = append(labels, label.GetValue())
			}
			if n := m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount()); n != 0 {
				values[fmt.Sprint(family.GetName(), labels)] = n
			}
		}
	}
	return values
}

// TestMetrics stores the result of a run at the third attempt. The run and its findings count once, however
// often it is reconciled.
func TestMetrics(t *testing.T) {
	b := collected(t)
	registry := prometheus.NewPedanticRegistry()
	b.Metrics = metrics.New(b.Client, b.sessions, b.clock, "1")
	if err := b.Metrics.Register(registry); err != nil {
		t.Fatal(err)
	}
	err := error(apierrors.NewInternalError(errors.New("failed calling webhook")))
	defer b.intercept(failingStore(&err))()
	b.attempt()
	err = errForbidden
	b.attempt()
	err = nil
	b.attempt()
	b.attempt()
	lane, valid := b.run.Spec.Lane, meta.FindStatusCondition(b.run.Status.Conditions, v1alpha1.ConditionValid)
	want := map[string]float64{
		"assay_artifact_failures_total[BenchmarkRun Forbidden]":                                1,
		"assay_artifact_failures_total[BenchmarkRun InternalError]":                            1,
		fmt.Sprintf("assay_benchmarkruns_finished_total[%s Completed %s]", lane, valid.Status): 1,
		"assay_benchmarkrun_wait_seconds[" + lane + "]":                                        1,
		"assay_benchmarkrun_duration_seconds[" + lane + "]":                                    1,
		"assay_requests_measured_total[]":                                                      2000,
	}
	got := counted(t, registry)
	for name := range got {
		if finding, ok := strings.CutPrefix(name, "assay_findings_total["); ok {
			if reason, _, _ := strings.Cut(finding, " "); !strings.Contains(valid.Message, reason+": ") || got[name] != 1 {
				t.Errorf("%s is %g, Valid says %s", name, got[name], valid.Message)
			}
			delete(got, name)
			want["findings"]++
			got["findings"]++
		}
	}
	if want["findings"] == 0 {
		t.Error("no finding was counted, of a run without warm-up")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
