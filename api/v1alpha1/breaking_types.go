package v1alpha1

// StopAt says at which breaking points a load with stages ends before its planned end: at the first that is
// reached, in a level or in a step between levels. The bounds are also those of the breaking points in the
// result.
//
// +kubebuilder:validation:MinProperties=1
type StopAt struct {
	// cpuPercent ends the load when the CPU usage is above this percentage for 3 seconds: of the server
	// or a backend in percent of its own CPU limit, or of all of them in percent of target.sharedCPU or
	// else of the sum of their limits. If not set, no CPU usage ends the load, and the breaking points are those of 90.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=99
	// +optional
	CPUPercent *int32 `json:"cpuPercent,omitempty"`

	// failedRequests ends the load when this many requests have failed: 1 for the first. If not
	// set, it doesn't end the load; the result then has the breaking point of 1.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000000
	// +optional
	FailedRequests *int64 `json:"failedRequests,omitempty"`

	// errorPercent ends the load when at least this percentage of the requests of a second fails, or of
	// the last 100 requests if the second has fewer. If not set, it doesn't end the load; the result
	// then has the breaking point of 5.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	// +optional
	ErrorPercent *int32 `json:"errorPercent,omitempty"`

	// latencyP99 ends the load when the 99th percentile of the total time of successful requests is above
	// this duration, such as 500ms, in each of 3 seconds. If not set, it doesn't end the load; the
	// result then has the breaking point of the upper bound of the threshold LatencyP99, if there is
	// one.
	// +kubebuilder:validation:Pattern=`^[0-9]{1,9}([.][0-9]{1,6})?(us|ms|s)$`
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0.]*[1-9]')",reason="FieldValueInvalid",message="latencyP99 must be greater than zero"
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=24
	// +optional
	LatencyP99 string `json:"latencyP99,omitempty"`

	// throughputGainPercent ends the load when the throughput no longer rises: when 20% more load raises
	// it by less than this percentage. If not set, it doesn't end the load; the result then has the
	// breaking point of 5.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=19
	// +optional
	ThroughputGainPercent *int32 `json:"throughputGainPercent,omitempty"`
}

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
	// kind is CPU (of a container of the target, in percent of its limit), PodCPU (of all containers, in
	// percent of target.sharedCPU or else of the sum of their limits), FailedRequests (since the start), ErrorRate, LatencyP99
	// or Throughput (which no longer rises).
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
	// actual is the figure when it was first met, such as "93.4%".
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
