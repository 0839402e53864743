package v1alpha1

// BreakingPointKind is a condition under which a target counts as overloaded.
//
// +kubebuilder:validation:Enum=CPU;PodCPU;FailedRequests;ErrorRate;LatencyP99;Throughput
type BreakingPointKind string

// LoadPart says in which part of a load with stages something happened.
//
// +kubebuilder:validation:Enum=Level;Step
type LoadPart string

// The values of LoadPart.
const (
	PartLevel LoadPart = "Level"
	PartStep  LoadPart = "Step"
)

// BreakingPoint is a condition under which a target counts as overloaded, and the load at which it was first
// met.
type BreakingPoint struct {
	// kind is CPU (of a container, in percent of its limit), PodCPU (of all containers, in percent of target.sharedCPU or the
	// sum of their limits), FailedRequests (since the start), ErrorRate, LatencyP99 or Throughput (which no longer rises).
	// +required
	Kind BreakingPointKind `json:"kind,omitempty"`
	// container is the container of the kind CPU: server, or the name of a backend.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Container string `json:"container,omitempty"`
	// bound is the condition, such as "above 90%".
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +required
	Bound string `json:"bound,omitempty"`
	// actual is the value when it was first met, such as "93.4%".
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +optional
	Actual string `json:"actual,omitempty"`
	// connections is the number of connections of all clients then, as planned. It is omitted for rates.
	// +optional
	Connections *int64 `json:"connections,omitempty"`
	// requestsPerSecond is the arrival rate of all clients then, as planned. It is omitted for
	// connections.
	// +optional
	RequestsPerSecond *int64 `json:"requestsPerSecond,omitempty"`
	// startSeconds is the time at which it was first met, in seconds from the measurement's start.
	// +required
	StartSeconds *int64 `json:"startSeconds,omitempty"`
	// during is Level if a level was held then, Step if the load was changing to one.
	// +optional
	During LoadPart `json:"during,omitempty"`
}

// StopStatus is the breaking point that ended a load.
type StopStatus struct {
	BreakingPoint `json:",inline"`

	// endSeconds is the end of the load in seconds from the measurement's start: no request starts
	// later. The manager decided when it knew the breaking point.
	// +required
	EndSeconds *int64 `json:"endSeconds,omitempty"`
}
