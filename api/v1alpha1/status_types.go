package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BenchmarkRunStatus reports the progress, verdict and result of a run.
//
// +kubebuilder:validation:MinProperties=1
type BenchmarkRunStatus struct {
	// conditions are Admitted, TargetReady, ClientsReady, Finished, Succeeded,
	// Valid, ThresholdsMet, Reconciling and Stalled. Finished becomes True in every
	// terminal state. The reason of Succeeded is the state of the run.
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that this status is about. It
	// is -1 until the operator has seen the run.
	// +kubebuilder:validation:Minimum=-1
	// +optional
	ObservedGeneration *int64 `json:"observedGeneration,omitempty"`

	// verdict is the outcome of a finished run in one word, for pipelines: Error without a result (Succeeded is False),
	// else Invalid (Valid is False), else Failed when it misses a threshold (ThresholdsMet is False), else Passed. It is not
	// set while the run is active.
	// +optional
	Verdict Verdict `json:"verdict,omitempty"`

	// admissionTime is the time at which the run was admitted to its lane (its queue).
	// +optional
	AdmissionTime *metav1.Time `json:"admissionTime,omitempty"`

	// measurementTime is the common start time of the clients' measurement.
	// +optional
	MeasurementTime *metav1.MicroTime `json:"measurementTime,omitempty"`

	// completionTime is the time at which the run finished.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// timeline has the times of the events in the course of the run, in their order. A run that was
	// suspended begins again with Queued.
	// +listType=map
	// +listMapKey=event
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Timeline []TimelineEntry `json:"timeline,omitempty"`

	// manager is the installation of the operator that serves the run: the namespace and the name of the Lease by which its
	// replicas elect a leader. Another one that is to serve the same namespace stays out.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=320
	// +optional
	Manager string `json:"manager,omitempty"`

	// children identify the pod and the Job that the manager created. A pod speaks for the run only
	// if it is this pod, or a pod of this Job.
	// +optional
	Children *ChildrenStatus `json:"children,omitempty"`

	// progress is the progress of the run's current state.
	// +optional
	Progress *Progress `json:"progress,omitempty"`

	// target describes the target that was started and measured.
	// +optional
	Target *TargetStatus `json:"target,omitempty"`

	// warmup is the outcome of a warm-up with spec.load.warmup.steady.
	// +optional
	Warmup *WarmupStatus `json:"warmup,omitempty"`

	// stop is the breaking point of spec.load.stages.stopAt that ended the load before its planned end.
	// It is omitted if none did.
	// +optional
	Stop *StopStatus `json:"stop,omitempty"`

	// abort is the threshold of the script with abortOnFail that ended the load of all clients before its end. It is
	// omitted if none did.
	// +optional
	Abort *AbortStatus `json:"abort,omitempty"`

	// clients are the metrics of the first 32 clients. The artifact has those of all.
	// +listType=map
	// +listMapKey=index
	// +kubebuilder:validation:MaxItems=32
	// +optional
	Clients []ClientStatus `json:"clients,omitempty"`

	// result is the summary of everything measured, merged over all clients.
	// +optional
	Result *ResultStatus `json:"result,omitempty"`

	// artifact refers to the full result. It is set immediately before the result is stored.
	// +optional
	Artifact *ArtifactReference `json:"artifact,omitempty"`
}

// ChildrenStatus identifies the objects of a run whose pods speak for it.
//
// +kubebuilder:validation:MinProperties=1
type ChildrenStatus struct {
	// targetPodUID is the UID of the target's pod.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +optional
	TargetPodUID string `json:"targetPodUID,omitempty"`

	// clientJobUID is the UID of the clients' Job.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +optional
	ClientJobUID string `json:"clientJobUID,omitempty"`
}

// Verdict is the outcome of a finished run.
//
// +kubebuilder:validation:Enum=Passed;Failed;Invalid;Error
type Verdict string

// The values of Verdict.
const (
	VerdictPassed  Verdict = "Passed"
	VerdictFailed  Verdict = "Failed"
	VerdictInvalid Verdict = "Invalid"
	VerdictError   Verdict = "Error"
)

// Progress is the progress of a run's current state.
type Progress struct {
	// state is the state that these metrics are about. While the run is active it is
	// the reason of the condition Succeeded.
	// +optional
	State RunState `json:"state,omitempty"`

	// percent is the completed share of the state's load, from 0 to 100.
	// +optional
	Percent *int32 `json:"percent,omitempty"`

	// requests is the number of completed requests in this state, over all clients.
	// +optional
	Requests *int64 `json:"requests,omitempty"`

	// errors is the number of requests that failed in this state, over all clients.
	// +optional
	Errors *int64 `json:"errors,omitempty"`

	// requestsPerSecond is the rate of the last full seconds, over all clients.
	// +optional
	RequestsPerSecond Rate `json:"requestsPerSecond,omitempty"`

	// remainingSeconds is an estimate of how long the state will still last, in seconds.
	// +optional
	RemainingSeconds *int64 `json:"remainingSeconds,omitempty"`

	// window has the metrics of the last seconds of the measurement, while that lasts. It is written every
	// few seconds, and begins where the one before it ended.
	// +optional
	Window *ProgressWindow `json:"window,omitempty"`
}

