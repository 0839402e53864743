package manifest

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/gclog"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/server"
)

// TargetPod returns the target's pod: a container that writes the content and exits, if there is
// content, the agent, which starts before the servers and watches them, the server that clients
// connect to, and the backends behind it. The pod is Guaranteed, so that a server with whole CPUs
// gets exclusive ones where the node supports that. It is never restarted: a crash is a finding. An
// error describes a mistake in the spec.
func TargetPod(run *v1alpha1.BenchmarkRun, rendering *server.Rendering, settings *Settings) (*corev1.Pod, error) {
	spec := &run.Spec.Target
	restricted := spec.PodSecurity != v1alpha1.PodSecurityBaseline
	pod := &corev1.Pod{
		ObjectMeta: podMeta(run, TargetName(run), RoleTarget),
		Spec:       podSpec(restricted),
	}
	pod.Spec.ActiveDeadlineSeconds = ptr.To(podDeadline(run))
	pod.Spec.ShareProcessNamespace = ptr.To(true)
	watcher := assayContainer(AgentContainer, settings.AssayImage, settings, settings.RunPods.agent(), "/agent", "sample")
	alternate(run, spec.Resources, &watcher.Resources)
	besideServer(&watcher)
	watcher.Env = []corev1.EnvVar{{Name: "ASSAY_MANAGER", Value: settings.SessionAddress}}
	mount(&pod.Spec, &watcher, identity(run), identityFolder)
	pod.Spec.Volumes = append(pod.Spec.Volumes,
		corev1.Volume{Name: server.ConfigVolume, VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: ConfigName(run)},
		}}},
		corev1.Volume{Name: server.ContentVolume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
	mountClientTLS(run, &pod.Spec, &watcher)
	if loadplan.Probes(&run.Spec)[0].Authentication != "" {
		mountCredentials(run, &pod.Spec, &watcher)
	}
	if volume := serverTLSVolume(run); volume != nil {
		pod.Spec.Volumes = append(pod.Spec.Volumes, *volume)
	}
	pod.Spec.Volumes = append(pod.Spec.Volumes, rendering.Volumes...)
	// The kubelet starts the first container first. As a native sidecar the agent would delay the
	// server by a second: the kubelet polls only that often whether a sidecar has started.
	mountGCLogs(&watcher, rendering.Containers)
	pod.Spec.Containers = []corev1.Container{watcher}
	for i, server := range rendering.Containers {
		var content int64
		if i == 0 && len(spec.Content) > 0 {
			content = contentSize(run) // the pod's, with the servers'
		}
		server.Resources = storedLocally(requirements(resourcesOf(spec, i), defaultTargetMemory), logStorage+content, scratchLimit+content)
		alternate(run, resourcesOf(spec, i), &server.Resources)
		if restricted {
			server.SecurityContext = restrictedContainer()
		}
		server.TerminationMessagePolicy = corev1.TerminationMessageFallbackToLogsOnError
		pod.Spec.Containers = append(pod.Spec.Containers, server)
	}
	if spec.SharedCPU != nil {
		if err := shareCPU(&pod.Spec, *spec.SharedCPU); err != nil {
			return nil, err
		}
	}
	pinServer(run, &pod.Spec, &pod.Spec.Containers[1], settings)
	if len(spec.Content) > 0 {
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, contentWriter(pod.Spec.Containers[1].Resources, settings))
	}
	pod.Annotations = settings.RunPods.prepare(pod.Annotations, &pod.Spec)
	if err := putOnTarget(pod, spec); err != nil {
		return nil, err
	}
	if err := checkPodSecurity("spec.target", spec.PodSecurity, &pod.ObjectMeta, &pod.Spec); err != nil {
		return nil, err
	}
	limitScratch(&pod.Spec, contentSize(run), scratchLimit)
	noteWritten(&pod.ObjectMeta, &pod.Spec)
	return pod, nil
}

// mountGCLogs mounts the garbage collection logs of the servers that have any into the agent's container.
func mountGCLogs(watcher *corev1.Container, servers []corev1.Container) {
	for i := range servers {
		for _, mount := range servers[i].VolumeMounts {
			if mount.MountPath == gclog.Directory {
				mount.MountPath, mount.ReadOnly = gclog.Directory+"/"+servers[i].Name, true
				watcher.VolumeMounts = append(watcher.VolumeMounts, mount)
			}
		}
	}
}

// contentWriter returns the container that writes the content. It gets the resources of the server,
// which isn't running yet: so it is quick, and the pod requests no more.
func contentWriter(resources corev1.ResourceRequirements, settings *Settings) corev1.Container {
	writer := assayContainer(ContentContainer, settings.AssayImage, settings, resources,
		"/agent", "content", "--list", configFolder+"/"+contentListFile, "--dir", contentFolder)
	besideServer(&writer)
	writer.VolumeMounts = []corev1.VolumeMount{
		{Name: server.ConfigVolume, MountPath: configFolder, ReadOnly: true},
		{Name: server.ContentVolume, MountPath: contentFolder},
	}
	return writer
}

// Servers returns the containers of the target's pod that run a server, first the one that clients
// connect to. It omits the agent and containers that the cluster added.
func Servers(run *v1alpha1.BenchmarkRun, pod *corev1.Pod) []corev1.Container {
	return slices.DeleteFunc(slices.Clone(pod.Spec.Containers), func(c corev1.Container) bool { return !IsServer(run, c.Name) })
}

// IsServer reports whether a container of the target's pod runs a server.
func IsServer(run *v1alpha1.BenchmarkRun, container string) bool {
	return container == server.ContainerName || slices.ContainsFunc(run.Spec.Target.Backends, func(b v1alpha1.Backend) bool { return b.Name == container })
}
