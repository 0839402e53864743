package v1alpha1

// SteadyState says when the target counts as warmed up: when the metrics of the
// last few windows, taken over all clients, lie close together.
//
// +kubebuilder:validation:XValidation:rule="self.timeoutSeconds >= self.windows * self.windowSeconds",fieldPath=".timeoutSeconds",message="timeoutSeconds must be at least windows times windowSeconds: so long it takes until they can be compared"
type SteadyState struct {
	// windowSeconds is the length of a window, in seconds. Each must have at least 100 successful
	// requests: fewer have no 99th percentile of their own. Defaults to 5.
	// +default=5
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=60
	// +optional
	WindowSeconds *int32 `json:"windowSeconds,omitempty"`

	// windows is the number of windows that are compared, the last ones. Defaults to 3.
	// +default=3
	// +kubebuilder:validation:Minimum=2
	// +kubebuilder:validation:Maximum=10
	// +optional
	Windows *int32 `json:"windows,omitempty"`

	// throughputPercent is by how much the largest and the smallest number of successful requests
	// may differ between these windows, in percent of their mean. Defaults to 5.
	// +default=5
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	// +optional
	ThroughputPercent *int32 `json:"throughputPercent,omitempty"`

	// p99Percent is by how much the largest and the smallest 99th percentile of the total time of a
	// request may differ between them, in percent of their mean. Defaults to 25.
	// +default=25
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	// +optional
	P99Percent *int32 `json:"p99Percent,omitempty"`

	// timeoutSeconds is the timeout of the warm-up, in seconds. The measurement then begins all the
	// same, and the result has the finding WarmupNotSteady. Defaults to 300.
	// +default=300
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	// +optional
	TimeoutSeconds *int32 `json:"timeoutSeconds,omitempty"`
}

// WarmupStatus is the outcome of a warm-up until the target is steady.
type WarmupStatus struct {
	// steady is Reached when the target became steady, NotReached when the warm-up reached its
	// timeout.
	// +required
	Steady SteadyOutcome `json:"steady,omitempty"`

	// windows are the last that were compared, in their order.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	// +optional
	Windows []WarmupWindow `json:"windows,omitempty"`
}

// SteadyOutcome says whether a target became steady.
//
// +kubebuilder:validation:Enum=Reached;NotReached
type SteadyOutcome string

// The values of SteadyOutcome.
const (
	SteadyReached    SteadyOutcome = "Reached"
	SteadyNotReached SteadyOutcome = "NotReached"
)

// WarmupWindow is the metrics of one window of a warm-up, over all clients.
type WarmupWindow struct {
	// startSeconds is the start of the window, in seconds from the warm-up's start.
	// +required
	StartSeconds *int64 `json:"startSeconds,omitempty"`
	// succeeded is the number of successful requests in it.
	// +required
	Succeeded *int64 `json:"succeeded,omitempty"`
	// p99Microseconds is the 99th percentile of their total time, in microseconds.
	// +required
	P99Microseconds *int64 `json:"p99Microseconds,omitempty"`
}
