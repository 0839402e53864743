package failure

import (
	"fmt"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/run/observed"
)

// CPUNotExclusive returns the failure for a container that must have CPUs of its own and doesn't, or nil.
// Of a client on another node than the target's only the number of CPUs is known.
func CPUNotExclusive(run *v1alpha1.BenchmarkRun, o *observed.Run) *Failure {
	var usage *result.ServerUsage
	if o.Sessions.Agent != nil {
		usage = o.Sessions.Agent.Latest
	}
	if target := run.Spec.Target.Resources; o.Target != nil && target.CPUPinning == v1alpha1.CPUPinningRequired {
		if e := observed.Exclusivity(usage.CPUs, usage.AgentCPUs, target); e != v1alpha1.CPUsExclusive {
			return notExclusive("target", "the server", usage.CPUs, e, ", on node "+o.Target.Spec.NodeName)
		}
	}
	for i := range run.Spec.Target.Backends {
		b := &run.Spec.Target.Backends[i]
		cpus, _, e := observed.BackendCPUs(b, o.Sessions.Agent)
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
		if e := observed.Exclusivity(c.CPUs, others, clients); e != v1alpha1.CPUsExclusive {
			return notExclusive("clients", fmt.Sprintf("client %d", i), c.CPUs, e, ", on node "+c.Node)
		}
	}
	return nil
}

// notExclusive returns the failure for a container that must have CPUs of its own.
func notExclusive(field, container, cpus string, e v1alpha1.CPUExclusivity, where string) *Failure {
	return newf(v1alpha1.ReasonCPUNotExclusive,
		"spec.%s.resources.cpuPinning is Required, but %s runs on CPUs %q, which are %s%s. "+
			"Set the kubelet's cpuManagerPolicy to static, request whole CPUs, or set cpuPinning to Preferred.", field, container, cpus, e, where)
}
