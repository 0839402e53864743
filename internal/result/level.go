package result

import "cmp"

// Level holds the metrics of a load while it was held at one of its levels.
type Level struct {
	// TargetConnections or TargetRatePerSecond is the level, over all clients; the other is 0.
	TargetConnections   int64 `json:"targetConnections,omitempty"`
	TargetRatePerSecond int64 `json:"targetRatePerSecond,omitempty"`
	// Start and End are the bounds of the level in whole seconds from the start time.
	Start int64 `json:"startSeconds"`
	End   int64 `json:"endSeconds"`
	// Measure is of the requests that completed between them, and of those that failed later but began between them. It has the latencies of
	// LevelPhases: the total; at a rate, delay and service; of pages, the page.
	Measure
	// Summaries replace Latencies if those were dropped to keep the stored result
	// small; all nil otherwise.
	Summaries Summaries `json:"summaries,omitzero"`
	// ClientCPU is the CPU time of the client that used most, ServerCPU that of the
	// server, in microseconds; -1 if it is unknown.
	ClientCPU int64 `json:"clientCPUMicroseconds"`
	ServerCPU int64 `json:"serverCPUMicroseconds"`
	// TargetUsage has the usage of the target's containers, and the metrics from around them.
	TargetUsage
	// TrueSeconds is the true length in seconds of a point of the series; 0 for the time between the bounds.
	TrueSeconds float64 `json:"-"`
}

// TargetUsage has the usage of the target's containers in a span of time, and the metrics from around them.
type TargetUsage struct {
	// Server and Backends are all metrics of the target's containers, the latter by name. One
	// of unknown usage is absent.
	Server   *Used            `json:"server,omitempty"`
	Backends map[string]*Used `json:"backends,omitempty"`
	// Node shows what happened around them; nil if that is unknown.
	Node *NodeUsage `json:"node,omitempty"`
}

// Of returns the usage of a container of the target, or nil if that is unknown.
func (u *TargetUsage) Of(container string) *Used {
	if container == ServerContainer {
		return u.Server
	}
	return u.Backends[container]
}

// CPUOf returns the CPU time of a container of the target in microseconds, or Unknown.
func (u *TargetUsage) CPUOf(container string) int64 {
	used := u.Of(container)
	if used == nil {
		return Unknown
	}
	return (*ServerUsage)(used).CPU()
}

// Resident returns the sum of the largest resident sets of the target's containers in bytes, or Unknown
// if that of one of them is.
func (u *TargetUsage) Resident(containers []Container) int64 {
	sum := int64(0)
	for _, c := range containers {
		used := u.Of(c.Name)
		if used == nil || used.Resident < 0 {
			return Unknown
		}
		sum += used.Resident
	}
	return sum
}

// SetTarget sets what the target used.
func (l *Level) SetTarget(u *TargetUsage) {
	l.TargetUsage, l.ServerCPU = *u, u.CPUOf(ServerContainer)
}

// Step holds the metrics of a load while it changed from one level to another. The level's load is that
// at the end of the step.
type Step struct {
	// From is the load at the start of the step, in the unit of the level.
	From int64 `json:"from"`
	Level
}

// Load returns the connections or the rate of the level.
func (l *Level) Load() int64 { return l.TargetConnections + l.TargetRatePerSecond }

// PodCPUPercent returns the CPU time of all containers of the target in percent of their PodCPULimit, or
// Unknown.
func (l *Level) PodCPUPercent(containers []Container, shared int64) float64 {
	used := int64(0)
	for _, c := range containers {
		of := l.CPUOf(c.Name)
		if of == Unknown {
			return Unknown
		}
		used += of
	}
	return l.CPUPercent(used, PodCPULimit(containers, shared))
}

// BytesPerSecond returns the bytes of responses divided by the level's length.
func (l *Level) BytesPerSecond() float64 {
	return perSecond(l.BytesReceived, (l.End-l.Start)*1_000_000)
}

// RequestsPerSecond returns the successful requests divided by the level's length.
func (l *Level) RequestsPerSecond() float64 {
	return perSecond(l.Succeeded(), (l.End-l.Start)*1_000_000)
}

// CPUPercent returns ClientCPU or ServerCPU in percent of a limit in thousandths of a CPU; -1 if it is
// unknown.
func (l *Level) CPUPercent(microseconds, limitMillis int64) float64 {
	seconds := cmp.Or(l.TrueSeconds, float64(l.End-l.Start))
	if microseconds < 0 || limitMillis <= 0 || seconds <= 0 {
		return -1
	}
	return percentOfLimit(100*float64(microseconds)/(seconds*1_000_000), limitMillis)
}

// LevelTotals are one client's metrics of one level, or step. The measure has the latencies of LevelPhases.
type LevelTotals struct {
	Measure
	// CPU is the client's CPU time in microseconds.
	CPU int64 `json:"cpuMicroseconds"`
	// Seconds is the number of whole seconds that the metrics are of: fewer than planned if the load
	// was ended before.
	Seconds int64 `json:"seconds"`
}

// LevelPhases are the phases with latencies of a level.
var LevelPhases = [...]Phase{Total, Delay, Service, Page}
