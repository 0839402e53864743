package series

import (
	"fmt"
	"maps"
	"slices"
	"unsafe"

	"github.com/assay-dev/assay/internal/profile"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
)

// Target holds what the target used, by the agent's usage samples. Times are microseconds since the Unix epoch.
type Target struct {
	server   *usage
	backends map[string]*usage // of the containers behind it, by name
	node     samples[result.NodeUsage]
	governor string
	machine  result.Machine
	// alternation is nil unless the load alternates with others. planned reports whether that is known; until then, early has all
	// samples, since an agent may be here before a controller.
	alternation *alternation
	planned     bool
	early       []*result.ServerSample
	at          int64 // of the latest sample
}

// NewTarget returns a target without samples.
func NewTarget() *Target {
	return &Target{server: newUsage(0), backends: map[string]*usage{}, node: samples[result.NodeUsage]{table: result.NodeMetrics}}
}

// SetSlices sets the slices of the load, which are nil for one that doesn't alternate. The first call stands.
func (t *Target) SetSlices(slices *profile.Slices) {
	if t.planned {
		return
	}
	early, start := t.early, t.server.start
	t.planned, t.early = true, nil
	if slices == nil {
		return
	}
	*t = *NewTarget()
	t.planned, t.alternation = true, newAlternation(slices, start)
	if start != 0 {
		t.SetStart(start)
	}
	for _, sample := range early {
		_, _, _ = t.Add(sample) // which has accepted it before
	}
}

// Add adds a usage sample of all containers. It reports whether one of them appeared for the first time, and whether the
// sample isn't newer than the last. It bounds the containers of all samples together. Of a load that alternates, the sample
// becomes one in virtual time, without what the target used while others were loaded.
func (t *Target) Add(sample *result.ServerSample) (appeared, stale bool, err error) {
	stale = t.at != 0 && sample.Server.At <= t.at
	t.at = max(t.at, sample.Server.At)
	if !t.planned && len(t.early) < maxPoints {
		t.early = append(t.early, sample)
	}
	if t.alternation != nil && !stale {
		sample = t.alternation.takeOut(sample)
	}
	appeared = t.server.Latest == nil
	for i := range sample.Backends {
		if name := sample.Backends[i].Name; t.backends[name] == nil {
			if len(t.backends) >= session.MaxBackends {
				return false, false, fmt.Errorf("samples of more than %d containers behind the server", session.MaxBackends)
			}
			t.backends[name] = newUsage(t.server.start)
			appeared = true
		}
	}
	t.server.add(&sample.Server)
	if sample.Node != nil {
		t.node.add(sample.Server.At, *sample.Node)
		t.governor, t.machine = sample.Governor, sample.Machine
	}
	for i := range sample.Backends {
		t.backends[sample.Backends[i].Name].add(&sample.Backends[i].ServerUsage)
	}
	return appeared, stale, nil
}

// SetStart sets the beginning of the measurement.
func (t *Target) SetStart(at int64) {
	if t.alternation != nil {
		t.alternation.start = at
	}
	t.server.setStart(at)
	t.node.setStart(at)
	for _, backend := range t.backends {
		backend.setStart(at)
	}
}

// Set sets the target's metrics of a second, which is virtual if the load alternates, and lies between two times.
func (t *Target) Set(s *result.Second, from, to int64) {
	server, known := t.server.samples.between(from, to)
	s.SetServer(&server, known)
	for name, backend := range t.backends {
		used, known := backend.samples.between(from, to)
		s.SetBackend(name, &used, known)
	}
	if node, known := t.node.between(from, to); known {
		s.Node = &node
	}
}

// SetState sets what an agent's samples say of the measurement so far.
func (t *Target) SetState(agent *session.AgentState) {
	agent.Usage, agent.Governor, agent.Machine = t.server.state(), t.governor, t.machine
	if t.alternation != nil {
		agent.Waiting = t.alternation.waiting()
	}
	if node, ok := t.node.total(); ok {
		agent.NodeUsage = &node
	}
	for _, name := range slices.Sorted(maps.Keys(t.backends)) {
		agent.Backends = append(agent.Backends, session.BackendState{Name: name, Usage: t.backends[name].state()})
	}
}

// Bytes returns about how much memory the samples take.
func (t *Target) Bytes() int {
	bytes := t.server.samples.bytes() + t.node.bytes() + len(t.early)*int(unsafe.Sizeof(result.ServerSample{})+unsafe.Sizeof(result.NodeUsage{}))
	for _, backend := range t.backends {
		bytes += backend.samples.bytes()
	}
	return bytes
}
