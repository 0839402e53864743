package result

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/assay-dev/assay/internal/k6metric"
)

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
		s.ThrownIterations = Plus(s.ThrownIterations, own.Thrown)
		s.InterruptedIterations = Plus(s.InterruptedIterations, own.Interrupted)
		if s.Exception == "" {
			s.Exception = own.Exception
		}
		if s.TeardownError == "" {
			s.TeardownError = own.TeardownError
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
	s.Iterations, s.DroppedIterations = count(merged.metrics, "iterations"), count(merged.metrics, "dropped_iterations")
	r.Script = s
	r.addScriptThresholds(merged)
}

// count returns the value of a counter, or 0 if it has none.
func count(metrics []k6metric.Metric, name string) int64 {
	if m := k6metric.Find(metrics, name); m != nil {
		return int64(m.Sum)
	}
	return 0
}

func addThreshold(all []k6metric.Threshold, t k6metric.Threshold) []k6metric.Threshold {
	for i := range all {
		if all[i].Metric == t.Metric && all[i].Source == t.Source {
			return all
		}
	}
	if len(all) == k6metric.MaxThresholds { // no client has more
		return all
	}
	return append(all, t)
}

// outcome returns the outcome of a threshold.
func (s *scripts) outcome(t *k6metric.Threshold) k6metric.Outcome {
	outcome, err := t.Evaluate(k6metric.Find(s.metrics, t.Metric), s.elapsed)
	if err != nil { // k6 has checked it: only impossible values lead here
		outcome = k6metric.Outcome{Actual: err.Error()}
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

// SetAbort records what ended the load of the script. That threshold is missed, whatever the metrics were afterwards.
// It must be called after AddScript.
func (r *Result) SetAbort(a *ScriptAbort) {
	if a == nil || r.Script == nil {
		return
	}
	r.Script.Abort = a
	for i := range r.Thresholds {
		if t := &r.Thresholds[i]; t.Metric == a.Metric && t.Bound == a.Bound {
			t.Met, t.Actual = false, fmt.Sprintf("%s (aborted at second %d)", a.Actual, a.End)
		}
	}
}

// SetSummary adds what handleSummary() returned, or nil. It must be called after AddScript.
func (r *Result) SetSummary(s *ScriptSummary) {
	if s != nil && !s.None && r.Script != nil {
		r.Script.Summary = s
	}
}

// Summarizes reports whether the script of the clients may define handleSummary().
func Summarizes(clients []*ScriptTotals) bool {
	for _, c := range clients {
		if c != nil && c.Summarizes {
			return true
		}
	}
	return false
}

// SummaryData returns what handleSummary() is called with, as JSON: the metrics of all clients, merged. setup is what
// setup() returned, or nil. aborted is the threshold that ended the load, or nil.
func SummaryData(clients []*ScriptTotals, aborted *ScriptAbort, setup []byte) ([]byte, error) {
	merged := mergeScripts(clients)
	data := &k6metric.SummaryData{
		Metrics: merged.metrics, Thresholds: merged.thresholds, Checks: merged.checks, Elapsed: merged.elapsed, VirtualUsers: merged.users, SetupData: setup,
	}
	for _, c := range clients {
		if c != nil && c.TrendStatistics != nil {
			data.TrendStatistics, data.TimeUnit = c.TrendStatistics, c.TimeUnit
			break
		}
	}
	for i := range merged.thresholds {
		t := &merged.thresholds[i]
		met := merged.outcome(t).Met && (aborted == nil || aborted.Metric != t.Metric || aborted.Bound != t.Source)
		data.Met = append(data.Met, met)
	}
	return json.Marshal(data)
}
