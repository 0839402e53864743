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

// TopologySpreadConstraint says how the run's clients are spread over the values of a label of nodes.
type TopologySpreadConstraint struct {
	// topologyKey is the label, such as topology.kubernetes.io/zone.
	// +required
	TopologyKey LabelKey `json:"topologyKey,omitempty"`

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

// Affinity draws a pod to nodes, or keeps it from nodes and from other pods. Its fields are those of Kubernetes' own.
type Affinity struct {
	// nodeAffinity is about the labels of nodes.
	// +optional
	NodeAffinity *NodeAffinity `json:"nodeAffinity,omitempty"`

	// podAntiAffinity keeps the pod apart from others, such as those that would disturb it.
	// +optional
	PodAntiAffinity *PodAntiAffinity `json:"podAntiAffinity,omitempty"`
}

// NodeAffinity is about the labels of nodes.
type NodeAffinity struct {
	// requiredDuringSchedulingIgnoredDuringExecution says which labels the node must have.
	// +optional
	Required *NodeSelector `json:"requiredDuringSchedulingIgnoredDuringExecution,omitempty"`

	// preferredDuringSchedulingIgnoredDuringExecution says which labels the node should have.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +optional
	Preferred []PreferredSchedulingTerm `json:"preferredDuringSchedulingIgnoredDuringExecution,omitempty"`
}

// NodeSelector has terms of which one must be met.
type NodeSelector struct {
	// nodeSelectorTerms are the terms. One of them must be met.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +required
	NodeSelectorTerms []NodeSelectorTerm `json:"nodeSelectorTerms,omitempty"`
}

// PreferredSchedulingTerm is a term that a node should meet.
type PreferredSchedulingTerm struct {
	// weight is the term's weight.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	// +required
	Weight int32 `json:"weight,omitempty"`

	// preference is the term.
	// +required
	Preference NodeSelectorTerm `json:"preference,omitempty,omitzero"`
}

// NodeSelectorTerm has requirements of which all must be met.
type NodeSelectorTerm struct {
	// matchExpressions are the requirements. All of them must be met.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +required
	MatchExpressions []NodeSelectorRequirement `json:"matchExpressions,omitempty"`
}

// NodeSelectorRequirement is a requirement of a label of nodes.
//
// +kubebuilder:validation:XValidation:rule="(self.operator in ['Exists', 'DoesNotExist']) != has(self.values)",fieldPath=".values",message="values must be set with In, NotIn, Gt and Lt, and omitted with Exists and DoesNotExist"
type NodeSelectorRequirement struct {
	// key is the label.
	// +required
	Key LabelKey `json:"key,omitempty"`

	// operator relates the label to values.
	// +kubebuilder:validation:Enum=In;NotIn;Exists;DoesNotExist;Gt;Lt
	// +required
	Operator corev1.NodeSelectorOperator `json:"operator,omitempty"`

	// values are the values that the operator needs: one number for Gt and Lt, none for Exists and DoesNotExist.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Values []LabelValue `json:"values,omitempty"`
}

// PodAntiAffinity is about other pods of the run's namespace.
type PodAntiAffinity struct {
	// requiredDuringSchedulingIgnoredDuringExecution says which pods these are. Each is a requirement.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +required
	Required []PodAffinityTerm `json:"requiredDuringSchedulingIgnoredDuringExecution,omitempty"`
}

// PodAffinityTerm selects pods of the run's namespace.
type PodAffinityTerm struct {
	// labelSelector selects the pods.
	// +required
	LabelSelector LabelSelector `json:"labelSelector,omitempty,omitzero"`

	// topologyKey is the label of nodes whose value says what is apart, such as kubernetes.io/hostname.
	// +required
	TopologyKey LabelKey `json:"topologyKey,omitempty"`
}

// LabelSelector selects objects by their labels.
type LabelSelector struct {
	// matchLabels are labels that a selected object has.
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.matches('^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$') && self[k].size() < 64)",message="matchLabels must have labels such as example.org/team, with values of at most 63 characters"
	// +required
	MatchLabels map[string]string `json:"matchLabels,omitempty"`
}
