package metrics

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/controllers/fair"
	"github.com/assay-dev/assay/internal/benchmark/lifecycle"
	"github.com/assay-dev/assay/internal/run/state"
)

var (
	runsDescription = prometheus.NewDesc("assay_benchmarkruns",
		"BenchmarkRuns in the cluster, by the reason of their condition Succeeded.", []string{"state"}, nil)
	benchmarksDescription = prometheus.NewDesc("assay_benchmarks",
		"Benchmarks in the cluster, by the reason of their condition Succeeded.", []string{"state"}, nil)
	laneRunsDescription = prometheus.NewDesc("assay_lane_benchmarkruns",
		"BenchmarkRuns that wait for a lane, or that it has admitted and that have not finished.", []string{"lane", "state"}, nil)
	laneWaitDescription = prometheus.NewDesc("assay_lane_longest_wait_seconds",
		"Time since the creation of the oldest BenchmarkRun that waits for a lane, or 0 if none waits.", []string{"lane"}, nil)
	laneAdmissionDescription = prometheus.NewDesc("assay_lane_last_admission_timestamp_seconds",
		"Time of a lane's last admission, of the BenchmarkRuns that still exist, as seconds since the Unix epoch.", []string{"lane"}, nil)
	sessionsDescription = prometheus.NewDesc("assay_sessions",
		"Pods of BenchmarkRuns that are connected to this manager, by their role.", []string{"role"}, nil)
	sessionsEndedDescription = prometheus.NewDesc("assay_sessions_ended_total",
		"Sessions that have ended or were refused, by their gRPC status code.", []string{"code"}, nil)
	droppedDescription = prometheus.NewDesc("assay_sample_seconds_dropped_total",
		"Sample seconds of pods that were dropped: Duplicate if they had arrived before, Stale if they were older than the last one.",
		[]string{"reason"}, nil)
)

// listTimeout bounds the time of a list from the cache, which may not be filled yet.
const listTimeout = 5 * time.Second

// Values of the label state of a lane's runs.
const (
	stateWaiting = "Waiting"
	stateActive  = "Active"
)

func (m *Metrics) vectors() []prometheus.Collector {
	return append(fair.Collectors(), m.finished, m.findings, m.measured, m.wait, m.duration, m.artifacts, m.rounds, m.build)
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(descriptions chan<- *prometheus.Desc) {
	for _, c := range m.vectors() {
		c.Describe(descriptions)
	}
	for _, d := range []*prometheus.Desc{
		runsDescription, benchmarksDescription, laneRunsDescription, laneWaitDescription, laneAdmissionDescription,
		sessionsDescription, sessionsEndedDescription, droppedDescription,
	} {
		descriptions <- d
	}
}

// Collect implements prometheus.Collector. What can't be listed is omitted, so that the rest is served.
func (m *Metrics) Collect(collected chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), listTimeout)
	defer cancel()
	var runs v1alpha1.BenchmarkRunList
	if err := m.reader.List(ctx, &runs, client.UnsafeDisableDeepCopy); err != nil {
		ctrl.Log.Error(err, "Failed to list the runs for the metrics")
	} else {
		m.collectRuns(collected, runs.Items)
	}
	var benchmarks v1alpha1.BenchmarkList
	if err := m.reader.List(ctx, &benchmarks, client.UnsafeDisableDeepCopy); err != nil {
		ctrl.Log.Error(err, "Failed to list the Benchmarks for the metrics")
	} else {
		states := map[string]int{}
		for i := range benchmarks.Items {
			states[cmp.Or(lifecycle.Succeeded(&benchmarks.Items[i]).Reason, "New")]++
		}
		collectStates(collected, benchmarksDescription, states)
	}
	m.collectSessions(collected)
	for _, c := range m.vectors() {
		c.Collect(collected)
	}
}

// lane is the state of the lanes with one label.
type lane struct {
	waiting, active int
	longest         time.Duration
	admission       time.Time
}

func (m *Metrics) collectRuns(collected chan<- prometheus.Metric, runs []v1alpha1.BenchmarkRun) {
	now := m.clock.Now()
	states, lanes := map[string]int{}, map[string]*lane{}
	for i := range runs {
		br := &runs[i]
		states[state.Of(br)]++
		label := m.lanes.of(br.Spec.Lane, now)
		if lanes[label] == nil {
			lanes[label] = &lane{}
		}
		lanes[label].add(br, now)
	}
	for _, gone := range m.lanes.gone(now) {
		for _, vector := range []*prometheus.MetricVec{m.finished.MetricVec, m.wait.MetricVec, m.duration.MetricVec} {
			vector.DeletePartialMatch(prometheus.Labels{"lane": gone})
		}
	}
	collectStates(collected, runsDescription, states)
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		collected <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	for _, label := range slices.Sorted(maps.Keys(lanes)) {
		l := lanes[label]
		gauge(laneRunsDescription, float64(l.waiting), label, stateWaiting)
		gauge(laneRunsDescription, float64(l.active), label, stateActive)
		gauge(laneWaitDescription, l.longest.Seconds(), label)
		if !l.admission.IsZero() {
			gauge(laneAdmissionDescription, float64(l.admission.Unix()), label)
		}
	}
}

func (l *lane) add(br *v1alpha1.BenchmarkRun, now time.Time) {
	switch {
	case state.IsAdmitted(br) && !state.IsFinished(br):
		l.active++
	case !state.IsFinished(br) && !state.IsSuspended(br) && br.DeletionTimestamp.IsZero():
		admitted := meta.FindStatusCondition(br.Status.Conditions, v1alpha1.ConditionAdmitted)
		if admitted == nil || admitted.Reason != v1alpha1.ReasonNamespaceFull { // it does not wait for the lane
			l.waiting++
		}
		l.longest = max(l.longest, now.Sub(br.CreationTimestamp.Time))
	}
	if at := br.Status.AdmissionTime; at != nil && at.After(l.admission) {
		l.admission = at.Time
	}
}

func collectStates(collected chan<- prometheus.Metric, d *prometheus.Desc, states map[string]int) {
	for state, n := range states {
		collected <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(n), state)
	}
}

func (m *Metrics) collectSessions(collected chan<- prometheus.Metric) {
	s := m.sessions.Statistics()
	for role, n := range map[string]int{"client": s.Clients, "agent": s.Agents} {
		collected <- prometheus.MustNewConstMetric(sessionsDescription, prometheus.GaugeValue, float64(n), role)
	}
	for code, n := range s.Ended {
		collected <- prometheus.MustNewConstMetric(sessionsEndedDescription, prometheus.CounterValue, float64(n), code)
	}
	for reason, n := range map[string]uint64{"Duplicate": s.DuplicateSeconds, "Stale": s.StaleSeconds} {
		collected <- prometheus.MustNewConstMetric(droppedDescription, prometheus.CounterValue, float64(n), reason)
	}
}
