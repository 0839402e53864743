package v1alpha1

// Alternation makes a run part of a block: the runs of the namespace with the same block, lane and variants are
// active at the same time, and the load alternates between them in slices of one second.
//
// +kubebuilder:validation:XValidation:rule="self.variant < self.variants",fieldPath=".variant",message="variant must be less than variants"
type Alternation struct {
	// block is the name that the runs of a block share.
	// +required
	Block DNSLabel `json:"block,omitempty"`

	// variants is the number of runs of the block.
	// +kubebuilder:validation:Minimum=2
	// +kubebuilder:validation:Maximum=4
	// +required
	Variants int32 `json:"variants,omitempty"`

	// variant is the position of the run among them, from 0.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3
	// +required
	Variant *int32 `json:"variant,omitempty"`
}
