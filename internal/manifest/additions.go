package manifest

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server"
)

// addTo merges spec.target.pod into the target's pod. An error describes a mistake in the spec: an
// addition must not change what the measurement is based on.
func addTo(pod *corev1.Pod, additions *v1alpha1.PodAdditions) (*corev1.Pod, error) {
	if additions == nil {
		return pod, nil
	}
	if err := checkAdditions(pod, additions); err != nil {
		return nil, err
	}
	base, err := json.Marshal(pod)
	if err != nil {
		return nil, fmt.Errorf("encode the target's pod: %w", err)
	}
	patch, err := json.Marshal(podPatch(additions))
	if err != nil {
		return nil, fmt.Errorf("encode spec.target.pod: %w", err)
	}
	merged, err := strategicpatch.StrategicMergePatch(base, patch, corev1.Pod{})
	if err != nil {
		return nil, fmt.Errorf("spec.target.pod can't be merged into the target's pod: %w", err)
	}
	added := &corev1.Pod{}
	if err := json.Unmarshal(merged, added); err != nil {
		return nil, fmt.Errorf("spec.target.pod can't be merged into the target's pod: %w", err)
	}
	// A patch names the containers that it changes, and so puts them first.
	slices.SortStableFunc(added.Spec.Containers, func(a, b corev1.Container) int {
		return place(pod, a.Name) - place(pod, b.Name)
	})
	return added, nil
}

func place(pod *corev1.Pod, container string) int {
	return slices.IndexFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Name == container })
}

// checkAdditions rejects additions that replace something of Assay's own.
func checkAdditions(pod *corev1.Pod, additions *v1alpha1.PodAdditions) error {
	for i, v := range additions.Volumes {
		if slices.ContainsFunc(pod.Spec.Volumes, func(own corev1.Volume) bool { return own.Name == v.Name }) {
			return fmt.Errorf("spec.target.pod.volumes[%d].name: %s is the name of a volume of Assay's own: take another", i, v.Name)
		}
	}
	for i, c := range additions.Containers {
		at := place(pod, c.Name)
		if at < 0 || c.Name == AgentContainer {
			return fmt.Errorf("spec.target.pod.containers[%d].name: the target has no server %s: it is server, or the name of a backend", i, c.Name)
		}
		own := &pod.Spec.Containers[at]
		for j, m := range c.VolumeMounts {
			if slices.ContainsFunc(own.VolumeMounts, func(o corev1.VolumeMount) bool { return hides(m.MountPath, &o) }) {
				return fmt.Errorf("spec.target.pod.containers[%d].volumeMounts[%d].mountPath: Assay itself mounts %s: take another path", i, j, m.MountPath)
			}
		}
		for j, e := range c.Env {
			if slices.ContainsFunc(own.Env, func(o corev1.EnvVar) bool { return o.Name == e.Name }) {
				return fmt.Errorf("spec.target.pod.containers[%d].env[%d].name: Assay itself sets %s: use the server's own fields", i, j, e.Name)
			}
		}
	}
	return nil
}

// hides reports whether a mount of the user's hides one of Assay's, or a file that Assay wrote.
// Below an empty directory of the server there may be other mounts.
func hides(mountPath string, own *corev1.VolumeMount) bool {
	users, assays := path.Clean(mountPath), path.Clean(own.MountPath)
	made := slices.Contains([]string{server.ConfigVolume, server.ContentVolume, server.TLSVolume}, own.Name)
	return users == assays || made && strings.HasPrefix(users, assays+"/")
}

func podPatch(a *v1alpha1.PodAdditions) *corev1.Pod {
	patch := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: a.Annotations}}
	spec := &patch.Spec
	// Without any they would be encoded as null, which removes the pod's.
	spec.Containers = []corev1.Container{}
	spec.NodeSelector, spec.Tolerations, spec.SecurityContext = a.NodeSelector, tolerations(a.Tolerations), podSecurityContext(a.SecurityContext)
	spec.PriorityClassName = a.PriorityClassName
	if a.RuntimeClassName != "" {
		spec.RuntimeClassName = &a.RuntimeClassName
	}
	for i := range a.Volumes {
		spec.Volumes = append(spec.Volumes, volume(&a.Volumes[i]))
	}
	for _, c := range a.Containers {
		container := corev1.Container{Name: c.Name, Env: environment(c.Env), SecurityContext: containerSecurityContext(c.SecurityContext)}
		for _, m := range c.VolumeMounts {
			container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{
				Name: m.Name, MountPath: m.MountPath, SubPath: m.SubPath, ReadOnly: ptr.Deref(m.ReadOnly, false),
			})
		}
		spec.Containers = append(spec.Containers, container)
	}
	return patch
}

func volume(v *v1alpha1.PodVolume) corev1.Volume {
	added := corev1.Volume{Name: v.Name}
	if c := v.ConfigMap; c != nil {
		added.ConfigMap = &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: c.Name}, Items: keysToPaths(c.Items), DefaultMode: c.DefaultMode, Optional: c.Optional,
		}
	}
	if s := v.Secret; s != nil {
		added.Secret = &corev1.SecretVolumeSource{SecretName: s.SecretName, Items: keysToPaths(s.Items), DefaultMode: s.DefaultMode, Optional: s.Optional}
	}
	if c := v.PersistentVolumeClaim; c != nil {
		added.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: c.ClaimName, ReadOnly: ptr.Deref(c.ReadOnly, false)}
	}
	if e := v.EmptyDir; e != nil {
		added.EmptyDir = &corev1.EmptyDirVolumeSource{Medium: e.Medium}
	}
	return added
}
