package v1alpha1

// GenericServer starts any image as it is.
//
// +kubebuilder:validation:XValidation:rule="!has(self.volumes) || self.volumes.all(v, v.mountPath != '/assay/tls' && v.mountPath != self.?contentPath.orValue('/assay/content'))",reason="FieldValueInvalid",fieldPath=".volumes",message="volumes must have another mountPath than contentPath and /assay/tls, where the run's content and certificate are"
type GenericServer struct {
	// command replaces the image's entrypoint.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=4096
	// +optional
	Command []string `json:"command,omitempty"`

	// args replaces the image's arguments.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=128
	// +kubebuilder:validation:items:MaxLength=4096
	// +optional
	Args []string `json:"args,omitempty"`

	// env are environment variables of the server.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +optional
	Env []EnvironmentVariable `json:"env,omitempty"`

	// port is the TCP port on which the server answers. With target.tls it must
	// speak TLS there. Defaults to 8080.
	// +default=8080
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// contentPath is the folder of the container under which the run's content
	// is mounted, read-only. Defaults to /assay/content.
	// +default="/assay/content"
	// +optional
	ContentPath AbsolutePath `json:"contentPath,omitempty"`

	// volumes mount ConfigMaps, Secrets and empty folders into the container.
	// +listType=map
	// +listMapKey=mountPath
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Volumes []GenericVolume `json:"volumes,omitempty"`
}

// GenericVolume is a ConfigMap, a Secret or an empty folder in a server's
// container.
//
// +kubebuilder:validation:XValidation:rule="[has(self.configMapName), has(self.secretName), has(self.emptyDir)].exists_one(x, x)",message="a volume must have exactly one of configMapName, secretName and emptyDir"
type GenericVolume struct {
	// mountPath is the folder of the container at which it is found.
	// +required
	MountPath AbsolutePath `json:"mountPath,omitempty"`

	// configMapName names a ConfigMap in the run's namespace.
	// +optional
	ConfigMapName ConfigMapName `json:"configMapName,omitempty"`

	// secretName names a Secret in the run's namespace.
	// +optional
	SecretName SecretName `json:"secretName,omitempty"`

	// emptyDir is an empty folder that the server may write to: on Disk or in
	// Memory, which counts towards the container's memory.
	// +optional
	EmptyDir EmptyDirMedium `json:"emptyDir,omitempty"`
}
