package result

// Level holds the figures of a load while it was held at one of its levels.
type Level struct {
	// TargetConnections or TargetRatePerSecond is the level, over all clients; the other is 0.
	TargetConnections   int64 `json:"targetConnections,omitempty"`
	TargetRatePerSecond int64 `json:"targetRatePerSecond,omitempty"`
	// Start and End are the bounds of the level in whole seconds from the start time.
	Start int64 `json:"startSeconds"`
	End   int64 `json:"endSeconds"`
	// Measure is of the requests that completed between them. It has the latencies of
	// LevelPhases: the total and, at a rate, delay and service.
	Measure
	// Summaries replace Latencies if those were dropped to keep the stored result
	// small; all nil otherwise.
	Summaries Summaries `json:"summaries,omitzero"`
	// ClientCPU is the CPU time of the client that used most, ServerCPU that of the
	// server, in microseconds; -1 if it is unknown.
	ClientCPU int64 `json:"clientCPUMicroseconds"`
	ServerCPU int64 `json:"serverCPUMicroseconds"`
}

// RequestsPerSecond returns the successful requests divided by the level's length.
func (l *Level) RequestsPerSecond() float64 {
	return perSecond(l.Succeeded(), (l.End-l.Start)*1_000_000)
}

// CPUPercent returns ClientCPU or ServerCPU in percent of a limit in thousandths of a CPU; -1 if it is
// unknown.
func (l *Level) CPUPercent(microseconds, limitMillis int64) float64 {
	if microseconds < 0 || limitMillis <= 0 || l.End <= l.Start {
		return -1
	}
	return percentOfLimit(100*float64(microseconds)/float64((l.End-l.Start)*1_000_000), limitMillis)
}

// LevelTotals are one client's figures of one level. The measure has the latencies of LevelPhases.
type LevelTotals struct {
	Measure
	// CPU is the client's CPU time in microseconds.
	CPU int64 `json:"cpuMicroseconds"`
}

// LevelPhases are the phases with latencies of a level.
var LevelPhases = [...]Phase{Total, Delay, Service}

// AddLevels merges the clients' figures of the given levels, of which target and
// bounds are set, and removes them from the clients.
func (r *Result) AddLevels(levels []Level) {
	r.Levels = levels
	for l := range r.Levels {
		level := &r.Levels[l]
		for i := range r.Clients {
			if c := &r.Clients[i]; l < len(c.Levels) {
				level.Merge(&c.Levels[l].Measure)
				level.ClientCPU = max(level.ClientCPU, c.Levels[l].CPU)
			}
		}
	}
	for i := range r.Clients {
		r.Clients[i].Levels = nil
	}
}
