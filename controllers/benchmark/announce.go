package benchmark

import (
	"cmp"
	"context"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
)

var (
	roundsTotal = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "assay_benchmark_rounds_finished_total",
		Help: "Completed rounds of Benchmarks, by their verdict.",
	}, []string{"verdict"})

	benchmarksDescription = prometheus.NewDesc("assay_benchmarks",
		"Benchmarks in the cluster, by the reason of their condition Succeeded.", []string{"state"}, nil)
)

func init() { metrics.Registry.MustRegister(roundsTotal) }

type benchmarksCollector struct{ reader client.Reader }

// Describe implements prometheus.Collector.
func (c benchmarksCollector) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- benchmarksDescription
}

// Collect implements prometheus.Collector.
func (c benchmarksCollector) Collect(collected chan<- prometheus.Metric) {
	var all v1alpha1.BenchmarkList
	if err := c.reader.List(context.Background(), &all, client.UnsafeDisableDeepCopy); err != nil {
		collected <- prometheus.NewInvalidMetric(benchmarksDescription, err)
		return
	}
	byState := map[string]int{}
	for i := range all.Items {
		byState[cmp.Or(benchmark.Succeeded(&all.Items[i]).Reason, "New")]++
	}
	for state, n := range byState {
		collected <- prometheus.MustNewConstMetric(benchmarksDescription, prometheus.GaugeValue, float64(n), state)
	}
}

// announce reports by events and metrics how the state of a Benchmark changed, once it is written.
func (r *Reconciler) announce(before, after *v1alpha1.Benchmark) {
	was, is := benchmark.Succeeded(before), benchmark.Succeeded(after)
	if was.Reason != is.Reason {
		kind := corev1.EventTypeNormal
		if is.Status == metav1.ConditionFalse {
			kind = corev1.EventTypeWarning
		}
		r.Events.Eventf(after, nil, kind, is.Reason, "Reconcile", "%.1024s", is.Message)
	}
	if a := after.Status.Acceptance; a != nil && (before.Status.Acceptance == nil || before.Status.Acceptance.Request != a.Request) {
		kind, reason := corev1.EventTypeNormal, "RoundAccepted"
		if a.Outcome == v1alpha1.AcceptanceRefused {
			kind, reason = corev1.EventTypeWarning, "RoundNotAccepted"
		}
		r.Events.Eventf(after, nil, kind, reason, "Accept", "%s", a.Message)
	}
	// The next round may have begun in the same step.
	if benchmark.IsActive(before) && (!benchmark.IsActive(after) || after.Status.Round.Number != before.Status.Round.Number) {
		roundsTotal.WithLabelValues(string(after.Status.Verdict)).Inc()
	}
}
