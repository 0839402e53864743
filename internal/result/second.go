package result

import "github.com/assay-dev/assay/internal/percentile"

// Second is one or, where the series was thinned, several consecutive seconds of the measurement,
// of all clients and the target. SecondFigures says what each figure is.
type Second struct {
	// Second is the first second, counted from the start; Seconds is their number.
	Second   int64 `json:"second"`
	Seconds  int64 `json:"seconds"`
	Requests int64 `json:"requests" help:"completed requests"`
	Errors   int64 `json:"errors" help:"failed requests"`
	// P50, P90 and P99 are total times of successful requests, in microseconds.
	// They are -1 where several seconds were joined, since percentiles cannot be.
	P50                        int64 `json:"p50Microseconds"`
	P90                        int64 `json:"p90Microseconds"`
	P99                        int64 `json:"p99Microseconds"`
	Max                        int64 `json:"maxMicroseconds" merging:"max" help:"longest total time of a successful request"`
	BytesReceived              int64 `json:"bytesReceived" unit:"bytes" help:"bytes of responses"`
	ClientCPU                  int64 `json:"clientCPUMicroseconds" help:"CPU time of all clients"`
	ServerCPU                  int64 `json:"serverCPUMicroseconds" optional:"true" help:"CPU time of the server"`
	ServerResident             int64 `json:"serverResidentBytes" unit:"memory" merging:"max" help:"largest resident set of the server, -1 if it is unknown"`
	ClientThrottled            int64 `json:"clientThrottledMicroseconds" optional:"true" help:"time for which clients were throttled by their CPU limit, summed"`
	ClientSchedulingLatencyP99 int64 `json:"clientSchedulerLagP99Microseconds" merging:"max" help:"99th percentile of the scheduling latency of the worst client"`
	ClientGCPauseMax           int64 `json:"clientGCPauseMaxMicroseconds" merging:"max" help:"longest GC pause of a client"`
	// BackendCPU are the CPU times, in microseconds, of the containers behind the
	// server by their names; -1 for one that is unknown.
	BackendCPU map[string]int64 `json:"backendCPUMicroseconds,omitempty"`
}

// SecondFigures is the table of those figures of a Second that can be joined.
var SecondFigures = tableOf[Second]()

// SetUsage sets what the clients used.
func (s *Second) SetUsage(u ClientUsage) {
	s.ClientCPU, s.ClientThrottled = u.CPU(), u.Throttled
	s.ClientSchedulingLatencyP99, s.ClientGCPauseMax = u.SchedulingLatencyP99, u.GCPauseMax
}

// SetLatency sets the figures of the total times of successful requests.
func (s *Second) SetLatency(total *Histogram) {
	p := total.Summarize(0).Percentiles
	s.P50, s.P90, s.P99, s.Max = p[percentile.P50], p[percentile.P90], p[percentile.P99], total.Max()
}

// Join joins the seconds that follow. Percentiles become -1, unless only one of
// the two has successful requests.
func (s *Second) Join(next *Second) {
	switch {
	case next.Requests == next.Errors:
	case s.Requests == s.Errors:
		s.P50, s.P90, s.P99 = next.P50, next.P90, next.P99
	default:
		s.P50, s.P90, s.P99 = Unknown, Unknown, Unknown
	}
	s.Seconds = next.Second + next.Seconds - s.Second
	s.BackendCPU = joinCPU(s.BackendCPU, next.BackendCPU)
	SecondFigures.Merge(s, next)
}

// joinCPU adds CPU times by container. One that is unknown in either is -1.
func joinCPU(a, b map[string]int64) map[string]int64 {
	if len(a)+len(b) == 0 {
		return nil
	}
	sum := make(map[string]int64, len(a))
	for name := range a {
		sum[name] = Unknown
	}
	for name, y := range b {
		if x, both := a[name]; both && x >= 0 && y >= 0 {
			sum[name] = x + y
		} else {
			sum[name] = Unknown
		}
	}
	return sum
}
