package run

import (
	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/server"
)

// environment returns the conditions under which the result was measured. It omits
// what can't be observed any more.
func (p *planner) environment() result.Environment {
	spec, o, started := &p.run.Spec, p.observed, &p.started
	e := result.Environment{
		TargetNode:     started.Node,
		TargetAddress:  started.Address,
		TargetImageID:  started.ImageID,
		ServerSoftware: started.ServerSoftware,
		ServerVersion:  started.ServerVersion,
		Connector:      started.Connector,
		Libraries:      started.Libraries,
		Unproven:       server.Verifiable(&spec.Target) && started.Connector == "",
		DocumentLength: -1,
		TargetCPULimit: manifest.CPUMillis(spec.Target.Resources),
		ClientCPULimit: manifest.CPUMillis(spec.Clients.Resources),
		TargetCPUs:     started.CPUs,
		CPUExclusivity: string(started.CPUExclusivity),
		Kernel:         started.Kernel,
		Assay:          o.Settings.Version,
	}
	if answer := probed(p.run, o); answer != nil {
		e.DocumentLength, e.HTTP, e.TLS = answer.DocumentLength, answer.HTTP, answer.TLS
	}
	if o.Node != nil {
		info := o.Node.Status.NodeInfo
		e.Kernel, e.ContainerRuntime, e.Kubelet = info.KernelVersion, info.ContainerRuntimeVersion, info.KubeletVersion
	}
	for i := range spec.Target.Backends {
		e.Backends = append(e.Backends, p.backendEnvironment(&spec.Target.Backends[i]))
	}
	return e
}

func (p *planner) backendEnvironment(b *v1alpha1.Backend) result.BackendEnvironment {
	e := result.BackendEnvironment{Name: b.Name, Image: b.Image, CPULimit: manifest.CPUMillis(b.Resources)}
	for _, started := range p.started.Backends {
		if started.Name == b.Name {
			e.ImageID = started.ImageID
		}
	}
	cpus, exclusivity := backendCPUs(b, p.observed.Sessions.Agent)
	e.CPUs, e.CPUExclusivity = cpus, string(exclusivity)
	return e
}
