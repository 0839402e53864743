package result

import "fmt"

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
