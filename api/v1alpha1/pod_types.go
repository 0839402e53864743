package v1alpha1

import corev1 "k8s.io/api/core/v1"

// PodAdditions are merged into the target's pod, strategically: what has the
// same name or key is joined. Nothing that the measurement stands on can be
// changed by them.
//
// Comparing all of it would refuse an update by a typed client, which leaves
// out a readOnly that is false: volumes and volumeMounts compare their own. For
// the same reason nothing else of Kubernetes' own types may be empty.
// +kubebuilder:validation:XValidation:rule="[self.?annotations, self.?nodeSelector] == [oldSelf.?annotations, oldSelf.?nodeSelector] && [self.?tolerations] == [oldSelf.?tolerations] && [self.?priorityClassName, self.?runtimeClassName] == [oldSelf.?priorityClassName, oldSelf.?runtimeClassName] && [self.?securityContext] == [oldSelf.?securityContext] && has(self.volumes) == has(oldSelf.volumes) && has(self.containers) == has(oldSelf.containers)",reason="FieldValueInvalid",message="pod is immutable: create a new BenchmarkRun instead"
// +kubebuilder:validation:XValidation:rule="!has(self.containers) || self.containers.all(c, !has(c.volumeMounts) || c.volumeMounts.all(m, has(self.volumes) && self.volumes.exists(v, v.name == m.name)))",reason="FieldValueInvalid",fieldPath=".containers",message="volumeMounts must name members of pod.volumes"
// +kubebuilder:validation:MinProperties=1
type PodAdditions struct {
	// annotations are added to the pod's.
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('assay.dev/') && !k.contains('.assay.dev/'))",message="annotations of assay.dev are Assay's own: leave them out"
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
	// +kubebuilder:validation:items:XValidation:rule="(!has(self.operator) || self.operator in ['Exists', 'Equal', 'Lt', 'Gt']) && (!has(self.effect) || self.effect in ['NoSchedule', 'PreferNoSchedule', 'NoExecute'])",message="tolerations must have an operator Exists, Equal, Lt or Gt and an effect NoSchedule, PreferNoSchedule or NoExecute, or leave them out"
	// +kubebuilder:validation:items:XValidation:rule="(!has(self.key) || self.key != '') && (!has(self.value) || self.value != '')",message="tolerations must not have an empty key or value: leave it out"
	// +optional
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// priorityClassName is the pod's priority class.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="priorityClassName must be the name of a priority class: lower-case letters, digits, '-' and '.'"
	// +optional
	PriorityClassName string `json:"priorityClassName,omitempty"`

	// runtimeClassName is the pod's runtime class.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="runtimeClassName must be the name of a runtime class: lower-case letters, digits, '-' and '.'"
	// +optional
	RuntimeClassName string `json:"runtimeClassName,omitempty"`

	// securityContext is the pod's, sysctls included.
	// +kubebuilder:validation:XValidation:rule="(!has(self.sysctls) || self.sysctls.size() > 0) && (!has(self.supplementalGroups) || self.supplementalGroups.size() > 0) && self.?seLinuxOptions.user.orValue('-') != '' && self.?seLinuxOptions.role.orValue('-') != '' && self.?seLinuxOptions.type.orValue('-') != '' && self.?seLinuxOptions.level.orValue('-') != ''",message="securityContext must not have an empty list or text: leave it out"
	// +optional
	SecurityContext *corev1.PodSecurityContext `json:"securityContext,omitempty"`

	// volumes are added to the pod's, for volumeMounts of containers.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.size() == oldSelf.size() && self.all(v, oldSelf.exists(o, o.name == v.name))",reason="FieldValueInvalid",message="pod is immutable: create a new BenchmarkRun instead"
	// +optional
	Volumes []PodVolume `json:"volumes,omitempty"`

	// containers add to the containers of the same name: server, or a backend.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:XValidation:rule="self.size() == oldSelf.size() && self.all(c, oldSelf.exists(o, o.name == c.name))",reason="FieldValueInvalid",message="pod is immutable: create a new BenchmarkRun instead"
	// +optional
	Containers []ContainerAdditions `json:"containers,omitempty"`
}

