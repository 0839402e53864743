package manifest

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server"
)

// putOnTarget puts the settings of spec.target and of its backends on the target's pod. An error describes a mistake
// in the spec: settings must not change what the measurement is based on.
func putOnTarget(pod *corev1.Pod, target *v1alpha1.Target) error {
	servers := pod.Spec.Containers[1:] // after the agent
	if err := putOn("spec.target", &target.PodSettings, &pod.ObjectMeta, &pod.Spec, &servers[0]); err != nil {
		return err
	}
	for i := range target.Backends {
		b := &target.Backends[i]
		if err := putOnContainer(fmt.Sprintf("spec.target.backends[%d]", i), &servers[i+1], b.Env, b.VolumeMounts, b.SecurityContext); err != nil {
			return err
		}
	}
	return nil
}

// putOn puts the settings of a field on a pod, one container of which is the server's or the client's.
func putOn(field string, s *v1alpha1.PodSettings, meta *metav1.ObjectMeta, spec *corev1.PodSpec, container *corev1.Container) error {
	for i := range s.Volumes {
		if slices.ContainsFunc(spec.Volumes, func(own corev1.Volume) bool { return own.Name == s.Volumes[i].Name }) {
			return fmt.Errorf("%s.volumes[%d].name: %s is the name of a volume of Assay's own: use another", field, i, s.Volumes[i].Name)
		}
		spec.Volumes = append(spec.Volumes, volume(&s.Volumes[i]))
	}
	meta.Labels = merged(s.Labels, meta.Labels)
	meta.Annotations = merged(meta.Annotations, s.Annotations)
	spec.NodeSelector, spec.Tolerations = s.NodeSelector, tolerations(s.Tolerations)
	spec.Affinity = affinity(s.Affinity)
	spec.PriorityClassName = s.PriorityClassName
	if s.RuntimeClassName != "" {
		spec.RuntimeClassName = &s.RuntimeClassName
	}
	for _, secret := range s.ImagePullSecrets {
		spec.ImagePullSecrets = append(spec.ImagePullSecrets, corev1.LocalObjectReference{Name: secret.Name})
	}
	for _, h := range s.HostAliases {
		spec.HostAliases = append(spec.HostAliases, corev1.HostAlias{IP: h.IP, Hostnames: h.Hostnames})
	}
	spec.DNSConfig = dnsConfig(s.DNSConfig)
	context := ptr.Deref(s.SecurityContext, v1alpha1.SecurityContext{})
	secure(spec.SecurityContext, &context)
	context.UserIdentity = v1alpha1.UserIdentity{} // the pod's
	return putOnContainer(field, container, s.Env, s.VolumeMounts, &context.ContainerSecurityContext)
}

func putOnContainer(field string, container *corev1.Container, env []v1alpha1.EnvironmentVariable, mounts []v1alpha1.VolumeMount, context *v1alpha1.ContainerSecurityContext) error {
	own := len(container.VolumeMounts)
	for i, m := range mounts {
		over := func(o corev1.VolumeMount) bool { return hides(m.MountPath, &o) }
		if slices.ContainsFunc(container.VolumeMounts[:own], over) || slices.Contains(container.Command, path.Clean(m.MountPath)) {
			return fmt.Errorf("%s.volumeMounts[%d].mountPath: Assay itself has something at %s: use another path", field, i, m.MountPath)
		}
		container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{
			Name: m.Name, MountPath: m.MountPath, SubPath: m.SubPath, ReadOnly: ptr.Deref(m.ReadOnly, false),
		})
	}
	for i, e := range env {
		if slices.ContainsFunc(container.Env, func(o corev1.EnvVar) bool { return o.Name == e.Name }) {
			return fmt.Errorf("%s.env[%d].name: Assay itself sets %s: use the fields of the spec", field, i, e.Name)
		}
	}
	container.Env = append(container.Env, environment(env)...)
	if context != nil {
		container.SecurityContext = secureContainer(container.SecurityContext, context)
	}
	return nil
}

// hides reports whether a mount of the user's hides one of Assay's, or a file that Assay wrote.
// Below an empty directory of the server there may be other mounts.
func hides(mountPath string, own *corev1.VolumeMount) bool {
	users, assays := path.Clean(mountPath), path.Clean(own.MountPath)
	made := slices.Contains([]string{
		server.ConfigVolume, server.ContentVolume, server.TLSVolume,
		identityVolume, clientTLSVolumeName, CredentialsVolume, scriptVolume, workVolume, programVolume,
	}, own.Name)
	return users == assays || made && strings.HasPrefix(users, assays+"/")
}

// merged returns a map with the entries of both. The second one's win.
func merged[M ~map[K]V, K comparable, V any](a, b M) M {
	if len(a) == 0 {
		return b
	}
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}
