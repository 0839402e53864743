package v1alpha1

// AbortStatus is the threshold of a script with abortOnFail that ended the load: the metrics of all clients together
// crossed it.
type AbortStatus struct {
	// metric has its tags, such as "http_req_duration{name:cart}".
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +required
	Metric string `json:"metric,omitempty"`
	// threshold is the expression, such as "p(95)<200".
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +required
	Threshold string `json:"threshold,omitempty"`
	// actual is the value that crossed it, such as "312.4 ms".
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +required
	Actual string `json:"actual,omitempty"`
	// endSeconds is the end of the load in seconds from the measurement's start. The manager decided when it knew the
	// metrics.
	// +required
	EndSeconds *int64 `json:"endSeconds,omitempty"`
}
