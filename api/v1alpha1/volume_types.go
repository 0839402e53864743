package v1alpha1

import corev1 "k8s.io/api/core/v1"

// PodVolume is a volume of a pod.
//
// +kubebuilder:validation:ExactlyOneOf=configMap;secret;emptyDir;persistentVolumeClaim
type PodVolume struct {
	// name is the volume's name.
	// +required
	Name DNSLabel `json:"name,omitempty"`

	// configMap is a ConfigMap of the run's namespace.
	// +optional
	ConfigMap *ConfigMapVolume `json:"configMap,omitempty"`

	// secret is a Secret of the run's namespace.
	// +optional
	Secret *SecretVolume `json:"secret,omitempty"`

	// emptyDir is an empty directory, on the node's disk unless its medium is Memory.
	// +optional
	EmptyDir *EmptyDirVolume `json:"emptyDir,omitempty"`

	// persistentVolumeClaim is a claim of the run's namespace.
	// +optional
	PersistentVolumeClaim *ClaimVolume `json:"persistentVolumeClaim,omitempty"`
}

// ConfigMapVolume is a ConfigMap as a volume. Its fields are those of Kubernetes' own.
type ConfigMapVolume struct {
	// name is the ConfigMap's name.
	// +required
	Name ConfigMapName `json:"name,omitempty"`

	VolumeFiles `json:",inline"`
}

// SecretVolume is a Secret as a volume. Its fields are those of Kubernetes' own.
type SecretVolume struct {
	// secretName is the Secret's name.
	// +required
	SecretName SecretName `json:"secretName,omitempty"`

	VolumeFiles `json:",inline"`
}

// VolumeFiles says which files a ConfigMap or a Secret becomes.
type VolumeFiles struct {
	// items are the keys that become files. Defaults to all of them.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +optional
	Items []KeyToPath `json:"items,omitempty"`

	// defaultMode is the files' mode, as a number from 0 to 511 (0777). Defaults to 420 (0644).
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=511
	// +optional
	DefaultMode *int32 `json:"defaultMode,omitempty"`

	// optional says whether the run starts without the object or its keys. Defaults to false.
	// +optional
	Optional *bool `json:"optional,omitempty"`
}

// KeyToPath is a key that becomes a file.
type KeyToPath struct {
	// key is the key.
	// +required
	Key DataKey `json:"key,omitempty"`

	// path is the file's path within the volume.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.matches('^[.]?[A-Za-z0-9_][A-Za-z0-9._@+-]*(/[.]?[A-Za-z0-9_][A-Za-z0-9._@+-]*)*$')",message="path must be a relative path such as conf/server: letters, digits and ._@+- only"
	// +required
	Path string `json:"path,omitempty"`
}

// EmptyDirVolume is an empty directory. Its field is that of Kubernetes' own.
type EmptyDirVolume struct {
	// medium is Memory for a directory in memory. If not set, it is on the node's disk.
	// +kubebuilder:validation:Enum=Memory
	// +optional
	Medium corev1.StorageMedium `json:"medium,omitempty"`
}

// ClaimVolume is a persistent volume claim. Its fields are those of Kubernetes'
// own; readOnly is a pointer, so that typed clients keep a false.
type ClaimVolume struct {
	// claimName is the name of a claim in the run's namespace.
	// +required
	ClaimName ObjectName `json:"claimName,omitempty"`

	// readOnly mounts the volume read-only. Defaults to false.
	// +optional
	ReadOnly *bool `json:"readOnly,omitempty"`
}

// VolumeMount mounts a volume of the pod into a container. Its fields are those
// of Kubernetes' own; readOnly is a pointer, so that typed clients keep a false.
type VolumeMount struct {
	// name is the name of a member of volumes.
	// +required
	Name DNSLabel `json:"name,omitempty"`

	// mountPath is the directory of the container at which the volume is found.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.matches('^(/[.]?[A-Za-z0-9_][A-Za-z0-9._@+-]*)+$')",message="mountPath must be an absolute path such as /etc/server: letters, digits and ._@+- only"
	// +required
	MountPath string `json:"mountPath,omitempty"`

	// subPath is the path within the volume that is mounted. Defaults to its root.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.matches('^[.]?[A-Za-z0-9_][A-Za-z0-9._@+-]*(/[.]?[A-Za-z0-9_][A-Za-z0-9._@+-]*)*$')",message="subPath must be a relative path such as conf/server: letters, digits and ._@+- only"
	// +optional
	SubPath string `json:"subPath,omitempty"`

	// readOnly mounts the volume read-only. Defaults to false.
	// +optional
	ReadOnly *bool `json:"readOnly,omitempty"`
}
