package v1alpha1

// GenericServer starts any image as it is.
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

	// port is the TCP port on which the server listens. With target.tls it must speak TLS there.
	// Defaults to 8080.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// gcLog says whether a Java virtual machine that the image starts by the java command logs its
	// garbage collections (-Xlog, by JDK_JAVA_OPTIONS, which replaces the image's), so that the result
	// has their pauses and the heap's size each second. It needs Java 9. Defaults to Disabled.
	// +optional
	GCLog Switch `json:"gcLog,omitempty"`

	// contentPath is the directory of the container at which the run's content is mounted,
	// read-only. Defaults to /assay/content.
	// +optional
	ContentPath AbsolutePath `json:"contentPath,omitempty"`
}
