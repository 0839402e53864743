package benchmarkrun

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/run"
)

var (
	finishedTotal = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "assay_benchmarkruns_finished_total",
		Help: "Finished BenchmarkRuns, by the reason of their condition Succeeded and the status of Valid.",
	}, []string{"reason", "valid"})

	measuredTotal = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "assay_requests_measured_total",
		Help: "Requests in the results of finished BenchmarkRuns.",
	})

	runsDescription = prometheus.NewDesc("assay_benchmarkruns",
		"BenchmarkRuns in the cluster, by the reason of their condition Succeeded.", []string{"state"}, nil)
)

func init() { metrics.Registry.MustRegister(finishedTotal, measuredTotal) }

type runsCollector struct{ reader client.Reader }

// Describe implements prometheus.Collector.
func (c runsCollector) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- runsDescription
}

// Collect implements prometheus.Collector.
func (c runsCollector) Collect(collected chan<- prometheus.Metric) {
	var runs v1alpha1.BenchmarkRunList
	if err := c.reader.List(context.Background(), &runs, client.UnsafeDisableDeepCopy); err != nil {
		collected <- prometheus.NewInvalidMetric(runsDescription, err)
		return
	}
	byState := map[string]int{}
	for i := range runs.Items {
		byState[run.State(&runs.Items[i])]++
	}
	for state, n := range byState {
		collected <- prometheus.MustNewConstMetric(runsDescription, prometheus.GaugeValue, float64(n), state)
	}
}

// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// announce reports by events and metrics how the state of a run changed, once it is written.
func (r *Reconciler) announce(before, after *v1alpha1.BenchmarkRun) {
	was, is := run.Succeeded(before), run.Succeeded(after)
	if was.Reason == is.Reason {
		return
	}
	kind := corev1.EventTypeNormal
	if is.Status == metav1.ConditionFalse {
		kind = corev1.EventTypeWarning
	}
	r.Events.Eventf(after, nil, kind, is.Reason, "Reconcile", "%s", run.Bounded(is.Message, 1024))
	if !run.IsFinished(after) {
		return
	}
	valid := meta.FindStatusCondition(after.Status.Conditions, v1alpha1.ConditionValid)
	finishedTotal.WithLabelValues(is.Reason, string(valid.Status)).Inc()
	if is.Status == metav1.ConditionTrue {
		if valid.Status == metav1.ConditionFalse {
			r.Events.Eventf(after, nil, corev1.EventTypeWarning, valid.Reason, "Judge", "%s", run.Bounded(valid.Message, 1024))
		}
		measuredTotal.Add(float64(*after.Status.Result.Requests))
	}
}
