package session

import (
	"github.com/assay-dev/assay/internal/k6metric"
	"github.com/assay-dev/assay/internal/result"
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

// Encode returns the metrics as they are sent. If that would have more than limit bytes, it omits the last metrics.
func (s *ScriptMetrics) Encode(limit int) ([]byte, error) {
	data, err := Encode(s)
	if err != nil || len(data) <= limit {
		return data, err
	}
	fewer, size := *s, len(data)
	for n := len(fewer.Metrics); size > limit && n > 0; n-- {
		omitted, err := Encode(&fewer.Metrics[n-1])
		if err != nil {
			return nil, err
		}
		const frame = 24 // the growth of omitted
		size -= len(omitted) - frame
		fewer.Metrics, fewer.Omitted = fewer.Metrics[:n-1], fewer.Omitted+1
	}
	return Encode(&fewer)
}

// DecodeScriptMetrics decodes metrics. It returns an error for what no client can have counted.
func DecodeScriptMetrics(data []byte) (*ScriptMetrics, error) {
	return decode("metrics of a script", data, MaxScriptMetricsBytes, func(s *ScriptMetrics) error {
		totals := result.ScriptTotals{RunMicroseconds: s.Elapsed, Metrics: s.Metrics, Thresholds: s.Thresholds, Omitted: s.Omitted}
		return totals.Check()
	})
}

// DecodeScriptSummary decodes what handleSummary() returned. It returns an error for what no client can have sent.
func DecodeScriptSummary(data []byte) (*result.ScriptSummary, error) {
	return decode("files of handleSummary()", data, MaxMessageBytes, (*result.ScriptSummary).Check)
}
