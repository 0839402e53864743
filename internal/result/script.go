package result

import (
	"fmt"

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
	// Thrown is the number of iterations that ended with an uncaught exception, Exception the first one, or empty.
	Thrown    int64  `json:"thrown,omitempty"`
	Exception string `json:"exception,omitempty"`
	// Interrupted is the number of iterations that k6 interrupted.
	Interrupted int64 `json:"interrupted,omitempty"`
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
	if s.VirtualUsers < 0 || s.RunMicroseconds < 0 || min(s.Omitted, s.Thrown, s.Interrupted) < 0 || max(s.VirtualUsers, s.RunMicroseconds, s.Omitted, s.Thrown, s.Interrupted) > maxMetric ||
		len(s.TeardownError) > maxText || len(s.Exception) > maxText {
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
	// ThrownIterations is the number of iterations that ended with an uncaught exception, Exception one of the first ones, or empty.
	ThrownIterations int64  `json:"thrownIterations,omitempty"`
	Exception        string `json:"exception,omitempty"`
	// InterruptedIterations is the number of iterations that k6 interrupted at the end of gracefulStop or of the load. They are not among the
	// iterations, and their requests under way not among the requests.
	InterruptedIterations int64 `json:"interruptedIterations,omitempty"`
	// Metrics are all of k6's metrics with values, including those of setup() and
	// teardown(), in the order of their first occurrence. MetricsOmitted is the number
	// of metrics that were omitted because there were too many.
	Metrics        []k6metric.Summary `json:"metrics"`
	MetricsOmitted int64              `json:"metricsOmitted,omitempty"`
	// MarkedFailed are the indexes of clients whose script called test.fail().
	MarkedFailed []int `json:"markedFailed,omitempty"`
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

// ScriptAbort is the threshold of a script with abortOnFail that ended the load of all clients: their merged metrics
// crossed it.
type ScriptAbort struct {
	// Metric is the metric's name with its tags, Bound the expression, Actual the value that crossed it.
	Metric string `json:"metric"`
	Bound  string `json:"bound"`
	Actual string `json:"actual"`
	// End is the second of the measurement at which the load ended.
	End int64 `json:"endSeconds"`
}

// String returns the threshold and the metric in words.
func (a *ScriptAbort) String() string {
	return fmt.Sprintf("%s %s was %s", a.Metric, a.Bound, a.Actual)
}
