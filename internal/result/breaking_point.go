package result

// BreakingPointKind is a condition under which a target counts as overloaded.
type BreakingPointKind string

// The kinds of breaking points. Package breakingpoint finds them, and says how.
const (
	// BreakingCPU is a container of the target above a share of its own CPU limit.
	BreakingCPU BreakingPointKind = "CPU"
	// BreakingPodCPU is all containers of the target together above a share of their PodCPULimit.
	BreakingPodCPU BreakingPointKind = "PodCPU"
	// BreakingFailedRequests is a number of failed requests since the start.
	BreakingFailedRequests BreakingPointKind = "FailedRequests"
	// BreakingErrorRate is a share of failed requests at any time.
	BreakingErrorRate BreakingPointKind = "ErrorRate"
	// BreakingLatencyP99 is a 99th percentile of the total time of requests.
	BreakingLatencyP99 BreakingPointKind = "LatencyP99"
	// BreakingThroughput is a throughput that no longer rises with the load.
	BreakingThroughput BreakingPointKind = "Throughput"
)

// BreakingPoint is a condition under which a target counts as overloaded, and the load at which it was
// first met.
type BreakingPoint struct {
	Kind BreakingPointKind `json:"kind"`
	// Container is the container of BreakingCPU, else empty.
	Container string `json:"container,omitempty"`
	// Bound is the condition, as in "above 90%".
	Bound string `json:"bound"`
	// Reached reports whether it was met. If not, the fields below are not set.
	Reached bool `json:"reached"`
	// Second is the time at which it was first met, in whole seconds from the start time. Seconds is
	// the length of the part of the series that shows it.
	Second  int64 `json:"second"`
	Seconds int64 `json:"seconds,omitempty"`
	// Connections or RatePerSecond is the planned load of all clients then; the other is 0.
	Connections   int64 `json:"connections,omitempty"`
	RatePerSecond int64 `json:"ratePerSecond,omitempty"`
	// Step reports whether the load was changing from one level to another.
	Step bool `json:"step,omitempty"`
	// Actual is its value then, as in "93.4%".
	Actual string `json:"actual,omitempty"`
}

// Load returns Connections or RatePerSecond.
func (p *BreakingPoint) Load() int64 { return p.Connections + p.RatePerSecond }

// Stop says what ended a load before its planned end.
type Stop struct {
	BreakingPoint
	// End is the planned end of the load since then: no request has its start, or intended start,
	// later. It is in whole seconds from the start time.
	End int64 `json:"endSeconds"`
}
