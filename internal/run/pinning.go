package run

import (
	"fmt"
	"slices"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
)

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

// exclusivity returns whether a container of the target has CPUs of its own. shared are the CPUs
// that the agent may use. It runs on those that the node's containers share, since it requests a
// fraction of one. Others are exclusive, if they are as many as were requested.
func exclusivity(own, shared string, resources v1alpha1.Resources) v1alpha1.CPUExclusivity {
	cpus, err := result.ParseCPUs(own)
	others, otherErr := result.ParseCPUs(shared)
	switch {
	case err != nil || otherErr != nil || len(cpus) == 0 || len(others) == 0:
		return v1alpha1.CPUsUnknown
	case int64(cpus.Size())*1000 == manifest.CPUMillis(resources) && !cpus.Overlaps(others):
		return v1alpha1.CPUsExclusive
	}
	return v1alpha1.CPUsShared
}

// unpinned returns the failure for a container that must have CPUs of its own and doesn't, or nil.
// Of a client on another node than the target's only the number of CPUs is known.
func unpinned(run *v1alpha1.BenchmarkRun, o *Observed) *Failure {
	var usage *result.ServerUsage
	if o.Sessions.Agent != nil {
		usage = o.Sessions.Agent.Latest
	}
	if target := run.Spec.Target.Resources; o.Target != nil && target.CPUPinning == v1alpha1.CPUPinningRequired {
		if e := exclusivity(usage.CPUs, usage.AgentCPUs, target); e != v1alpha1.CPUsExclusive {
			return notExclusive("target", "the server", usage.CPUs, e, ", on node "+o.Target.Spec.NodeName)
		}
	}
	for i := range run.Spec.Target.Backends {
		b := &run.Spec.Target.Backends[i]
		cpus, _, e := backendCPUs(b, o.Sessions.Agent)
		if b.Resources.CPUPinning == v1alpha1.CPUPinningRequired && e != v1alpha1.CPUsExclusive {
			return notExclusive("target.backends["+b.Name+"]", "the backend", cpus, e, "")
		}
	}
	clients := run.Spec.Clients.Resources
	if clients.CPUPinning != v1alpha1.CPUPinningRequired {
		return nil
	}
	for i := range loadplan.Replicas(&run.Spec) {
		c := o.Sessions.Clients[i]
		others := fmt.Sprint(result.MaxCPU) // no CPU that exists
		if o.Target != nil && c.Node == o.Target.Spec.NodeName {
			others = usage.AgentCPUs
		}
		if e := exclusivity(c.CPUs, others, clients); e != v1alpha1.CPUsExclusive {
			return notExclusive("clients", fmt.Sprintf("client %d", i), c.CPUs, e, ", on node "+c.Node)
		}
	}
	return nil
}

// notExclusive returns the failure for a container that must have CPUs of its own.
func notExclusive(field, container, cpus string, e v1alpha1.CPUExclusivity, where string) *Failure {
	return failuref(v1alpha1.ReasonCPUNotExclusive,
		"spec.%s.resources.cpuPinning is Required, but %s runs on CPUs %q, which are %s%s. "+
			"Set the kubelet's cpuManagerPolicy to static, request whole CPUs, or set cpuPinning to Preferred.", field, container, cpus, e, where)
}

// backendCPUs returns the CPUs of a backend as the agent sampled them, all CPUs of their cores, and
// whether they are its own.
func backendCPUs(b *v1alpha1.Backend, agent *session.AgentState) (cpus, cores string, e v1alpha1.CPUExclusivity) {
	if agent != nil && agent.Latest != nil {
		for _, sampled := range agent.Backends {
			if sampled.Name == b.Name {
				return sampled.Latest.CPUs, sampled.Latest.Cores, exclusivity(sampled.Latest.CPUs, agent.Latest.AgentCPUs, b.Resources)
			}
		}
	}
	return "", "", v1alpha1.CPUsUnknown
}
