// Package metrics holds the manager's own Prometheus metrics. docs/observability.md lists them. Every label has
// a bounded number of values: reasons and states are constants, and lanes, which users name, are limited by
// maxLanes.
package metrics

import (
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/run/state"
	"github.com/assay-dev/assay/internal/session/manager"
)

// Kinds whose artifacts are counted.
const (
	KindBenchmarkRun = "BenchmarkRun"
	KindBenchmark    = "Benchmark"
)

// Sessions counts the sessions of pods.
type Sessions interface {
	Statistics() manager.Statistics
}

// Metrics records what the controllers do, and collects what the cluster and the sessions are like. Its methods
// are safe to call from any goroutine. Those of a nil Metrics that record do nothing.
type Metrics struct {
	reader   client.Reader
	sessions Sessions
	clock    clock.PassiveClock
	lanes    *laneLabels

	finished  *prometheus.CounterVec
	findings  *prometheus.CounterVec
	measured  prometheus.Counter
	wait      *prometheus.HistogramVec
	duration  *prometheus.HistogramVec
	artifacts *prometheus.CounterVec
	rounds    *prometheus.CounterVec
	build     prometheus.Gauge
}

// New returns metrics. reader lists runs and Benchmarks at each scrape, from a cache. version is the manager's.
func New(reader client.Reader, sessions Sessions, c clock.PassiveClock, version string) *Metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	histogram := func(name, help string, buckets []float64) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, []string{"lane"})
	}
	m := &Metrics{
		reader: reader, sessions: sessions, clock: c, lanes: &laneLabels{seen: map[string]time.Time{}},
		finished: counter("assay_benchmarkruns_finished_total",
			"Finished BenchmarkRuns, by their lane, the reason of their condition Succeeded and the status of Valid.", "lane", "reason", "valid"),
		findings: counter("assay_findings_total",
			"Findings of finished BenchmarkRuns, by their reason and their severity.", "reason", "severity"),
		measured: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "assay_requests_measured_total", Help: "Requests in the results of finished BenchmarkRuns.",
		}),
		wait: histogram("assay_benchmarkrun_wait_seconds",
			"Time from the creation of a finished BenchmarkRun to its admission to its lane.",
			[]float64{1, 5, 15, 60, 300, 900, 3600, 4 * 3600, 12 * 3600, 24 * 3600}),
		duration: histogram("assay_benchmarkrun_duration_seconds",
			"Time from the admission of a finished BenchmarkRun to its end.",
			[]float64{10, 30, 60, 120, 300, 600, 1800, 3600, 2 * 3600, 6 * 3600, 24 * 3600}),
		artifacts: counter("assay_artifact_failures_total",
			"Failed attempts to store an artifact, by the kind that it belongs to and the reason of the API server.", "kind", "reason"),
		rounds: counter("assay_benchmark_rounds_finished_total",
			"Completed rounds of Benchmarks, by their verdict.", "verdict"),
		build: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "assay_build_info", Help: "The manager's version as a label. The value is 1.", ConstLabels: prometheus.Labels{"version": version},
		}),
	}
	m.build.Set(1)
	return m
}

// RunFinished records the end of a run, whose status was written, and the findings about its result.
func (m *Metrics) RunFinished(br *v1alpha1.BenchmarkRun, findings []result.Finding) {
	if m == nil {
		return
	}
	succeeded := state.Succeeded(br)
	valid := ptr.Deref(meta.FindStatusCondition(br.Status.Conditions, v1alpha1.ConditionValid), metav1.Condition{Status: metav1.ConditionUnknown})
	lane := m.lanes.of(br.Spec.Lane, m.clock.Now())
	m.finished.WithLabelValues(lane, succeeded.Reason, string(valid.Status)).Inc()
	for i := range findings {
		m.findings.WithLabelValues(findings[i].Reason, string(findings[i].Severity)).Inc()
	}
	if r := br.Status.Result; r != nil && succeeded.Status == metav1.ConditionTrue {
		m.measured.Add(float64(ptr.Deref(r.Requests, 0)))
	}
	admitted, completed := br.Status.AdmissionTime, br.Status.CompletionTime
	if admitted == nil || completed == nil {
		return
	}
	m.wait.WithLabelValues(lane).Observe(seconds(admitted.Sub(br.CreationTimestamp.Time)))
	m.duration.WithLabelValues(lane).Observe(seconds(completed.Sub(admitted.Time)))
}

// seconds returns a duration of the wall clock, which may have been set meanwhile.
func seconds(d time.Duration) float64 { return max(d, 0).Seconds() }

// RoundFinished records the end of a round.
func (m *Metrics) RoundFinished(verdict v1alpha1.BenchmarkVerdict) {
	if m != nil {
		m.rounds.WithLabelValues(string(verdict)).Inc()
	}
}

// ArtifactFailed records that an artifact of a kind could not be stored.
func (m *Metrics) ArtifactFailed(kind string, err error) {
	if m != nil {
		m.artifacts.WithLabelValues(kind, reasonOf(err)).Inc()
	}
}

// reasonOf returns the API server's reason of an error. Webhooks may choose any reason: one that the API
// server itself doesn't use is Rejected, an error without an answer Unavailable.
func reasonOf(err error) string {
	switch reason := apierrors.ReasonForError(err); reason {
	case metav1.StatusReasonForbidden, metav1.StatusReasonInvalid, metav1.StatusReasonAlreadyExists, metav1.StatusReasonNotFound,
		metav1.StatusReasonRequestEntityTooLarge, metav1.StatusReasonTooManyRequests, metav1.StatusReasonTimeout, metav1.StatusReasonServerTimeout,
		metav1.StatusReasonInternalError, metav1.StatusReasonServiceUnavailable, metav1.StatusReasonBadRequest:
		return string(reason)
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) && status.Status().Code/100 == 4 {
		return "Rejected"
	}
	return "Unavailable"
}

// Register registers the metrics.
func (m *Metrics) Register(registry prometheus.Registerer) error {
	if err := registry.Register(m); err != nil {
		return fmt.Errorf("register the metrics: %w", err)
	}
	return nil
}
