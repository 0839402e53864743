package v1alpha1

import corev1 "k8s.io/api/core/v1"

// ClientPlacement says on which nodes clients run, relative to the target's.
//
// +kubebuilder:validation:Enum=Apart;Prefer;Together
type ClientPlacement string

// The values of ClientPlacement.
const (
	// PlacementApart: clients run on other nodes only.
	PlacementApart ClientPlacement = "Apart"
	// PlacementPrefer: clients run on other nodes if there is room.
	PlacementPrefer ClientPlacement = "Prefer"
	// PlacementTogether: clients run on the target's node only.
	PlacementTogether ClientPlacement = "Together"
)

// NodeConstraints say on which nodes a pod may run.
type NodeConstraints struct {
	// nodeSelector has the labels that the pod's node must have.
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.matches('^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$') && self[k].size() < 64)",message="nodeSelector must have labels such as example.org/disk, with values of at most 63 characters"
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// tolerations are taints of nodes that the pod tolerates.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +optional
	Tolerations []Toleration `json:"tolerations,omitempty"`
}

// Toleration is a taint of nodes that a pod tolerates. Its fields are those of Kubernetes' own.
type Toleration struct {
	// key is the taint's key. If not set, the operator must be Exists, and all taints are tolerated.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:XValidation:rule="self.matches('^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$')",message="key must be the key of a taint such as example.org/disk"
	// +optional
	Key string `json:"key,omitempty"`

	// operator is Equal, for the taint with this value, or Exists, for one with any. Defaults to Equal.
	// +kubebuilder:validation:Enum=Exists;Equal
	// +optional
	Operator corev1.TolerationOperator `json:"operator,omitempty"`

	// value is the taint's value.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$')",message="value must be the value of a taint: letters, digits, '-', '_' and '.'"
	// +optional
	Value string `json:"value,omitempty"`

	// effect is the taint's effect. If not set, all are tolerated.
	// +kubebuilder:validation:Enum=NoSchedule;PreferNoSchedule;NoExecute
	// +optional
	Effect corev1.TaintEffect `json:"effect,omitempty"`
}

// ClientPodAdditions are added to the clients' pods. Like PodAdditions, they have no empty lists and texts.
type ClientPodAdditions struct {
	NodeConstraints `json:",inline"`

	// topologySpreadConstraints say how the run's clients are spread. One with a small maxSkew can
	// outweigh the placement Prefer. Defaults to nodes (kubernetes.io/hostname), if possible, with a
	// maxSkew of 10, which doesn't.
	// +listType=map
	// +listMapKey=topologyKey
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +optional
	TopologySpreadConstraints []TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`
}

// TopologySpreadConstraint says how the run's clients are spread over the values of a label of nodes.
type TopologySpreadConstraint struct {
	// topologyKey is the label, such as topology.kubernetes.io/zone.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:XValidation:rule="self.matches('^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$')",message="topologyKey must be the name of a label such as topology.kubernetes.io/zone"
	// +required
	TopologyKey string `json:"topologyKey,omitempty"`

	// maxSkew is the largest difference between the numbers of clients in two values. Defaults to 1.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	// +optional
	MaxSkew *int32 `json:"maxSkew,omitempty"`

	// whenUnsatisfiable says what becomes of a client that would exceed maxSkew: ScheduleAnyway
	// starts it all the same; DoNotSchedule lets it wait, and the run fail. Defaults to ScheduleAnyway.
	// +kubebuilder:validation:Enum=ScheduleAnyway;DoNotSchedule
	// +optional
	WhenUnsatisfiable corev1.UnsatisfiableConstraintAction `json:"whenUnsatisfiable,omitempty"`
}
