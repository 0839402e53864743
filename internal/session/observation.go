package session

import (
	"time"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// Observation is the state that the pods of a run have reported.
type Observation struct {
	// Clients are the clients that were ever connected, by index.
	Clients map[int]ClientState
	// Agent is nil when it was never connected.
	Agent *AgentState
	// Starts are the start times of stages, as set by a controller or reported by a
	// pod that has them from an earlier manager: microseconds since the Unix epoch.
	Starts map[sessionpb.Stage]int64
	// Since is the time since which the run's pods could connect to this manager.
	Since time.Time
	// Now is the time of the observation by the sessions' clock, which is monotonic: microseconds
	// since the Unix epoch, as the wall clock said when the manager was started.
	Now int64
	// ClockStep is by how much the wall clock was set since Since, or the host slept. It is 0 if
	// neither happened.
	ClockStep time.Duration
	// Progress is the progress of each stage.
	Progress map[sessionpb.Stage]Progress
}

// minClockStep is more than two readings of a clock differ by.
const minClockStep = time.Second

// ClockStep returns by how much more the wall clock has advanced between two times of a process than
// the monotonic clock, which stands still while the host sleeps. It returns 0 for less than a second.
func ClockStep(from, to time.Time) time.Duration {
	return clockStep(to.Round(0).Sub(from.Round(0)), to.Sub(from))
}

// clockStep compares how much the two clocks have advanced.
func clockStep(wall, monotonic time.Duration) time.Duration {
	if step := wall - monotonic; step.Abs() >= minClockStep {
		return step
	}
	return 0
}

// PodState is the state that a client or the target's agent has reported.
type PodState struct {
	Pod, PodUID, Node string
	Connected         bool
	// DisconnectedSince is the end of the last session, or the begin of the first one.
	DisconnectedSince time.Time
	// ProbeResult is the result of the pod's first probe that succeeded, or nil. A client probes only a target without an
	// agent. ProbeFailure is why its last probe failed, or empty.
	ProbeResult  *ProbeResult
	ProbeFailure string
	// Waiting is why the pod must wait with what it has to send or to receive, or empty.
	Waiting string
	// Failure is the error that the pod reported, or for which it was rejected. It is empty if there was none.
	// FailureKind is its kind.
	Failure     string
	FailureKind FailureKind
}

// ClientState is the state that a client has reported.
type ClientState struct {
	PodState
	// Behind reports whether messages that the client had when it connected haven't arrived yet.
	Behind bool
	Ready  bool
	// CPUs lists the CPUs that the client may run on.
	CPUs string
	// Starts are the start times that the client has, or was sent.
	Starts      map[sessionpb.Stage]int64
	WarmupEnded bool
	// Totals are the client's final metrics, or nil until they have arrived.
	Totals *result.Totals
	// TotalsSince is the time at which they arrived.
	TotalsSince time.Time
	// ClockError bounds the error of the client's clock, in microseconds.
	ClockError int64
	// Script is the progress of the client's k6 script.
	Script ScriptState
	// Metrics are the metrics of the client's k6 script so far, or nil. Summary is what its handleSummary() returned,
	// or nil if the client has not run it.
	Metrics *ScriptMetrics
	Summary *result.ScriptSummary
}

// AgentState is the state that the target's agent has reported.
type AgentState struct {
	PodState
	Usage
	// Backends are the containers behind the server, by name.
	Backends []BackendState
	// NodeUsage shows what happened around the target since the start of the measurement; nil before
	// it, or if that is unknown. Governor is the frequency governor of the target's CPUs.
	NodeUsage *result.NodeUsage
	Governor  string
	Machine   result.Machine
	// Waiting holds the target's usage while other variants were loaded, or nil.
	Waiting *result.WaitingUsage
}

// BackendState is the usage of a container behind the server.
type BackendState struct {
	Name string
	Usage
}

// Usage is the usage of a container of the target's pod.
type Usage struct {
	// Begin is the usage sample that is nearest to the start of the measurement, or
	// nil before that. Latest is the last one, or nil.
	Begin, Latest *result.ServerUsage
	// PeakCPUPercent is the highest CPU usage in any second of the measurement, in
	// percent of one CPU. PeakResident is the peak RSS, in bytes.
	PeakCPUPercent float64
	PeakResident   int64
}

func (u *Usage) measured() *result.Server {
	if u.Begin == nil || u.Latest == nil {
		return nil
	}
	return &result.Server{Begin: *u.Begin, End: *u.Latest, PeakCPUPercent: u.PeakCPUPercent, PeakResident: u.PeakResident}
}

// Measured returns what the server, and the containers behind it, used during the
// measurement. It omits those without usage samples. It may be called with nil.
func (a *AgentState) Measured() (server *result.Server, backends []result.Backend) {
	if a == nil {
		return nil, nil
	}
	for i := range a.Backends {
		if measured := a.Backends[i].measured(); measured != nil {
			backends = append(backends, result.Backend{Name: a.Backends[i].Name, Server: *measured})
		}
	}
	return a.measured(), backends
}

// Progress is the progress of a stage, over all clients.
type Progress struct {
	// Requests is the number of completed requests, Errors that of failed ones.
	Requests, Errors int64
	// Dropped is the number of requests of open load that were dropped.
	Dropped int64
	// RequestsPerSecond is the number of completed requests in the last whole second
	// that every client has sent.
	RequestsPerSecond int64
}