// ContainerAdditions are merged into a container.
//
// +kubebuilder:validation:XValidation:rule="[self.?env] == [oldSelf.?env] && [self.?securityContext] == [oldSelf.?securityContext] && has(self.volumeMounts) == has(oldSelf.volumeMounts)",reason="FieldValueInvalid",message="pod is immutable: create a new BenchmarkRun instead"
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
	// +kubebuilder:validation:XValidation:rule="self.size() == oldSelf.size() && self.all(m, oldSelf.exists(o, [o.mountPath] == [m.mountPath]))",reason="FieldValueInvalid",message="pod is immutable: create a new BenchmarkRun instead"
	// +kubebuilder:validation:items:XValidation:rule="self.mountPath.startsWith('/') && self.mountPath != '/'",message="mountPath must be an absolute path such as /etc/server"
	// +kubebuilder:validation:items:XValidation:rule="self.?subPath.orValue('-') != '' && self.?subPathExpr.orValue('-') != '' && (!has(self.bindMountOptions) || self.bindMountOptions.size() > 0)",message="volumeMounts must not have an empty list or text: leave it out"
	// +kubebuilder:validation:items:XValidation:rule="self.?readOnly.orValue(false) == oldSelf.?readOnly.orValue(false) && [optional.of(self.name), self.?subPath, self.?subPathExpr, self.?mountPropagation, self.?recursiveReadOnly] == [optional.of(oldSelf.name), oldSelf.?subPath, oldSelf.?subPathExpr, oldSelf.?mountPropagation, oldSelf.?recursiveReadOnly] && [self.?bindMountOptions] == [oldSelf.?bindMountOptions]",reason="FieldValueInvalid",message="pod is immutable: create a new BenchmarkRun instead"
	// +optional
	VolumeMounts []corev1.VolumeMount `json:"volumeMounts,omitempty"`

	// securityContext is the container's.
	// +kubebuilder:validation:XValidation:rule="(!has(self.capabilities) || (!has(self.capabilities.add) || self.capabilities.add.size() > 0) && (!has(self.capabilities.drop) || self.capabilities.drop.size() > 0)) && self.?seLinuxOptions.user.orValue('-') != '' && self.?seLinuxOptions.role.orValue('-') != '' && self.?seLinuxOptions.type.orValue('-') != '' && self.?seLinuxOptions.level.orValue('-') != ''",message="securityContext must not have an empty list or text: leave it out"
	// +optional
	SecurityContext *corev1.SecurityContext `json:"securityContext,omitempty"`
}

// PodVolume is a volume of the target's pod.
//
// +kubebuilder:validation:XValidation:rule="[has(self.configMap), has(self.secret), has(self.emptyDir), has(self.persistentVolumeClaim)].exists_one(x, x)",message="a volume must have exactly one of configMap, secret, emptyDir and persistentVolumeClaim"
// +kubebuilder:validation:XValidation:rule="(!has(self.configMap) || has(self.configMap.name) && self.configMap.name.size() > 0) && (!has(self.secret) || has(self.secret.secretName) && self.secret.secretName.size() > 0) && (!has(self.persistentVolumeClaim) || self.persistentVolumeClaim.claimName.size() > 0)",message="a volume must name its ConfigMap (name), Secret (secretName) or claim (claimName)"
// +kubebuilder:validation:XValidation:rule="(!has(self.configMap) || !has(self.configMap.items) || self.configMap.items.size() > 0) && (!has(self.secret) || !has(self.secret.items) || self.secret.items.size() > 0)",message="items must not be empty: leave it out"
// +kubebuilder:validation:XValidation:rule="[self.?configMap] == [oldSelf.?configMap] && [self.?secret] == [oldSelf.?secret] && [self.?emptyDir] == [oldSelf.?emptyDir] && [self.?persistentVolumeClaim.claimName] == [oldSelf.?persistentVolumeClaim.claimName] && self.?persistentVolumeClaim.readOnly.orValue(false) == oldSelf.?persistentVolumeClaim.readOnly.orValue(false)",reason="FieldValueInvalid",message="pod is immutable: create a new BenchmarkRun instead"
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
