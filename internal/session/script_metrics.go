package session

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/assay-dev/assay/internal/k6metric"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

const (
	// MaxScriptMetricsBytes bounds the message with a script's metrics so far.
	MaxScriptMetricsBytes = 256 << 10
	// MaxAllScriptMetricsBytes bounds those of all clients of a run together.
	MaxAllScriptMetricsBytes = 64 << 20
	// MaxSummaryDataBytes bounds what handleSummary() is called with.
	MaxSummaryDataBytes = 3 << 20
)

// ScriptMetrics holds the metrics of a client's k6 script since the start of k6. Each replaces the one before it.
type ScriptMetrics struct {
	// Elapsed is the time since the start of the load in microseconds.
	Elapsed int64 `json:"elapsedMicroseconds"`
	// Metrics are k6's metrics. The distributions of trends have a tenth of the accuracy, except those that thresholds
	// with abortOnFail refer to.
	Metrics []k6metric.Metric `json:"metrics"`
	// Thresholds are those with abortOnFail that the manager evaluates.
	Thresholds []k6metric.Threshold `json:"thresholds,omitempty"`
	// Omitted is the number of metrics that were omitted for the size of the message.
	Omitted int64 `json:"omitted,omitempty"`
}

// ScriptMetricsToWire returns the message for the metrics. If it would have more than limit bytes, it omits the last metrics.
func ScriptMetricsToWire(s *ScriptMetrics, limit int) *sessionpb.ScriptMetrics {
	w := toMessage(s, &sessionpb.ScriptMetrics{})
	size := proto.Size(w)
	for n := len(w.Metrics); size > limit && n > 0; n-- {
		const frame = 8 // its tag and its length, and the growth of omitted
		size -= proto.Size(w.Metrics[n-1]) - frame
		w.Metrics, w.Omitted = w.Metrics[:n-1], w.Omitted+1
	}
	return w
}

// ScriptMetricsFromWire is the inverse of ScriptMetricsToWire. It returns an error for what no client can have counted.
func ScriptMetricsFromWire(w *sessionpb.ScriptMetrics) (*ScriptMetrics, error) {
	if n := proto.Size(w); n > MaxScriptMetricsBytes {
		return nil, fmt.Errorf("metrics of a script with %d bytes", n)
	}
	s := &ScriptMetrics{}
	if err := fromMessage(w, s); err != nil {
		return nil, fmt.Errorf("metrics of a script: %w", err)
	}
	totals := result.ScriptTotals{RunMicroseconds: s.Elapsed, Metrics: s.Metrics, Thresholds: s.Thresholds, Omitted: s.Omitted}
	return s, totals.Check()
}

// ScriptSummaryToWire returns the message for what handleSummary() returned.
func ScriptSummaryToWire(s *result.ScriptSummary) *sessionpb.ScriptSummary {
	return toMessage(s, &sessionpb.ScriptSummary{})
}

// ScriptSummaryFromWire is the inverse of ScriptSummaryToWire. It returns an error for what no client can have sent.
func ScriptSummaryFromWire(w *sessionpb.ScriptSummary) (*result.ScriptSummary, error) {
	s := &result.ScriptSummary{}
	if err := fromMessage(w, s); err != nil {
		return nil, fmt.Errorf("files of handleSummary(): %w", err)
	}
	return s, s.Check()
}
