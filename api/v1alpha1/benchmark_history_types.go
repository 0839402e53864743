package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LevelChange is a change of the level of a metric between two rounds.
type LevelChange struct {
	// cell is the name of the cell.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +required
	Cell string `json:"cell,omitempty"`

	// metric is one of the gate's metrics.
	// +required
	Metric BenchmarkMetric `json:"metric,omitempty"`

	// request is the name of the request whose metric it is. It is not set for a metric of all requests.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Request string `json:"request,omitempty"`

	// round is the number of the first round of the new level.
	// +kubebuilder:validation:Minimum=1
	// +required
	Round int64 `json:"round,omitempty"`

	// percent is the difference of the new level from the one before in percent, such as "-3.2". It is not
	// set if the level before was 0.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +optional
	Percent string `json:"percent,omitempty"`
}

// AcceptanceOutcome says whether a round was accepted as the baseline.
//
// +kubebuilder:validation:Enum=Accepted;Refused
type AcceptanceOutcome string

// The values of AcceptanceOutcome.
const (
	AcceptanceAccepted AcceptanceOutcome = "Accepted"
	AcceptanceRefused  AcceptanceOutcome = "Refused"
)

// Acceptance is the outcome of a request to accept a round as the baseline.
type Acceptance struct {
	// request is the value of the annotation assay.dev/accept-round.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +required
	Request string `json:"request,omitempty"`

	// outcome says whether the round is the baseline now: Accepted or Refused.
	// +required
	Outcome AcceptanceOutcome `json:"outcome,omitempty"`

	// time is the time at which the operator decided.
	// +required
	Time metav1.Time `json:"time,omitempty,omitzero"`

	// message says which round was the baseline before, or why the request was refused.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +required
	Message string `json:"message,omitempty"`
}

// RoundReference is a completed round.
type RoundReference struct {
	// number is the round's number.
	// +kubebuilder:validation:Minimum=1
	// +required
	Number int64 `json:"number,omitempty"`

	// verdict is its verdict.
	// +required
	Verdict BenchmarkVerdict `json:"verdict,omitempty"`

	// completionTime is the time at which it ended.
	// +required
	CompletionTime metav1.Time `json:"completionTime,omitempty,omitzero"`

	// artifact refers to all metrics of its runs.
	// +optional
	Artifact *ArtifactReference `json:"artifact,omitempty"`

	// acceptanceTime is the time at which it was accepted as the baseline by hand. It is not set for others.
	// +optional
	AcceptanceTime *metav1.Time `json:"acceptanceTime,omitempty"`
}
