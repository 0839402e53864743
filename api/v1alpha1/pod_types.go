package v1alpha1

import corev1 "k8s.io/api/core/v1"

// PodAdditions are merged into the target's pod, strategically: what has the
// same name or key is joined. Nothing that the measurement stands on can be
// changed by them.
//
// +kubebuilder:validation:MinProperties=1
type PodAdditions struct {
	// annotations are added to the pod's.
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=32
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`

	// nodeSelector has the labels that the target's node must have.
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=32
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// tolerations are taints of nodes that the pod bears.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +optional
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// priorityClassName is the pod's priority class.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	PriorityClassName string `json:"priorityClassName,omitempty"`

	// runtimeClassName is the pod's runtime class.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	RuntimeClassName string `json:"runtimeClassName,omitempty"`

	// securityContext is the pod's, sysctls included.
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
	VolumeMounts []corev1.VolumeMount `json:"volumeMounts,omitempty"`

	// securityContext is the container's.
	// +optional
	SecurityContext *corev1.SecurityContext `json:"securityContext,omitempty"`
}

// PodVolume is a volume of the target's pod.
//
// +kubebuilder:validation:XValidation:rule="[has(self.configMap), has(self.secret), has(self.emptyDir), has(self.persistentVolumeClaim)].exists_one(x, x)",message="a volume must have exactly one of configMap, secret, emptyDir and persistentVolumeClaim"
type PodVolume struct {
	// name is the volume's name.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="name must consist of lower-case letters, digits and '-', and begin and end with a letter or digit"
	// +required
	Name string `json:"name,omitempty"`

	// configMap is a ConfigMap of the run's namespace.
	// +optional
	ConfigMap *corev1.ConfigMapVolumeSource `json:"configMap,omitempty"`

	// secret is a Secret of the run's namespace.
	// +optional
	Secret *corev1.SecretVolumeSource `json:"secret,omitempty"`

	// emptyDir is an empty folder: on Disk or in Memory.
	// +optional
	EmptyDir EmptyDirMedium `json:"emptyDir,omitempty"`

	// persistentVolumeClaim is a claim of the run's namespace.
	// +optional
	PersistentVolumeClaim *corev1.PersistentVolumeClaimVolumeSource `json:"persistentVolumeClaim,omitempty"`
}
