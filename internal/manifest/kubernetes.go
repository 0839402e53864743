package manifest

import (
	corev1 "k8s.io/api/core/v1"

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

func podSecurityContext(c *v1alpha1.PodSecurityContext) *corev1.PodSecurityContext {
	if c == nil {
		return nil
	}
	context := &corev1.PodSecurityContext{
		RunAsUser: c.RunAsUser, RunAsGroup: c.RunAsGroup, RunAsNonRoot: c.RunAsNonRoot, SeccompProfile: seccompProfile(c.SeccompProfile),
		FSGroup: c.FSGroup, SupplementalGroups: c.SupplementalGroups,
	}
	for _, s := range c.Sysctls {
		context.Sysctls = append(context.Sysctls, corev1.Sysctl{Name: s.Name, Value: s.Value})
	}
	return context
}

func containerSecurityContext(c *v1alpha1.ContainerSecurityContext) *corev1.SecurityContext {
	if c == nil {
		return nil
	}
	context := &corev1.SecurityContext{
		RunAsUser: c.RunAsUser, RunAsGroup: c.RunAsGroup, RunAsNonRoot: c.RunAsNonRoot, SeccompProfile: seccompProfile(c.SeccompProfile),
		AllowPrivilegeEscalation: c.AllowPrivilegeEscalation, ReadOnlyRootFilesystem: c.ReadOnlyRootFilesystem,
	}
	if c.Capabilities != nil {
		context.Capabilities = &corev1.Capabilities{Add: capabilities(c.Capabilities.Add), Drop: capabilities(c.Capabilities.Drop)}
	}
	return context
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
