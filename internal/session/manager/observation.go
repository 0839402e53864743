package manager

import (
	"maps"
	"slices"

	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

func (r *run) observe() session.Observation {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := session.Observation{
		Clients:  make(map[int]session.ClientState, len(r.clients)),
		Starts:   maps.Clone(r.starts),
		Since:    r.created,
		Progress: make(map[sessionpb.Stage]session.Progress, len(r.progress)),
	}
	for stage, p := range r.progress {
		o.Progress[stage] = session.Progress{Requests: p.requests, Errors: p.errors, Dropped: p.dropped, RequestsPerSecond: p.rate(r.passed(stage))}
	}
	for i, p := range r.clients {
		o.Clients[i] = session.ClientState{
			Pod: p.identity.Pod, PodUID: p.identity.PodUID, Node: p.identity.Node,
			Connected: p.stream != nil, DisconnectedSince: p.disconnectedSince,
			Ready: p.ready, CPUs: p.cpus, Starts: maps.Clone(p.starts), WarmupEnded: p.warmupEnded,
			ProbeResult: p.probeResult, ProbeFailure: p.probeFailure,
			Totals: p.totals, ClockError: p.clockError, Failure: p.failure,
			Script: p.script, FailureKind: p.failureKind,
		}
	}
	if p := r.agent; p != nil {
		o.Agent = &session.AgentState{
			Pod: p.identity.Pod, PodUID: p.identity.PodUID, Node: p.identity.Node,
			Connected: p.stream != nil, DisconnectedSince: p.disconnectedSince,
			ProbeResult: p.probeResult, ProbeFailure: p.probeFailure, Failure: p.failure, Usage: r.usage.state(),
		}
		for _, name := range slices.Sorted(maps.Keys(r.backends)) {
			o.Agent.Backends = append(o.Agent.Backends, session.BackendState{Name: name, Usage: r.backends[name].state()})
		}
	}
	return o
}
