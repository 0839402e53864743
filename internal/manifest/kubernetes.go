package manifest

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// The functions of this file return in Kubernetes' types what the API has in smaller ones of its own.

func tolerations(of []v1alpha1.Toleration) []corev1.Toleration {
	var all []corev1.Toleration
	for _, t := range of {
		all = append(all, corev1.Toleration{Key: t.Key, Operator: t.Operator, Value: t.Value, Effect: t.Effect})
	}
	return all
}

func keysToPaths(of []v1alpha1.KeyToPath) []corev1.KeyToPath {
	var all []corev1.KeyToPath
	for _, k := range of {
		all = append(all, corev1.KeyToPath{Key: k.Key, Path: k.Path})
	}
	return all
}

// secure sets what the context says of a pod.
func secure(pod *corev1.PodSecurityContext, c *v1alpha1.SecurityContext) {
	override(&pod.RunAsUser, c.RunAsUser)
	override(&pod.RunAsGroup, c.RunAsGroup)
	override(&pod.RunAsNonRoot, c.RunAsNonRoot)
	override(&pod.SeccompProfile, seccompProfile(c.SeccompProfile))
	pod.FSGroup, pod.SupplementalGroups = c.FSGroup, c.SupplementalGroups
	for _, s := range c.Sysctls {
		pod.Sysctls = append(pod.Sysctls, corev1.Sysctl{Name: s.Name, Value: s.Value})
	}
}

// secureContainer returns the context of a container, or nil, with what c says.
func secureContainer(container *corev1.SecurityContext, c *v1alpha1.ContainerSecurityContext) *corev1.SecurityContext {
	if *c == (v1alpha1.ContainerSecurityContext{}) {
		return container
	}
	if container == nil {
		container = &corev1.SecurityContext{}
	}
	override(&container.RunAsUser, c.RunAsUser)
	override(&container.RunAsGroup, c.RunAsGroup)
	override(&container.RunAsNonRoot, c.RunAsNonRoot)
	override(&container.SeccompProfile, seccompProfile(c.SeccompProfile))
	override(&container.AllowPrivilegeEscalation, c.AllowPrivilegeEscalation)
	override(&container.ReadOnlyRootFilesystem, c.ReadOnlyRootFilesystem)
	if c.Capabilities != nil {
		all := ptr.Deref(container.Capabilities, corev1.Capabilities{})
		if c.Capabilities.Add != nil {
			all.Add = capabilities(c.Capabilities.Add)
		}
		if c.Capabilities.Drop != nil {
			all.Drop = capabilities(c.Capabilities.Drop)
		}
		container.Capabilities = &all
	}
	return container
}

func override[T any](to **T, with *T) {
	if with != nil {
		*to = with
	}
}

func capabilities(of []v1alpha1.Capability) []corev1.Capability {
	var all []corev1.Capability
	for _, c := range of {
		all = append(all, corev1.Capability(c))
	}
	return all
}

func seccompProfile(p *v1alpha1.SeccompProfile) *corev1.SeccompProfile {
	if p == nil {
		return nil
	}
	profile := &corev1.SeccompProfile{Type: p.Type}
	if p.LocalhostProfile != "" {
		profile.LocalhostProfile = &p.LocalhostProfile
	}
	return profile
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

func dnsConfig(c *v1alpha1.DNSConfig) *corev1.PodDNSConfig {
	if c == nil {
		return nil
	}
	config := &corev1.PodDNSConfig{Nameservers: c.Nameservers, Searches: c.Searches}
	for _, o := range c.Options {
		option := corev1.PodDNSConfigOption{Name: o.Name}
		if o.Value != "" {
			option.Value = &o.Value
		}
		config.Options = append(config.Options, option)
	}
	return config
}

func affinity(a *v1alpha1.Affinity) *corev1.Affinity {
	if a == nil {
		return nil
	}
	all := &corev1.Affinity{}
	if n := a.NodeAffinity; n != nil {
		all.NodeAffinity = &corev1.NodeAffinity{}
		if n.Required != nil {
			required := &corev1.NodeSelector{}
			for i := range n.Required.NodeSelectorTerms {
				required.NodeSelectorTerms = append(required.NodeSelectorTerms, nodeTerm(&n.Required.NodeSelectorTerms[i]))
			}
			all.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = required
		}
		for i := range n.Preferred {
			all.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution = append(all.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution,
				corev1.PreferredSchedulingTerm{Weight: n.Preferred[i].Weight, Preference: nodeTerm(&n.Preferred[i].Preference)})
		}
	}
	if a.PodAntiAffinity != nil {
		all.PodAntiAffinity = &corev1.PodAntiAffinity{}
		for _, t := range a.PodAntiAffinity.Required {
			all.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution = append(all.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution,
				corev1.PodAffinityTerm{LabelSelector: &metav1.LabelSelector{MatchLabels: t.LabelSelector.MatchLabels}, TopologyKey: t.TopologyKey})
		}
	}
	return all
}

func nodeTerm(t *v1alpha1.NodeSelectorTerm) (term corev1.NodeSelectorTerm) {
	for _, r := range t.MatchExpressions {
		term.MatchExpressions = append(term.MatchExpressions, corev1.NodeSelectorRequirement{Key: r.Key, Operator: r.Operator, Values: r.Values})
	}
	return term
}
