package conclusion

import (
	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/server"
)

// environment returns the conditions of the measurement, as far as they can still be observed.
func (from *Evidence) environment() result.Environment {
	spec, o, started := &from.Run.Spec, from.Observed, from.Started
	e := result.Environment{
		TargetNode:     started.Node,
		TargetAddress:  started.Address,
		TargetImageID:  started.ImageID,
		ServerSoftware: started.ServerSoftware,
		ServerVersion:  started.ServerVersion,
		Connector:      started.Connector,
		Libraries:      started.Libraries,
		Configuration:  configuration(&started.ServerStatus),
		Unverified:     server.Verifiable(&spec.Target) && started.Connector == "",
		DocumentLength: -1,
		TargetCPULimit: manifest.ServerCPUMillis(&spec.Target, 0),
		SharedCPULimit: sharedCPUMillis(&spec.Target),
		ClientCPULimit: manifest.CPUMillis(spec.Clients.Resources),
		TargetCPUs:     started.CPUs,
		CPUExclusivity: string(started.CPUExclusivity),
		Kernel:         started.Kernel,
		Assay:          o.Settings.Version,

		ClockStepMicroseconds: o.Sessions.ClockStep.Microseconds(),
	}
	if answer := observed.Probed(from.Run, o); answer != nil {
		e.DocumentLength, e.HTTP, e.TLS = answer.DocumentLength, answer.HTTP, answer.TLS
	}
	if o.Sessions.Agent != nil {
		e.Governor = o.Sessions.Agent.Governor
		if latest := o.Sessions.Agent.Latest; latest != nil {
			e.TargetCores = latest.Cores
		}
	}
	if o.Node != nil {
		info := o.Node.Status.NodeInfo
		e.Kernel, e.ContainerRuntime, e.Kubelet = info.KernelVersion, info.ContainerRuntimeVersion, info.KubeletVersion
	}
	for i := range spec.Target.Backends {
		e.Backends = append(e.Backends, from.backendEnvironment(&spec.Target.Backends[i], manifest.ServerCPUMillis(&spec.Target, i+1)))
	}
	return e
}

func configuration(s *v1alpha1.ServerStatus) *result.Configuration {
	if s.Configuration == nil {
		return nil
	}
	return &result.Configuration{Replaced: s.Configuration.Extent == v1alpha1.ConfigurationReplaced, Files: s.Configuration.Files, Fields: s.Configuration.Fields}
}

func (from *Evidence) backendEnvironment(b *v1alpha1.Backend, cpuLimit int64) result.BackendEnvironment {
	e := result.BackendEnvironment{Name: b.Name, Image: b.Image, CPULimit: cpuLimit}
	for _, started := range from.Started.Backends {
		if started.Name == b.Name {
			e.ImageID, e.Configuration = started.ImageID, configuration(&started.ServerStatus)
		}
	}
	cpus, cores, exclusivity := observed.BackendCPUs(b, from.Observed.Sessions.Agent)
	e.CPUs, e.Cores, e.CPUExclusivity = cpus, cores, string(exclusivity)
	return e
}
