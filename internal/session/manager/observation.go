package manager

import (
	"maps"
	"time"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

func (r *run) observe() session.Observation {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := session.Observation{
		Clients:   make(map[int]session.ClientState, len(r.clients)),
		Starts:    maps.Clone(r.starts),
		Since:     r.created,
		ClockStep: session.ClockStep(r.created, time.Now()),
		Progress:  make(map[sessionpb.Stage]session.Progress, len(r.progress)),
	}
	awaited := func(p *participant) bool { return p.stream != nil && p.Totals == nil }
	for stage, p := range r.progress {
		progress := p.Progress
		progress.RequestsPerSecond = p.rate(r.unsent(stage, awaited))
		o.Progress[stage] = progress
	}
	for i, p := range r.clients {
		o.Clients[i] = p.state()
	}
	if r.agent != nil {
		o.Agent = &session.AgentState{PodState: r.agent.state().PodState}
		r.target.SetState(o.Agent)
	}
	return o
}

// state returns what the pod has reported.
func (p *participant) state() session.ClientState {
	state := p.ClientState
	state.Connected, state.Starts = p.stream != nil, maps.Clone(p.Starts)
	state.Behind = p.next <= p.had
	return state
}

// recentSeconds is the number of seconds that are kept one by one for the rate.
const recentSeconds = 64

// progress is the progress of a stage, over all clients.
type progress struct {
	session.Progress
	recent map[int64]int64 // requests by second
	newest int64
}

// add adds the metrics of one client in one second or several.
func (p *progress) add(second *result.ClientSecond, seconds int64) {
	p.Requests = result.Plus(p.Requests, second.Requests)
	p.Errors = result.Plus(p.Errors, second.Errors.Total())
	p.Dropped = result.Plus(p.Dropped, second.Dropped)
	last := second.Second + seconds - 1
	if last > p.newest {
		p.newest = last
		for s := range p.recent {
			if s <= p.newest-recentSeconds {
				delete(p.recent, s)
			}
		}
	}
	for s := max(second.Second, p.newest-recentSeconds+1); s <= last; s++ {
		p.recent[s] = result.Plus(p.recent[s], second.Requests/seconds)
	}
}

// rate returns the requests of the newest second before passed, or 0 if no such second is kept.
func (p *progress) rate(passed int64) int64 {
	for s := min(p.newest, passed-1); s > p.newest-recentSeconds && s >= 0; s-- {
		if n, ok := p.recent[s]; ok {
			return n
		}
	}
	return 0
}
