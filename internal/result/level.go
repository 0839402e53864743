package result

// Level is what was measured while a load was held at one of its levels.
type Level struct {
	// AskedConnections or AskedPerSecond is what was held, over all clients; the other
	// is 0.
	AskedConnections int64 `json:"askedConnections,omitempty"`
	AskedPerSecond   int64 `json:"askedPerSecond,omitempty"`
	// Start and End are the level's bounds, in whole seconds from the start
	// instant.
	Start int64 `json:"startSeconds"`
	End   int64 `json:"endSeconds"`
	// Measure is of the requests that ended between them. Of its latencies there
	// are the total and, at a rate, delay and service.
	Measure
	// Summaries stand for Latencies where those were dropped to keep the stored
	// result small; all nil otherwise.
	Summaries Summaries `json:"summaries,omitzero"`
	// ClientCPU is the CPU time of the client that used most, ServerCPU that of the
	// server, in microseconds; -1 where it isn't known.
	ClientCPU int64 `json:"clientCPUMicroseconds"`
	ServerCPU int64 `json:"serverCPUMicroseconds"`
}

// RequestsPerSecond is the requests that succeeded, by the level's length.
func (l *Level) RequestsPerSecond() float64 {
	return perSecond(l.Succeeded(), (l.End-l.Start)*1_000_000)
}

// ServerCPUPercent is the server's CPU time in percent of a limit in thousandths
// of a CPU; -1 where it isn't known.
func (l *Level) ServerCPUPercent(limitMillis int64) float64 {
	if l.ServerCPU < 0 || limitMillis <= 0 || l.End <= l.Start {
		return -1
	}
	return 100 * float64(l.ServerCPU) / float64((l.End-l.Start)*1_000_000) * 1000 / float64(limitMillis)
}

// LevelTotals are one client's figures of one level, of which the measure has
// the latencies that Level says.
type LevelTotals struct {
	Measure
	// CPU is the client's CPU time in microseconds.
	CPU int64 `json:"cpuMicroseconds"`
}

// LevelPhases are the phases that a level has.
var LevelPhases = [...]Phase{Total, Delay, Service}

// AddLevels merges the clients' figures of the levels, which are given with
// what was asked and their bounds, and takes them from the clients. A level that
// some client has no figures of has none.
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
