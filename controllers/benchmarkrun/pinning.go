package benchmarkrun

import (
	"fmt"
	"slices"

	"k8s.io/utils/cpuset"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session/manager"
)

// targetExclusivity says whether the CPUs of the server are its own. The agent
// runs on the CPUs that the node's containers share, since it asks for a
// fraction of one: CPUs that the agent may use aren't exclusive, and others,
// as many as were asked for, are.
func targetExclusivity(run *v1alpha1.BenchmarkRun, usage *result.ServerUsage) v1alpha1.CPUExclusivity {
	return exclusivity(usage.CPUs, usage.AgentCPUs, manifest.CPUMillis(run.Spec.Target.Resources))
}

// cpusKnown is whether the agent has read what CPUs each server runs on.
func cpusKnown(run *v1alpha1.BenchmarkRun, agent *manager.AgentState) bool {
	if agent == nil || agent.Latest == nil {
		return false
	}
	for i := range run.Spec.Target.Backends {
		name := run.Spec.Target.Backends[i].Name
		if !slices.ContainsFunc(agent.Backends, func(b manager.BackendState) bool { return b.Name == name }) {
			return false
		}
	}
	return true
}

func exclusivity(own, shared string, limitMillis int64) v1alpha1.CPUExclusivity {
	cpus, err := cpuset.Parse(own)
	others, otherErr := cpuset.Parse(shared)
	switch {
	case err != nil || otherErr != nil || cpus.IsEmpty() || others.IsEmpty():
		return v1alpha1.CPUsUnknown
	case int64(cpus.Size())*1000 == limitMillis && cpus.Intersection(others).IsEmpty():
		return v1alpha1.CPUsExclusive
	}
	return v1alpha1.CPUsShared
}

// unpinned says which container has no CPUs of its own although they are
// required. A client on the target's node is judged as the target is; of one
// on another node it is only known whether it has as many CPUs as it asked for.
func (p *planner) unpinned() *failure {
	target := p.observed.target
	var usage *result.ServerUsage
	if agent := p.observed.sessions.Agent; agent != nil {
		usage = agent.Latest
	}
	if target != nil && p.run.Spec.Target.Resources.CPUPinning == v1alpha1.CPUPinningRequired {
		if e := targetExclusivity(p.run, usage); e != v1alpha1.CPUsExclusive {
			return failuref(v1alpha1.ReasonCPUNotExclusive,
				"spec.target.resources.cpuPinning is Required, but the server runs on CPUs %q, which are %s, on node %s: %s",
				usage.CPUs, e, target.Spec.NodeName, mend)
		}
	}
	if f := p.unpinnedBackend(usage); f != nil {
		return f
	}
	if p.run.Spec.Clients.Resources.CPUPinning != v1alpha1.CPUPinningRequired {
		return nil
	}
	limit := manifest.CPUMillis(p.run.Spec.Clients.Resources)
	for i := range loadplan.Replicas(&p.run.Spec) {
		c := p.observed.sessions.Clients[i]
		shared := fmt.Sprint(maxCPU) // no CPU that exists
		if target != nil && c.Node == target.Spec.NodeName {
			shared = usage.AgentCPUs
		}
		if e := exclusivity(c.CPUs, shared, limit); e != v1alpha1.CPUsExclusive {
			return failuref(v1alpha1.ReasonCPUNotExclusive,
				"spec.clients.resources.cpuPinning is Required, but client %d runs on CPUs %q, which are %s, on node %s: %s",
				i, c.CPUs, e, c.Node, mend)
		}
	}
	return nil
}

// unpinnedBackend says which backend has no CPUs of its own although they are
// required.
func (p *planner) unpinnedBackend(server *result.ServerUsage) *failure {
	for i := range p.run.Spec.Target.Backends {
		b := &p.run.Spec.Target.Backends[i]
		if b.Resources.CPUPinning != v1alpha1.CPUPinningRequired {
			continue
		}
		cpus := ""
		for _, read := range p.observed.sessions.Agent.Backends {
			if read.Name == b.Name {
				cpus = read.Latest.CPUs
			}
		}
		if e := exclusivity(cpus, server.AgentCPUs, manifest.CPUMillis(b.Resources)); e != v1alpha1.CPUsExclusive {
			return failuref(v1alpha1.ReasonCPUNotExclusive,
				"spec.target.backends[%s].resources.cpuPinning is Required, but the backend runs on CPUs %q, which are %s: %s", b.Name, cpus, e, mend)
		}
	}
	return nil
}

// mend is what to do about CPUs that are shared.
const mend = `set the kubelet's cpuManagerPolicy to static, ask for whole CPUs, or set cpuPinning to IfPossible`

// maxCPU is above the number of any CPU that Linux knows.
const maxCPU = 1 << 20
