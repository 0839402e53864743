package result

import (
	"encoding/json"
	"slices"

	"github.com/assay-dev/assay/internal/percentile"
)

// Second is one or, where the series was thinned, several consecutive seconds of the measurement,
// of all clients and the target. SecondMetrics says what each metric is.
type Second struct {
	// Second is the first second, counted from the start; Seconds is their number.
	Second  int64 `json:"second"`
	Seconds int64 `json:"seconds"`
	// TrueSeconds is the true length in seconds of the last point, during which the measurement ended; 0 for Seconds.
	TrueSeconds float64 `json:"-"`
	Requests    int64   `json:"requests" help:"completed requests"`
	Errors      int64   `json:"errors" help:"failed requests"`
	// P50, P90 and P99 are total times of successful requests, in microseconds.
	// They are -1 where several seconds were joined, since percentiles cannot be.
	// Those of the other phases are in Phases, and absent there.
	P50                        int64 `json:"p50Microseconds"`
	P90                        int64 `json:"p90Microseconds"`
	P99                        int64 `json:"p99Microseconds"`
	Max                        int64 `json:"maxMicroseconds" merging:"max" help:"longest total time of a successful request"`
	BytesReceived              int64 `json:"bytesReceived" unit:"bytes" help:"bytes of responses"`
	ClientCPU                  int64 `json:"clientCPUMicroseconds" help:"CPU time of all clients"`
	ServerCPU                  int64 `json:"serverCPUMicroseconds" optional:"true" help:"CPU time of the server"`
	ServerResident             int64 `json:"serverResidentBytes" unit:"memory" merging:"max" help:"largest resident set of the server, -1 if it is unknown"`
	ClientThrottled            int64 `json:"clientThrottledMicroseconds" optional:"true" help:"time for which clients were throttled by their CPU limit, summed"`
	ClientSchedulingLatencyP99 int64 `json:"clientSchedulingLatencyP99Microseconds" merging:"max" help:"99th percentile of the scheduling latency of the worst client"`
	ClientGCPauseMax           int64 `json:"clientGCPauseMaxMicroseconds" merging:"max" help:"longest GC pause of a client"`
	// BackendCPU are the CPU times, in microseconds, of the containers behind the
	// server by their names; -1 for one that is unknown.
	BackendCPU map[string]int64 `json:"backendCPUMicroseconds,omitempty"`
	// Counts are all counts of the clients. Phases are the times of successful requests. They are
	// nil if they are unknown.
	Counts *Counts     `json:"counts,omitempty"`
	Phases *PhaseTimes `json:"phases,omitempty"`
	// Sketch is the distribution of the total times of successful requests, for a heat map: base64 of the counts of buckets
	// as in HdrHistogram's V2 encoding. Long results don't have it, unless they are in buckets; see package artifact.
	Sketch Sketch `json:"sketch,omitempty"`
	// Server and Backends are all metrics of the target's containers, the latter by name. One
	// of unknown usage is absent.
	Server   *Used            `json:"server,omitempty"`
	Backends map[string]*Used `json:"backends,omitempty"`
	// Node shows what happened around the target, ClientNode around all clients: their counters
	// are summed, also if clients share CPUs. They are nil if that is unknown.
	Node       *NodeUsage `json:"node,omitempty"`
	ClientNode *NodeUsage `json:"clientNode,omitempty"`
}

// Used is the usage of a container in some seconds.
type Used ServerUsage

func usedBy(u ServerUsage) *Used {
	u.At, u.CPUs, u.AgentCPUs = 0, "", ""
	return (*Used)(&u)
}

// MarshalJSON writes the metrics that are known.
func (u Used) MarshalJSON() ([]byte, error) {
	usage := ServerUsage(u)
	return json.Marshal(ServerMetrics.known(&usage))
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (u *Used) UnmarshalJSON(data []byte) error {
	return ServerMetrics.unmarshal((*ServerUsage)(u), data)
}

func (u *Used) add(next *Used) { ServerMetrics.Merge((*ServerUsage)(u), (*ServerUsage)(next)) }

// SecondMetrics is the table of those metrics of a Second that can be joined.
var SecondMetrics = tableOf[Second]()

// SetCounts sets what the clients counted, and the times of their requests.
func (s *Second) SetCounts(c Counts, t PhaseTimes) {
	s.Requests, s.Errors, s.BytesReceived = c.Requests, c.Errors.Total(), c.BytesReceived
	s.Counts, s.Phases = &c, &t
}

// SetUsage sets what the clients used.
func (s *Second) SetUsage(u ClientUsage) {
	s.ClientCPU, s.ClientThrottled = u.CPU(), u.Throttled
	s.ClientSchedulingLatencyP99, s.ClientGCPauseMax = u.SchedulingLatencyP99, u.GCPauseMax
}

// SetServer sets what the server used, if that is known.
func (s *Second) SetServer(u *ServerUsage, known bool) {
	s.ServerCPU, s.ServerResident, s.Server = Unknown, Unknown, nil
	if known {
		s.ServerCPU, s.ServerResident, s.Server = u.CPU(), u.Resident, usedBy(*u)
	}
}

// SetBackend sets what a container behind the server used, if that is known.
func (s *Second) SetBackend(name string, u *ServerUsage, known bool) {
	if s.BackendCPU == nil {
		s.BackendCPU = map[string]int64{}
	}
	s.BackendCPU[name] = Unknown
	if known {
		if s.Backends == nil {
			s.Backends = map[string]*Used{}
		}
		s.BackendCPU[name], s.Backends[name] = u.CPU(), usedBy(*u)
	}
}

// CPUOf returns the CPU time of a container of the target in microseconds, or Unknown.
func (s *Second) CPUOf(container string) int64 {
	if container == ServerContainer {
		return s.ServerCPU
	}
	if used, known := s.BackendCPU[container]; known {
		return used
	}
	return Unknown
}

// SetLatency sets the metrics of the total times of successful requests, also those among the phases if SetCounts was
// called before.
func (s *Second) SetLatency(total *Histogram) {
	p := total.Summarize(0).Percentiles
	s.P50, s.P90, s.P99, s.Max = p[percentile.P50], p[percentile.P90], p[percentile.P99], total.Max()
	if s.Phases != nil && s.Phases[Total].Count == total.Count() && total.Count() > 0 {
		s.Phases[Total].PhasePercentiles = &PhasePercentiles{P50: s.P50, P90: s.P90, P99: s.P99}
	}
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
	s.Counts = joined(s.Counts, next.Counts, func(sum, other *Counts) { sum.Add(*other) })
	s.Phases = joined(s.Phases, next.Phases, (*PhaseTimes).Add)
	s.Server = joined(s.Server, next.Server, (*Used).add)
	var backends map[string]*Used
	for name, used := range s.Backends {
		if sum := joined(used, next.Backends[name], (*Used).add); sum != nil {
			if backends == nil {
				backends = map[string]*Used{}
			}
			backends[name] = sum
		}
	}
	s.Backends = backends
	s.Node, s.ClientNode = joined(s.Node, next.Node, NodeMetrics.Merge), joined(s.ClientNode, next.ClientNode, NodeMetrics.Merge)
	s.Sketch = slices.Clone(s.Sketch) // what it was joined from keeps its own
	s.Sketch.Merge(next.Sketch)
	SecondMetrics.Merge(s, next)
}

// joined returns the metrics of two spans of time; nil if those of either are unknown. It changes neither.
func joined[T any](a, b *T, add func(sum, other *T)) *T {
	if a == nil || b == nil {
		return nil
	}
	sum := *a
	add(&sum, b)
	return &sum
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
