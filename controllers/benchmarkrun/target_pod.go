package benchmarkrun

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/target"
)

// targetPod has a container that writes the content, if there is any, and ends,
// the agent, which starts before the servers and watches them, the server that
// clients talk to, and the backends behind it. It is Guaranteed, so that whole
// CPUs of a server are exclusive where the node can do that; and it is never
// restarted: a crash is a finding. An error is the user's to mend.
func targetPod(run *v1alpha1.BenchmarkRun, rendering *target.Rendering, settings *Settings) (*corev1.Pod, error) {
	spec := &run.Spec.Target
	restricted := spec.PodSecurity != v1alpha1.PodSecurityBaseline
	pod := &corev1.Pod{
		ObjectMeta: podMeta(run, targetName(run), RoleTarget),
		Spec:       podSpec(restricted),
	}
	pod.Spec.ShareProcessNamespace = ptr.To(true)
	pod.Spec.ImagePullSecrets = spec.ImagePullSecrets
	pod.Spec.Volumes = []corev1.Volume{
		identity(run),
		{Name: target.ConfigVolume, VolumeSource: configSource(run)},
		{Name: target.ContentVolume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
	}
	watcher := agentContainerOf(settings)
	mountClientTLS(run, &pod.Spec, &watcher)
	if volume := serverTLSVolume(run); volume != nil {
		pod.Spec.Volumes = append(pod.Spec.Volumes, *volume)
	}
	pod.Spec.Volumes = append(pod.Spec.Volumes, rendering.Volumes...)
	pod.Spec.Containers = []corev1.Container{watcher}
	for i, server := range rendering.Containers {
		server.Resources = requirements(resourcesOf(spec, i), defaultTargetMemory)
		if restricted {
			server.SecurityContext = restrictedContainer()
		}
		server.TerminationMessagePolicy = corev1.TerminationMessageFallbackToLogsOnError
		pod.Spec.Containers = append(pod.Spec.Containers, server)
	}
	if len(spec.Content) > 0 {
		pod.Spec.InitContainers = []corev1.Container{contentWriter(pod.Spec.Containers[1].Resources, settings)}
	}
	return addTo(pod, spec.Pod)
}

// resourcesOf is what the i-th server of a target gets: the first is the one
// that clients talk to.
func resourcesOf(spec *v1alpha1.Target, i int) v1alpha1.Resources {
	if i == 0 {
		return spec.Resources
	}
	return spec.Backends[i-1].Resources
}

// contentWriter has the resources of the server, which isn't running yet, so
// that it is quick and the pod asks for no more.
func contentWriter(resources corev1.ResourceRequirements, settings *Settings) corev1.Container {
	return corev1.Container{
		Name:                     contentContainer,
		Image:                    settings.AssayImage,
		ImagePullPolicy:          settings.ImagePullPolicy,
		Command:                  []string{"/agent"},
		Args:                     []string{"content", "--list", configFolder + "/" + contentListFile, "--dir", contentFolder},
		Resources:                resources,
		SecurityContext:          restrictedAssayContainer(),
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		VolumeMounts: []corev1.VolumeMount{
			{Name: target.ConfigVolume, MountPath: configFolder, ReadOnly: true},
			{Name: target.ContentVolume, MountPath: contentFolder},
		},
	}
}

// agentContainerOf is a container like the server's and is started just before it. As an
// init container that goes on running (a sidecar) it would hold the server up
// by a second: the kubelet looks only so often whether such a one has started.
func agentContainerOf(settings *Settings) corev1.Container {
	return corev1.Container{
		Name:                     agentContainer,
		Image:                    settings.AssayImage,
		ImagePullPolicy:          settings.ImagePullPolicy,
		Command:                  []string{"/agent"},
		Args:                     []string{"sample"},
		Env:                      []corev1.EnvVar{{Name: "ASSAY_MANAGER", Value: settings.SessionAddress}},
		Resources:                agentResources,
		SecurityContext:          restrictedAssayContainer(),
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		VolumeMounts:             []corev1.VolumeMount{{Name: identityVolume, MountPath: identityFolder, ReadOnly: true}},
	}
}

// servers are the containers of a target's pod that have a server: first the
// one that clients talk to. Others may have been added by the cluster.
func servers(run *v1alpha1.BenchmarkRun, pod *corev1.Pod) []corev1.Container {
	names := []string{target.ContainerName}
	for i := range run.Spec.Target.Backends {
		names = append(names, run.Spec.Target.Backends[i].Name)
	}
	var all []corev1.Container
	for _, name := range names {
		for _, c := range pod.Spec.Containers {
			if c.Name == name {
				all = append(all, c)
			}
		}
	}
	return all
}
