package result

import (
	"fmt"
	"slices"
	"time"

	"github.com/assay-dev/assay/internal/k6metric"
)

// LoadScript is the load of a k6 script: latencies are service times as k6 measures them.
const LoadScript = "script"

// maxText bounds the texts that a client sends about its script, in bytes.
const maxText = 1024

// ScriptTotals are a client's final metrics of its k6 script.
type ScriptTotals struct {
	// VirtualUsers is the largest number of initialized virtual users.
	VirtualUsers int64 `json:"virtualUsers"`
	// RunMicroseconds is the time for which the script's scenarios ran.
	RunMicroseconds int64 `json:"runMicroseconds"`
	// Metrics are k6's metrics, including those of setup() and teardown(). Omitted is
	// the number of metrics that were omitted because there were too many.
	Metrics []k6metric.Metric `json:"metrics"`
	Omitted int64             `json:"omitted,omitempty"`
	// Thresholds are those of the script.
	Thresholds []k6metric.Threshold `json:"thresholds,omitempty"`
	// MarkedFailed reports whether the script called test.fail().
	MarkedFailed bool `json:"markedFailed,omitempty"`
	// TeardownError is the error of teardown(), or empty if there was none.
	TeardownError string `json:"teardownError,omitempty"`
	// Checks are the outcomes of the script's checks. ChecksOmitted is the number of those that were omitted because
	// there were too many.
	Checks        []k6metric.Check `json:"checks,omitempty"`
	ChecksOmitted int64            `json:"checksOmitted,omitempty"`
	// Summarizes reports whether the script may define handleSummary(). TrendStatistics and TimeUnit are its options
	// summaryTrendStats and summaryTimeUnit.
	Summarizes      bool     `json:"summarizes,omitempty"`
	TrendStatistics []string `json:"trendStatistics,omitempty"`
	TimeUnit        string   `json:"timeUnit,omitempty"`
}

// maxTrendStatistics bounds the statistics of the option summaryTrendStats.
const maxTrendStatistics = 50

// Check returns an error for metrics that no client can have counted.
func (s *ScriptTotals) Check() error {
	most := k6metric.MaxMetrics + k6metric.MaxThresholds
	if len(s.Metrics) > most || len(s.Thresholds) > k6metric.MaxThresholds {
		return fmt.Errorf("%d metrics and %d thresholds of a script", len(s.Metrics), len(s.Thresholds))
	}
	if s.VirtualUsers < 0 || s.RunMicroseconds < 0 || s.Omitted < 0 || max(s.VirtualUsers, s.RunMicroseconds, s.Omitted) > maxMetric || len(s.TeardownError) > maxText {
		return fmt.Errorf("a script of %d virtual users that ran for %d µs", s.VirtualUsers, s.RunMicroseconds)
	}
	if len(s.Checks) > k6metric.MaxChecks || s.ChecksOmitted < 0 || s.ChecksOmitted > maxMetric || len(s.TimeUnit) > maxText || len(s.TrendStatistics) > maxTrendStatistics {
		return fmt.Errorf("%d checks and %d statistics of a script", len(s.Checks), len(s.TrendStatistics))
	}
	for i := range s.Checks {
		if err := s.Checks[i].Check(); err != nil {
			return err
		}
	}
	for i := range s.Metrics {
		if err := s.Metrics[i].Check(); err != nil {
			return err
		}
	}
	for i := range s.Thresholds {
		if err := s.Thresholds[i].Check(); err != nil {
			return err
		}
	}
	return nil
}

// Script holds the metrics of a k6 script over all clients.
type Script struct {
	// VirtualUsers is the number of initialized virtual users.
	VirtualUsers int64 `json:"virtualUsers"`
	// Iterations is the number of completed iterations, DroppedIterations that of
	// iterations that never started because no virtual user was free.
	Iterations        int64 `json:"iterations"`
	DroppedIterations int64 `json:"droppedIterations"`
	// Metrics are all of k6's metrics with values, including those of setup() and
	// teardown(), in the order of their first occurrence. MetricsOmitted is the number
	// of metrics that were omitted because there were too many.
	Metrics        []k6metric.Summary `json:"metrics"`
	MetricsOmitted int64              `json:"metricsOmitted,omitempty"`
	// MarkedFailed are the indexes of clients whose script called test.fail(), EndedEarly those of
	// clients that ended their load because of a threshold with abortOnFail.
	MarkedFailed []int `json:"markedFailed,omitempty"`
	EndedEarly   []int `json:"endedEarly,omitempty"`
	// TeardownError is the error of teardown(), or empty if there was none.
	TeardownError string `json:"teardownError,omitempty"`
	// Checks are the outcomes of the script's checks. ChecksOmitted is the number of those that were omitted because
	// there were too many.
	Checks        []k6metric.Check `json:"checks,omitempty"`
	ChecksOmitted int64            `json:"checksOmitted,omitempty"`
	// Abort is the threshold that ended the load of all clients; nil if none did.
	Abort *ScriptAbort `json:"abort,omitempty"`
	// Summary is what handleSummary() returned; nil if the script doesn't define it.
	Summary *ScriptSummary `json:"summary,omitempty"`
}