// ProgressWindow has the metrics of full seconds of a measurement that all clients have sent.
type ProgressWindow struct {
	// second is the first second of the window since the start of the measurement.
	// +optional
	Second *int64 `json:"second,omitempty"`

	// seconds is the length of the window in seconds.
	// +optional
	Seconds *int64 `json:"seconds,omitempty"`

	// requests is the number of completed requests, over all clients.
	// +optional
	Requests *int64 `json:"requests,omitempty"`

	// errors is the number of requests that failed.
	// +optional
	Errors *int64 `json:"errors,omitempty"`

	// p50Microseconds is the median of the total times of successful requests over all clients, in microseconds. It is
	// omitted if no request succeeded.
	// +optional
	P50Microseconds *int64 `json:"p50Microseconds,omitempty"`

	// p99Microseconds is their 99th percentile, in microseconds.
	// +optional
	P99Microseconds *int64 `json:"p99Microseconds,omitempty"`

	// targetCPUPercent is the CPU time of the server's container in percent of its CPU limit. It is omitted if it is
	// unknown, as of a target that Assay doesn't start.
	// +optional
	TargetCPUPercent *int32 `json:"targetCPUPercent,omitempty"`

	// clientCPUPercent is the CPU time of all clients in percent of the sum of their CPU limits.
	// +optional
	ClientCPUPercent *int32 `json:"clientCPUPercent,omitempty"`
}

// RunState is a state of a run: a reason of the condition Succeeded while it is
// Unknown, or Finished.
//
// +kubebuilder:validation:Enum=Queued;Suspended;Starting;SettingUp;WarmingUp;Measuring;TearingDown;Collecting;Finished
type RunState string

// StateFinished is the state of a run that has ended.
const StateFinished RunState = "Finished"

// ClientStatus is the metrics of one client.
type ClientStatus struct {
	// index is the client's number, from 0 to replicas-1.
	// +required
	Index *int32 `json:"index,omitempty"`

	// node is the name of the node that the client ran on.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Node string `json:"node,omitempty"`

	// requests is the number of completed requests, successful or not.
	// +optional
	Requests *int64 `json:"requests,omitempty"`

	// errors is the number of requests that failed.
	// +optional
	Errors *int64 `json:"errors,omitempty"`

	// requestsPerSecond is the number of successful requests, divided by the time that this client
	// measured.
	// +optional
	RequestsPerSecond Rate `json:"requestsPerSecond,omitempty"`

	// cpuPercent is the client's CPU time in percent of its CPU limit.
	// +optional
	CPUPercent *int32 `json:"cpuPercent,omitempty"`

	// startSkewMicroseconds is the time from the common start time to the client's first
	// request.
	// +optional
	StartSkewMicroseconds *int64 `json:"startSkewMicroseconds,omitempty"`
}

// ArtifactReference says where the full result is kept, and what it is.
//
// +kubebuilder:validation:ExactlyOneOf=configMap
type ArtifactReference struct {
	// configMap is a ConfigMap in the run's namespace that holds the result.
	// +optional
	ConfigMap *ArtifactConfigMap `json:"configMap,omitempty"`

	// object is the full result in a bucket, with all histograms of clients and levels. The
	// ConfigMap has what fits. It is omitted if the namespace has no bucket, or the bucket could not be
	// reached; condition Archived says why.
	// +optional
	Object *ArtifactObject `json:"object,omitempty"`

	// sizeBytes is the size of the artifact, gzip-compressed JSON, in bytes.
	// +required
	SizeBytes *int64 `json:"sizeBytes,omitempty"`

	// sha256 is the SHA-256 of the artifact in hexadecimal.
	// +kubebuilder:validation:MinLength=64
	// +kubebuilder:validation:MaxLength=64
	// +required
	SHA256 string `json:"sha256,omitempty"`
}

// ArtifactObject is an object in a bucket that holds a full result.
type ArtifactObject struct {
	// bucket is the URL by which the bucket is found, without credentials.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +required
	Bucket string `json:"bucket,omitempty"`

	// key is the object's key, after the prefix in the bucket's URL.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +required
	Key string `json:"key,omitempty"`

	// sizeBytes is the object's size, gzip-compressed JSON, in bytes.
	// +required
	SizeBytes *int64 `json:"sizeBytes,omitempty"`

	// sha256 is the SHA-256 of the object in hexadecimal.
	// +kubebuilder:validation:MinLength=64
	// +kubebuilder:validation:MaxLength=64
	// +required
	SHA256 string `json:"sha256,omitempty"`
}

// ArtifactConfigMap is a ConfigMap that holds a result.
type ArtifactConfigMap struct {
	// name is the ConfigMap's name.
	// +required
	Name ConfigMapName `json:"name,omitempty"`

	// key is the key of its binaryData that holds the result.
	// +required
	Key DataKey `json:"key,omitempty"`
}
