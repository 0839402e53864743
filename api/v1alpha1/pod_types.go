package v1alpha1

import corev1 "k8s.io/api/core/v1"

// PodSettings are put on a pod: the target's, or each client's. They can't change what the measurement
// depends on.
//
// A typed client drops what is empty, and a run can't change: so no list and no
// text in it may be empty.
// +kubebuilder:validation:XValidation:rule="!has(self.volumeMounts) || self.volumeMounts.all(m, has(self.volumes) && self.volumes.exists(v, v.name == m.name))",fieldPath=".volumeMounts",message="volumeMounts must name members of volumes"
// +kubebuilder:validation:XValidation:rule="[dyn(self.?priorityClassName), dyn(self.?imagePullSecrets)] == [dyn(oldSelf.?priorityClassName), dyn(oldSelf.?imagePullSecrets)]",message="priorityClassName and imagePullSecrets must not change: create a new run"
// +kubebuilder:validation:XValidation:rule="[dyn(self.?runtimeClassName), dyn(self.?securityContext), dyn(self.?env)] == [dyn(oldSelf.?runtimeClassName), dyn(oldSelf.?securityContext), dyn(oldSelf.?env)]",message="runtimeClassName, securityContext and env must not change: create a new run"
// +kubebuilder:validation:XValidation:rule="[dyn(self.?nodeSelector), dyn(self.?volumeMounts), dyn(self.?dnsConfig)] == [dyn(oldSelf.?nodeSelector), dyn(oldSelf.?volumeMounts), dyn(oldSelf.?dnsConfig)]",message="nodeSelector, volumeMounts and dnsConfig must not change: create a new run"
// +kubebuilder:validation:XValidation:rule="[dyn(self.?annotations), dyn(self.?tolerations), dyn(self.?hostAliases)] == [dyn(oldSelf.?annotations), dyn(oldSelf.?tolerations), dyn(oldSelf.?hostAliases)]",message="annotations, tolerations and hostAliases must not change: create a new run"
// +kubebuilder:validation:XValidation:rule="[dyn(self.?affinity), dyn(self.?volumes), dyn(self.?labels)] == [dyn(oldSelf.?affinity), dyn(oldSelf.?volumes), dyn(oldSelf.?labels)]",message="affinity, volumes and labels must not change: create a new run"
type PodSettings struct {
	// labels are added to the pod's.
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('assay.dev/') && !k.contains('.assay.dev/') && k != 'app.kubernetes.io/managed-by')",message="labels of assay.dev and app.kubernetes.io/managed-by are Assay's own: omit them"
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.matches('^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$') && self[k].size() < 64)",message="labels must have names such as example.org/team, with values of at most 63 characters"
	// +optional
	Labels map[string]string `json:"labels,omitempty"`

	// annotations are added to the pod's.
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('assay.dev/') && !k.contains('.assay.dev/'))",message="annotations of assay.dev are Assay's own: omit them"
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.matches('^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$'))",message="annotations must have names such as example.org/team"
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`

	// env are environment variables of the server, or of the client.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +optional
	Env []EnvironmentVariable `json:"env,omitempty"`

	// volumes are added to the pod's, for volumeMounts.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Volumes []PodVolume `json:"volumes,omitempty"`

	// volumeMounts mount members of volumes into the container of the server, or of the client.
	// +listType=map
	// +listMapKey=mountPath
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +optional
	VolumeMounts []VolumeMount `json:"volumeMounts,omitempty"`

	// nodeSelector has the labels that the pod's node must have.
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.matches('^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$') && self[k].size() < 64)",message="nodeSelector must have labels such as example.org/disk, with values of at most 63 characters"
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// affinity draws the pod to nodes, or keeps it from nodes and from other pods. For clients it applies
	// in addition to placement.
	// +optional
	Affinity *Affinity `json:"affinity,omitempty"`

	// tolerations are taints of nodes that the pod tolerates.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +optional
	Tolerations []Toleration `json:"tolerations,omitempty"`

	// priorityClassName is the pod's priority class.
	// +optional
	PriorityClassName ObjectName `json:"priorityClassName,omitempty"`

	// runtimeClassName is the pod's runtime class.
	// +optional
	RuntimeClassName ObjectName `json:"runtimeClassName,omitempty"`

	// imagePullSecrets names Secrets of the run's namespace that hold the
	// credentials for pulling the pod's images.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +optional
	ImagePullSecrets []PullSecret `json:"imagePullSecrets,omitempty"`

	// hostAliases are added to the pod's /etc/hosts.
	// +listType=map
	// +listMapKey=ip
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +optional
	HostAliases []HostAlias `json:"hostAliases,omitempty"`

	// dnsConfig is added to the pod's configuration of the resolver.
	// +optional
	DNSConfig *DNSConfig `json:"dnsConfig,omitempty"`

	// securityContext says as whom the pod's processes run, and what they may do.
	// +optional
	SecurityContext *SecurityContext `json:"securityContext,omitempty"`
}

// HostAlias names an address in /etc/hosts.
type HostAlias struct {
	// ip is the address.
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=45
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9A-Fa-f]*[.:][0-9A-Fa-f.:]+$')",message="ip must be an IPv4 or IPv6 address"
	// +required
	IP string `json:"ip,omitempty"`

	// hostnames are the names of the address.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +required
	Hostnames []DNSName `json:"hostnames,omitempty"`
}

// DNSConfig is added to what the pod's resolver has from the cluster. Its fields are those of Kubernetes' own.
type DNSConfig struct {
	// nameservers are addresses of further name servers.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=3
	// +kubebuilder:validation:items:MinLength=2
	// +kubebuilder:validation:items:MaxLength=45
	// +kubebuilder:validation:items:XValidation:rule="self.matches('^[0-9a-fA-F:.]+$')",message="must be an IP address"
	// +optional
	Nameservers []string `json:"nameservers,omitempty"`

	// searches are further domains in which names without dots are looked up.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +optional
	Searches []DNSName `json:"searches,omitempty"`

	// options are the resolver's, such as ndots.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Options []DNSOption `json:"options,omitempty"`
}

// DNSOption is an option of a resolver.
type DNSOption struct {
	// name is the option's name.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9][a-z0-9-]*$')",message="name must be the name of an option such as ndots"
	// +required
	Name string `json:"name,omitempty"`

	// value is its value, for an option that has one.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9.:-]+$')",message="value must have letters, digits and .:- only"
	// +optional
	Value string `json:"value,omitempty"`
}

// SecurityContext has the fields of Kubernetes' own, of pods and of containers, that a benchmark may
// need. Users, groups, seccompProfile and sysctls are the pod's, the rest is that of the container of the server or the client.
type SecurityContext struct {
	ContainerSecurityContext `json:",inline"`

	// fsGroup is the group that owns the pod's volumes.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	// +optional
	FSGroup *int64 `json:"fsGroup,omitempty"`

	// supplementalGroups are further groups of the containers' processes.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:Minimum=0
	// +kubebuilder:validation:items:Maximum=2147483647
	// +optional
	SupplementalGroups []int64 `json:"supplementalGroups,omitempty"`

	// sysctls are settings of the kernel for this pod, such as net.ipv4.ip_local_port_range: those that
	// the Pod Security Standards allow.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +optional
	Sysctls []Sysctl `json:"sysctls,omitempty"`
}

// Sysctl is a setting of the kernel.
type Sysctl struct {
	// name is the setting's name.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-_a-z0-9]*[a-z0-9])?([./][a-z0-9]([-_a-z0-9]*[a-z0-9])?)*$')",message="name must be the name of a setting such as net.ipv4.tcp_fin_timeout"
	// +required
	Name string `json:"name,omitempty"`

	// value is its value.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9]([A-Za-z0-9 ._-]*[A-Za-z0-9])?$')",message="value must have letters, digits, spaces and ._- only"
	// +required
	Value string `json:"value,omitempty"`
}

// ContainerSecurityContext has the fields of Kubernetes' own that a benchmark may need.
type ContainerSecurityContext struct {
	UserIdentity `json:",inline"`

	// allowPrivilegeEscalation says whether a process may get more privileges than its parent.
	// +optional
	AllowPrivilegeEscalation *bool `json:"allowPrivilegeEscalation,omitempty"`

	// readOnlyRootFilesystem mounts the container's root read-only.
	// +optional
	ReadOnlyRootFilesystem *bool `json:"readOnlyRootFilesystem,omitempty"`

	// capabilities are added and dropped. podSecurity limits which may be added.
	// +optional
	Capabilities *Capabilities `json:"capabilities,omitempty"`
}

// UserIdentity says as whom processes run, and which system calls they may make.
type UserIdentity struct {
	// runAsUser is the user's number.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	// +optional
	RunAsUser *int64 `json:"runAsUser,omitempty"`

	// runAsGroup is the group's number.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	// +optional
	RunAsGroup *int64 `json:"runAsGroup,omitempty"`

	// runAsNonRoot keeps a process of root from starting.
	// +optional
	RunAsNonRoot *bool `json:"runAsNonRoot,omitempty"`

	// seccompProfile says which system calls processes may make.
	// +optional
	SeccompProfile *SeccompProfile `json:"seccompProfile,omitempty"`
}

// SeccompProfile says which system calls processes may make.
//
// +kubebuilder:validation:XValidation:rule="(self.type == 'Localhost') == has(self.localhostProfile)",fieldPath=".localhostProfile",message="localhostProfile must be set with the type Localhost, and with no other"
type SeccompProfile struct {
	// type is RuntimeDefault, or Localhost for a profile on the node. The Pod Security Standards forbid
	// Unconfined.
	// +kubebuilder:validation:Enum=RuntimeDefault;Localhost
	// +required
	Type corev1.SeccompProfileType `json:"type,omitempty"`

	// localhostProfile is the path of a profile below the kubelet's directory of profiles.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)*$')",message="localhostProfile must be a relative path such as profiles/server.json"
	// +optional
	LocalhostProfile string `json:"localhostProfile,omitempty"`
}

// Capabilities are capabilities of Linux.
type Capabilities struct {
	// add are given to the container.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=41
	// +optional
	Add []Capability `json:"add,omitempty"`

	// drop are taken from the container.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=41
	// +optional
	Drop []Capability `json:"drop,omitempty"`
}

// Capability is a capability of Linux without CAP_ in front, or ALL.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=64
// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Z][A-Z_]*$')",message="must be the name of a capability such as NET_BIND_SERVICE"
type Capability = string
