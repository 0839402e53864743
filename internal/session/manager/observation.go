package manager

import (
	"maps"
	"slices"
	"time"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// Observation is what the pods of a run said.
type Observation struct {
	// Clients are the clients that were ever connected, by index.
	Clients map[int]ClientState
	// Agent is nil when it was never connected.
	Agent *AgentState
	// Starts are the start instants of stages, as they were given or as a pod has
	// them from an earlier manager: microseconds since the Unix epoch.
	Starts map[sessionpb.Stage]int64
	// Since is since when this manager could have heard of the run's pods.
	Since time.Time
	// Progress is how far stages are.
	Progress map[sessionpb.Stage]Progress
}

// ClientState is what a client said.
type ClientState struct {
	Pod, PodUID, Node string
	Connected         bool
	// DisconnectedSince is when the session broke, when it isn't connected.
	DisconnectedSince time.Time
	Ready             bool
	// CPUs lists the CPUs that the client may run on.
	CPUs string
	// Starts are the start instants that it has or was sent.
	Starts      map[sessionpb.Stage]int64
	WarmupEnded bool
	// Answered is what the target showed when it first answered with success, where
	// the client asks it because there is no agent; nil until then. Silent says
	// what was seen instead.
	ProbeResult  *session.ProbeResult
	ProbeFailure string
	// Totals are its final figures; nil until it sent them.
	Totals *result.Totals
	// ClockError bounds the error of its clock, in microseconds.
	ClockError int64
	// Script is how far the client is with its k6 script.
	Script session.ScriptState
	// Failure says what went wrong; empty for nothing. FailureKind is its kind.
	Failure     string
	FailureKind session.FailureKind
}

// AgentState is what the target's agent said.
type AgentState struct {
	Pod, PodUID, Node string
	Connected         bool
	DisconnectedSince time.Time
	// Answered is what the target showed when it first answered with success; nil
	// until then.
	ProbeResult *session.ProbeResult
	// Silent says what was seen instead.
	ProbeFailure string
	// Begin is the reading nearest to the start of the measurement; nil until that
	// is known. Latest is the last reading; nil until there is one.
	Begin, Latest *result.ServerUsage
	// PeakCPUPercent is the largest CPU time of any second of the measurement, in
	// percent of one CPU; PeakResident the largest resident set, in bytes.
	PeakCPUPercent float64
	PeakResident   int64
	// Backends are the containers behind the server, by name.
	Backends []BackendState
	Failure  string
}

// BackendState is what the agent read of a container behind the server. The
// fields are as those of AgentState, Latest is never nil.
type BackendState struct {
	Name           string
	Begin, Latest  *result.ServerUsage
	PeakCPUPercent float64
	PeakResident   int64
}

// Measured is what the server, and the containers behind it, used during the
// measurement; without those of which there are no readings. It may be called
// with nil.
func (a *AgentState) Measured() (*result.Server, []result.Backend) {
	if a == nil {
		return nil, nil
	}
	server := func(begin, latest *result.ServerUsage, cpuPercent float64, resident int64) *result.Server {
		if begin == nil || latest == nil {
			return nil
		}
		return &result.Server{Begin: *begin, End: *latest, PeakCPUPercent: cpuPercent, PeakResident: resident}
	}
	var backends []result.Backend
	for _, b := range a.Backends {
		if measured := server(b.Begin, b.Latest, b.PeakCPUPercent, b.PeakResident); measured != nil {
			backends = append(backends, result.Backend{Name: b.Name, Server: *measured})
		}
	}
	return server(a.Begin, a.Latest, a.PeakCPUPercent, a.PeakResident), backends
}

// Progress is how far a stage is, over all clients.
type Progress struct {
	// Requests and Errors are the requests that ended, and those that failed.
	Requests, Errors int64
	// Dropped are the requests of open load that were given up.
	Dropped int64
	// RequestsPerSecond is the requests that ended in the last whole second that
	// every client has sent.
	RequestsPerSecond int64
}

func (r *run) observe() Observation {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := Observation{
		Clients:  make(map[int]ClientState, len(r.clients)),
		Starts:   maps.Clone(r.starts),
		Since:    r.made,
		Progress: make(map[sessionpb.Stage]Progress, len(r.progress)),
	}
	for stage, p := range r.progress {
		o.Progress[stage] = Progress{Requests: p.requests, Errors: p.errors, Dropped: p.dropped, RequestsPerSecond: p.rate(r.passed(stage))}
	}
	for i, p := range r.clients {
		o.Clients[i] = ClientState{
			Pod: p.identity.Pod, PodUID: p.identity.PodUID, Node: p.identity.Node,
			Connected: p.stream != nil, DisconnectedSince: p.disconnectedSince,
			Ready: p.ready, CPUs: p.cpus, Starts: maps.Clone(p.starts), WarmupEnded: p.warmupEnded,
			ProbeResult: p.answered, ProbeFailure: p.silent,
			Totals: p.totals, ClockError: p.clockError, Failure: p.failure,
			Script: p.script, FailureKind: p.failureKind,
		}
	}
	if p := r.agent; p != nil {
		o.Agent = &AgentState{
			Pod: p.identity.Pod, PodUID: p.identity.PodUID, Node: p.identity.Node,
			Connected: p.stream != nil, DisconnectedSince: p.disconnectedSince,
			ProbeResult: p.answered, ProbeFailure: p.silent, Failure: p.failure,
			Begin: r.usage.begin, Latest: r.usage.latest,
			PeakCPUPercent: r.usage.peak(), PeakResident: r.usage.rss,
		}
		for _, name := range slices.Sorted(maps.Keys(r.backends)) {
			u := r.backends[name]
			o.Agent.Backends = append(o.Agent.Backends, BackendState{
				Name: name, Begin: u.begin, Latest: u.latest, PeakCPUPercent: u.peak(), PeakResident: u.rss,
			})
		}
	}
	return o
}
