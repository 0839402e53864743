package conclusion

import (
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/printable"
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

		PodChanges:            from.podChanges(),
		ClockStepMicroseconds: o.Sessions.ClockStep.Microseconds(),
	}
	if answer := observed.Probed(from.Run, o); answer != nil {
		e.DocumentLength, e.HTTP, e.TLS = answer.DocumentLength, answer.HTTP, answer.TLS
	}
	if o.Sessions.Agent != nil {
		e.Governor = o.Sessions.Agent.Governor
		if m := o.Sessions.Agent.Machine; m != (result.Machine{}) {
			e.Machine = &m
		}
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

// maxPodChanges limits the changes of pods in a result, maxPodChange each text in bytes.
const (
	maxPodChanges = 64
	maxPodChange  = 256
)

// podChanges returns what the cluster changed in the pods of the run, each with the number of pods.
func (from *Evidence) podChanges() []result.PodChange {
	var all []result.PodChange
	at := map[result.PodChange]int{}
	add := func(role string, pod *corev1.Pod) {
		for _, c := range manifest.Changes(pod) {
			change := result.PodChange{
				Role: role, Field: printable.Clipped(c.Field, maxPodChange), Was: printable.Clipped(c.Was, maxPodChange), Is: printable.Clipped(c.Is, maxPodChange),
				Effect: string(c.Effect),
			}
			if c.Effect == manifest.AddsContainer && !ranSince(pod, c.Field, from.Observed.Wall(from.measurementStart(), from.Now)) {
				change.Effect = ""
			}
			i, known := at[change]
			if !known {
				if len(all) == maxPodChanges {
					continue
				}
				i = len(all)
				at[change], all = i, append(all, change)
			}
			all[i].Pods++
		}
	}
	if from.Observed.Target != nil {
		add(result.RoleTarget, from.Observed.Target)
	}
	for _, i := range slices.Sorted(maps.Keys(from.Observed.Clients)) {
		if pod := from.Observed.Clients[i]; pod != nil {
			add(result.RoleClient, pod)
		}
	}
	return all
}

// ranSince reports whether a container that was added to a pod runs, or ran since a time. One that isn't known did.
func ranSince(pod *corev1.Pod, field string, since time.Time) bool {
	_, name, _ := strings.Cut(field, "[")
	name = strings.TrimSuffix(name, "]")
	for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses, pod.Status.EphemeralContainerStatuses) {
		if status.Name == name {
			end := status.State.Terminated
			return status.State.Running != nil || end != nil && !end.FinishedAt.Time.Before(since.Truncate(time.Second))
		}
	}
	return true
}
