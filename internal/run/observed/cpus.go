package observed

import (
	"slices"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
)

// CPUsKnown reports whether the agent has sent the CPUs of each server.
func CPUsKnown(run *v1alpha1.BenchmarkRun, agent *session.AgentState) bool {
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

// Exclusivity returns whether a container of the target has CPUs of its own. shared are the CPUs
// that the agent may use. It runs on those that the node's containers share, since it requests a
// fraction of one. Others are exclusive, if they are as many as were requested.
func Exclusivity(own, shared string, resources v1alpha1.Resources) v1alpha1.CPUExclusivity {
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

// BackendCPUs returns the CPUs of a backend as the agent sampled them, all CPUs of their cores, and
// whether they are its own.
func BackendCPUs(b *v1alpha1.Backend, agent *session.AgentState) (cpus, cores string, e v1alpha1.CPUExclusivity) {
	if agent != nil && agent.Latest != nil {
		for _, sampled := range agent.Backends {
			if sampled.Name == b.Name {
				return sampled.Latest.CPUs, sampled.Latest.Cores, Exclusivity(sampled.Latest.CPUs, agent.Latest.AgentCPUs, b.Resources)
			}
		}
	}
	return "", "", v1alpha1.CPUsUnknown
}