// Metric returns the summary of a metric by its name; nil if it has none.
func (s *Script) Metric(name string) *k6metric.Summary {
	for i := range s.Metrics {
		if s.Metrics[i].Name == name {
			return &s.Metrics[i]
		}
	}
	return nil
}

// scripts holds the metrics of a k6 script over all clients.
type scripts struct {
	n          int // of clients with metrics
	metrics    []k6metric.Metric
	omitted    int64
	checks     []k6metric.Check
	unchecked  int64 // checks that were omitted
	thresholds []k6metric.Threshold
	elapsed    time.Duration
	users      int64
}

// mergeScripts merges the clients' metrics of a k6 script. It ignores nil.
func mergeScripts(clients []*ScriptTotals) *scripts {
	var metrics [][]k6metric.Metric
	var checks [][]k6metric.Check
	s := &scripts{}
	for _, own := range clients {
		if own == nil {
			continue
		}
		s.n++
		metrics, checks = append(metrics, own.Metrics), append(checks, own.Checks)
		s.users += own.VirtualUsers
		s.omitted, s.unchecked = max(s.omitted, own.Omitted), max(s.unchecked, own.ChecksOmitted)
		s.elapsed = max(s.elapsed, time.Duration(own.RunMicroseconds)*time.Microsecond)
		for _, t := range own.Thresholds {
			s.thresholds = addThreshold(s.thresholds, t)
		}
	}
	var omitted, unchecked int64
	s.metrics, omitted = k6metric.Merge(metrics...)
	s.checks, unchecked = k6metric.MergeChecks(checks...)
	s.omitted += omitted
	s.unchecked += unchecked
	return s
}

// metric returns a merged metric by its name, or nil.
func (s *scripts) metric(name string) *k6metric.Metric {
	for i := range s.metrics {
		if s.metrics[i].Name == name {
			return &s.metrics[i]
		}
	}
	return nil
}

// AddScript merges the clients' metrics of a k6 script, removes them from the clients, and adds the
// outcomes of the script's thresholds. It does nothing for other loads.
func (r *Result) AddScript() {
	var all []*ScriptTotals
	s := &Script{}
	for i := range r.Clients {
		c := &r.Clients[i]
		own := c.Script
		c.Script = nil
		if own == nil {
			continue
		}
		all = append(all, own)
		if own.MarkedFailed {
			s.MarkedFailed = append(s.MarkedFailed, c.Index)
		}
		if s.TeardownError == "" {
			s.TeardownError = own.TeardownError
		}
		if slices.ContainsFunc(own.Thresholds, func(t k6metric.Threshold) bool { return t.Aborted }) {
			s.EndedEarly = append(s.EndedEarly, c.Index)
		}
	}
	if len(all) == 0 {
		return
	}
	merged := mergeScripts(all)
	for i := range merged.metrics {
		if merged.metrics[i].Samples > 0 {
			s.Metrics = append(s.Metrics, merged.metrics[i].Summarize())
		}
	}
	s.VirtualUsers, s.MetricsOmitted = merged.users, merged.omitted
	s.Checks, s.ChecksOmitted = merged.checks, merged.unchecked
	s.Iterations, s.DroppedIterations = count(merged.metric("iterations")), count(merged.metric("dropped_iterations"))
	r.Script = s
	r.addScriptThresholds(merged)
}

func count(m *k6metric.Metric) int64 {
	if m == nil {
		return 0
	}
	return int64(m.Sum)
}

func addThreshold(all []k6metric.Threshold, t k6metric.Threshold) []k6metric.Threshold {
	for i := range all {
		if all[i].Metric == t.Metric && all[i].Source == t.Source {
			all[i].Aborted = all[i].Aborted || t.Aborted
			return all
		}
	}
	if len(all) == k6metric.MaxThresholds { // no client has more
		return all
	}
	return append(all, t)
}

// outcome returns the outcome of a threshold. One for which a client has ended its load is missed, regardless of the
// other clients.
func (s *scripts) outcome(t *k6metric.Threshold) k6metric.Outcome {
	outcome, err := t.Evaluate(s.metric(t.Metric), s.elapsed)
	if err != nil { // k6 has checked it: only impossible values lead here
		outcome = k6metric.Outcome{Actual: err.Error()}
	}
	if t.Aborted {
		outcome.Met = false
		outcome.Actual += " (a client ended its load because of it)"
	}
	return outcome
}

// addScriptThresholds adds the outcomes of the script's thresholds.
func (r *Result) addScriptThresholds(s *scripts) {
	for i := range s.thresholds {
		t := &s.thresholds[i]
		outcome := s.outcome(t)
		r.Thresholds = append(r.Thresholds, ThresholdOutcome{Metric: t.Metric, Bound: t.Source, Actual: outcome.Actual, Met: outcome.Met})
	}
}
