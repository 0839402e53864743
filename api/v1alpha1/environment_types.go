package v1alpha1

// EnvironmentVariable is a variable in the environment of a server, a client or a script.
//
// +kubebuilder:validation:ExactlyOneOf=value;secretKeyRef;configMapKeyRef;fieldRef
type EnvironmentVariable struct {
	// name is the variable's name.
	// +required
	Name VariableName `json:"name,omitempty"`

	// value is the variable's value. $(NAME) isn't expanded in it.
	// +kubebuilder:validation:MinLength=0
	// +kubebuilder:validation:MaxLength=4096
	// +optional
	Value *string `json:"value,omitempty"`

	// secretKeyRef names the key of a Secret in the run's namespace that has the
	// value. It is kept out of logs and messages.
	// +optional
	SecretKeyRef *SecretKeyReference `json:"secretKeyRef,omitempty"`

	// configMapKeyRef names the key of a ConfigMap in the run's namespace that has the value.
	// +optional
	ConfigMapKeyRef *ConfigMapKeyReference `json:"configMapKeyRef,omitempty"`

	// fieldRef names the field of the pod that has the value.
	// +optional
	FieldRef *FieldReference `json:"fieldRef,omitempty"`
}

// FieldReference names a field of a pod.
type FieldReference struct {
	// fieldPath is the field's path.
	// +kubebuilder:validation:Enum=metadata.name;metadata.namespace;metadata.uid;spec.nodeName;status.hostIP;status.podIP
	// +required
	FieldPath string `json:"fieldPath,omitempty"`
}

// SecretKeyReference names a key of a Secret.
type SecretKeyReference struct {
	// name is the Secret's name, in the run's namespace.
	// +required
	Name SecretName `json:"name,omitempty"`

	// key is the key.
	// +required
	Key DataKey `json:"key,omitempty"`
}
