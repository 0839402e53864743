package v1alpha1

import corev1 "k8s.io/api/core/v1"

// PodAdditions are merged into the target's pod, strategically: what has the same name or key is
// joined. They can't change what the measurement depends on.
//
// A typed client drops what is empty, and a run can't change: so no list and no
// text in it may be empty.
// +kubebuilder:validation:XValidation:rule="!has(self.containers) || self.containers.all(c, !has(c.volumeMounts) || c.volumeMounts.all(m, has(self.volumes) && self.volumes.exists(v, v.name == m.name)))",reason="FieldValueInvalid",fieldPath=".containers",message="volumeMounts must name members of pod.volumes"
// +kubebuilder:validation:MinProperties=1
type PodAdditions struct {
	NodeConstraints `json:",inline"`

	// annotations are added to the pod's.
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('assay.dev/') && !k.contains('.assay.dev/'))",message="annotations of assay.dev are Assay's own: omit them"
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.matches('^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$'))",message="annotations must have names such as example.org/team"
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`

	// priorityClassName is the pod's priority class.
	// +optional
	PriorityClassName ObjectName `json:"priorityClassName,omitempty"`

	// runtimeClassName is the pod's runtime class.
	// +optional
	RuntimeClassName ObjectName `json:"runtimeClassName,omitempty"`

	// securityContext is the pod's, sysctls included.
	// +kubebuilder:validation:XValidation:rule="(!has(self.sysctls) || self.sysctls.size() > 0) && (!has(self.supplementalGroups) || self.supplementalGroups.size() > 0) && self.?seLinuxOptions.user.orValue('-') != '' && self.?seLinuxOptions.role.orValue('-') != '' && self.?seLinuxOptions.type.orValue('-') != '' && self.?seLinuxOptions.level.orValue('-') != ''",message="securityContext must not have an empty list or text: omit it"
	// +optional
	SecurityContext *corev1.PodSecurityContext `json:"securityContext,omitempty"`

	// volumes are added to the pod's, for volumeMounts of containers.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Volumes []PodVolume `json:"volumes,omitempty"`

	// containers add to the containers of the same name: server, or a backend.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +optional
	Containers []ContainerAdditions `json:"containers,omitempty"`
}

// ContainerAdditions are merged into a container.
type ContainerAdditions struct {
	// name is server, or the name of a member of spec.target.backends.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +required
	Name string `json:"name,omitempty"`

	// env are environment variables.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +optional
	Env []EnvironmentVariable `json:"env,omitempty"`

	// volumeMounts mount volumes of the pod.
	// +listType=map
	// +listMapKey=mountPath
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +optional
	VolumeMounts []VolumeMount `json:"volumeMounts,omitempty"`

	// securityContext is the container's.
	// +kubebuilder:validation:XValidation:rule="(!has(self.capabilities) || (!has(self.capabilities.add) || self.capabilities.add.size() > 0) && (!has(self.capabilities.drop) || self.capabilities.drop.size() > 0)) && self.?seLinuxOptions.user.orValue('-') != '' && self.?seLinuxOptions.role.orValue('-') != '' && self.?seLinuxOptions.type.orValue('-') != '' && self.?seLinuxOptions.level.orValue('-') != ''",message="securityContext must not have an empty list or text: omit it"
	// +optional
	SecurityContext *corev1.SecurityContext `json:"securityContext,omitempty"`
}
