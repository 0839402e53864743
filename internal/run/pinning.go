package run

import (
	"fmt"
	"slices"

	"k8s.io/utils/cpuset"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
)

// pinningRemedy is what to do about CPUs that are shared.
const pinningRemedy = `Set the kubelet's cpuManagerPolicy to static, request whole CPUs, or set cpuPinning to Preferred.`

// targetExclusivity returns whether the server has CPUs of its own. The agent runs on the CPUs that
// the node's containers share, since it requests a fraction of one. So CPUs that the agent may use
// aren't exclusive; others are, if they are as many as were requested.
func targetExclusivity(run *v1alpha1.BenchmarkRun, usage *result.ServerUsage) v1alpha1.CPUExclusivity {
	return exclusivity(usage.CPUs, usage.AgentCPUs, manifest.CPUMillis(run.Spec.Target.Resources))
}

// cpusKnown reports whether the agent has sent the CPUs of each server.
func cpusKnown(run *v1alpha1.BenchmarkRun, agent *session.AgentState) bool {
	if agent == nil || agent.Latest == nil {
		return false
	}
	for i := range run.Spec.Target.Backends {
		name := run.Spec.Target.Backends[i].Name
		if !slices.ContainsFunc(agent.Backends, func(b session.BackendState) bool { return b.Name == name }) {
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

// unpinned returns the failure for a container that must have CPUs of its own and doesn't, or nil.
// A client on the target's node is judged like the target. Of a client on another node only the
// number of CPUs is known.
func unpinned(run *v1alpha1.BenchmarkRun, o *Observed) *Failure {
	var usage *result.ServerUsage
	if o.Sessions.Agent != nil {
		usage = o.Sessions.Agent.Latest
	}
	if o.Target != nil && run.Spec.Target.Resources.CPUPinning == v1alpha1.CPUPinningRequired {
		if e := targetExclusivity(run, usage); e != v1alpha1.CPUsExclusive {
			return failuref(v1alpha1.ReasonCPUNotExclusive,
				"spec.target.resources.cpuPinning is Required, but the server runs on CPUs %q, which are %s, on node %s. %s",
				usage.CPUs, e, o.Target.Spec.NodeName, pinningRemedy)
		}
	}
	if f := unpinnedBackend(run, o); f != nil {
		return f
	}
	if run.Spec.Clients.Resources.CPUPinning != v1alpha1.CPUPinningRequired {
		return nil
	}
	limit := manifest.CPUMillis(run.Spec.Clients.Resources)
	for i := range loadplan.Replicas(&run.Spec) {
		c := o.Sessions.Clients[i]
		shared := fmt.Sprint(maxCPU) // no CPU that exists
		if o.Target != nil && c.Node == o.Target.Spec.NodeName {
			shared = usage.AgentCPUs
		}
		if e := exclusivity(c.CPUs, shared, limit); e != v1alpha1.CPUsExclusive {
			return failuref(v1alpha1.ReasonCPUNotExclusive,
				"spec.clients.resources.cpuPinning is Required, but client %d runs on CPUs %q, which are %s, on node %s. %s",
				i, c.CPUs, e, c.Node, pinningRemedy)
		}
	}
	return nil
}

func unpinnedBackend(run *v1alpha1.BenchmarkRun, o *Observed) *Failure {
	for i := range run.Spec.Target.Backends {
		b := &run.Spec.Target.Backends[i]
		if b.Resources.CPUPinning != v1alpha1.CPUPinningRequired {
			continue
		}
		cpus, e := backendCPUs(b, o.Sessions.Agent)
		if e != v1alpha1.CPUsExclusive {
			return failuref(v1alpha1.ReasonCPUNotExclusive,
				"spec.target.backends[%s].resources.cpuPinning is Required, but the backend runs on CPUs %q, which are %s. %s", b.Name, cpus, e, pinningRemedy)
		}
	}
	return nil
}

// backendCPUs returns the CPUs of a backend as the agent sampled them, and whether they are its
// own.
func backendCPUs(b *v1alpha1.Backend, agent *session.AgentState) (cpus string, e v1alpha1.CPUExclusivity) {
	if agent != nil && agent.Latest != nil {
		for _, sampled := range agent.Backends {
			if sampled.Name == b.Name {
				cpus = sampled.Latest.CPUs
				return cpus, exclusivity(cpus, agent.Latest.AgentCPUs, manifest.CPUMillis(b.Resources))
			}
		}
	}
	return "", v1alpha1.CPUsUnknown
}

// maxCPU is above the number of any CPU that Linux knows.
const maxCPU = 1 << 20
