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
		progress := p.Progress
		progress.RequestsPerSecond = p.rate(r.passed(stage))
		o.Progress[stage] = progress
	}
	for i, p := range r.clients {
		o.Clients[i] = p.state()
	}
	if r.agent != nil {
		p := r.agent.state()
		o.Agent = &session.AgentState{
			Pod: p.Pod, PodUID: p.PodUID, Node: p.Node, Connected: p.Connected, DisconnectedSince: p.DisconnectedSince,
			ProbeResult: p.ProbeResult, ProbeFailure: p.ProbeFailure, Failure: p.Failure, Usage: r.usage.state(),
		}
		for _, name := range slices.Sorted(maps.Keys(r.backends)) {
			o.Agent.Backends = append(o.Agent.Backends, session.BackendState{Name: name, Usage: r.backends[name].state()})
		}
	}
	return o
}

// state returns what the pod has reported.
func (p *participant) state() session.ClientState {
	state := p.ClientState
	state.Connected, state.Starts = p.stream != nil, maps.Clone(p.Starts)
	return state
}
