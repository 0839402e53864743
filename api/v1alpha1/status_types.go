package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BenchmarkRunStatus is what was observed of a run.
//
// +kubebuilder:validation:MinProperties=1
type BenchmarkRunStatus struct {
	// conditions are Admitted, TargetReady, ClientsReady, Finished, Succeeded,
	// Valid and ThresholdsMet. Finished becomes True in every terminal state. The
	// reason of Succeeded is the state of the run.
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that this status is about.
	// +kubebuilder:validation:Minimum=1
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// admissionTime is when the run was given its lane.
	// +optional
	AdmissionTime *metav1.Time `json:"admissionTime,omitempty"`

	// measurementTime is the instant at which all clients were told to begin
	// measuring.
	// +optional
	MeasurementTime *metav1.MicroTime `json:"measurementTime,omitempty"`

	// completionTime is when the run finished.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// progress is how far the run is.
	// +optional
	Progress *Progress `json:"progress,omitempty"`

	// target is what was really started and measured.
	// +optional
	Target *TargetStatus `json:"target,omitempty"`

	// warmup is how a warm-up with spec.warmup.steady ended. Left out before that,
	// and for others.
	// +optional
	Warmup *WarmupStatus `json:"warmup,omitempty"`

	// clients are the figures of each client.
	// +listType=map
	// +listMapKey=index
	// +kubebuilder:validation:MaxItems=1000
	// +optional
	Clients []ClientStatus `json:"clients,omitempty"`

	// result is the summary of everything measured, merged over all clients.
	// +optional
	Result *ResultStatus `json:"result,omitempty"`

	// artifact is where the full result is kept.
	// +optional
	Artifact *ArtifactReference `json:"artifact,omitempty"`
}

// Progress is how far a run is.
type Progress struct {
	// stage is Queued, Suspended, Starting, WarmingUp, Measuring, Collecting or
	// Finished.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +optional
	Stage string `json:"stage,omitempty"`

	// percent is how much of the stage's load is done, from 0 to 100.
	// +optional
	Percent *int32 `json:"percent,omitempty"`

	// requests is the number of requests that ended in this stage, over all
	// clients.
	// +optional
	Requests *int64 `json:"requests,omitempty"`

	// errors is the number of requests that failed in this stage, over all
	// clients.
	// +optional
	Errors *int64 `json:"errors,omitempty"`

	// requestsPerSecond is the rate of the last whole seconds, over all clients.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +optional
	RequestsPerSecond string `json:"requestsPerSecond,omitempty"`

	// remainingSeconds is an estimate of how long the stage will still take.
	// +optional
	RemainingSeconds *int64 `json:"remainingSeconds,omitempty"`
}

// ClientStatus is the figures of one client.
type ClientStatus struct {
	// index is the client's number, from 0 to replicas-1.
	// +required
	Index *int32 `json:"index,omitempty"`

	// node is the name of the node that the client ran on.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Node string `json:"node,omitempty"`

	// requests is the number of requests that ended, with success or not.
	// +optional
	Requests *int64 `json:"requests,omitempty"`

	// errors is the number of requests that failed.
	// +optional
	Errors *int64 `json:"errors,omitempty"`

	// requestsPerSecond is the requests that succeeded, divided by the time that
	// this client measured.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +optional
	RequestsPerSecond string `json:"requestsPerSecond,omitempty"`

	// cpuPercent is the client's CPU time in percent of its CPU limit.
	// +optional
	CPUPercent *int32 `json:"cpuPercent,omitempty"`

	// startSkewMicroseconds is how long after the common start instant the client
	// began its first request.
	// +optional
	StartSkewMicroseconds *int64 `json:"startSkewMicroseconds,omitempty"`
}

// ResultStatus is the summary of a result.
type ResultStatus struct {
	// requests is the number of requests that ended, with success or not.
	// +optional
	Requests *int64 `json:"requests,omitempty"`

	// errors are the requests that failed.
	// +optional
	Errors *ErrorCounts `json:"errors,omitempty"`

	// requestsPerSecond is the requests that succeeded, divided by the time from
	// the first client's start to the last client's end.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +optional
	RequestsPerSecond string `json:"requestsPerSecond,omitempty"`

	// arrivals is how well an open load kept its rate. Left out for other loads.
	// +optional
	Arrivals *ArrivalsStatus `json:"arrivals,omitempty"`

	// durationMicroseconds is the time from the first client's start to the last
	// client's end.
	// +optional
	DurationMicroseconds *int64 `json:"durationMicroseconds,omitempty"`

	// bytesReceived is the number of bytes of all responses, headers included.
	// +optional
	BytesReceived *int64 `json:"bytesReceived,omitempty"`

	// bodyBytesReceived is the number of bytes of the bodies of all responses.
	// +optional
	BodyBytesReceived *int64 `json:"bodyBytesReceived,omitempty"`

	// bytesSent is the number of bytes of all requests.
	// +optional
	BytesSent *int64 `json:"bytesSent,omitempty"`

	// keepAliveRequests is the number of requests that were sent on a connection
	// that had carried a request before.
	// +optional
	KeepAliveRequests *int64 `json:"keepAliveRequests,omitempty"`

	// tlsResumedConnections is the number of connections whose TLS handshake
	// resumed an earlier session.
	// +optional
	TLSResumedConnections *int64 `json:"tlsResumedConnections,omitempty"`

	// latency is the time that requests which succeeded took, by phase.
	// +optional
	Latency *PhaseLatencies `json:"latency,omitempty"`

	// target is what the server used while it was measured.
	// +optional
	Target *TargetUsage `json:"target,omitempty"`
}

// ArrivalsStatus is how well an open load kept its rate.
type ArrivalsStatus struct {
	// askedPerSecond is the rate at which requests were meant to start, over all
	// clients, on average.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +optional
	AskedPerSecond string `json:"askedPerSecond,omitempty"`
	// achievedPerSecond is the rate at which they started.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +optional
	AchievedPerSecond string `json:"achievedPerSecond,omitempty"`
	// dropped is the number of requests that weren't made, since no connection was
	// free for them within connection.timeoutSeconds.
	// +optional
	Dropped *int64 `json:"dropped,omitempty"`
}

// ErrorCounts are the requests that failed, by kind.
type ErrorCounts struct {
	// total is the sum of all kinds.
	// +required
	Total *int64 `json:"total,omitempty"`
	// connect counts connections that couldn't be opened.
	// +optional
	Connect *int64 `json:"connect,omitempty"`
	// tls counts connections whose TLS handshake failed.
	// +optional
	TLS *int64 `json:"tls,omitempty"`
	// timeout counts requests that took longer than connection.timeoutSeconds.
	// +optional
	Timeout *int64 `json:"timeout,omitempty"`
	// receive counts connections that broke while a request or its response was
	// under way.
	// +optional
	Receive *int64 `json:"receive,omitempty"`
	// length counts responses whose body wasn't as long as expected.
	// +optional
	Length *int64 `json:"length,omitempty"`
	// status counts responses with a status below 200 or above 399.
	// +optional
	Status *int64 `json:"status,omitempty"`
	// exception counts responses that weren't valid HTTP, and every other error.
	// +optional
	Exception *int64 `json:"exception,omitempty"`
}

// PhaseLatencies are latencies by phase of a request.
type PhaseLatencies struct {
	// connect is the time to open a connection, of requests that opened one.
	// +optional
	Connect *Latency `json:"connect,omitempty"`
	// tls is the time of the TLS handshake, of requests that opened a connection
	// with TLS.
	// +optional
	TLS *Latency `json:"tls,omitempty"`
	// waiting is the time from the request sent to the first byte of the response.
	// +optional
	Waiting *Latency `json:"waiting,omitempty"`
	// receiving is the time from the first byte to the last of the response.
	// +optional
	Receiving *Latency `json:"receiving,omitempty"`
	// total is the time of the whole request, opening of its connection included.
	// Under open load it is from the instant at which the request was meant to
	// start.
	// +optional
	Total *Latency `json:"total,omitempty"`
	// delay is how much later than meant a request of open load started.
	// +optional
	Delay *Latency `json:"delay,omitempty"`
	// service is the time of a request of open load from its start.
	// +optional
	Service *Latency `json:"service,omitempty"`
}

// Latency is the distribution of a duration in microseconds.
type Latency struct {
	// count is the number of durations.
	// +required
	Count *int64 `json:"count,omitempty"`
	// minMicroseconds is the smallest.
	// +optional
	MinMicroseconds *int64 `json:"minMicroseconds,omitempty"`
	// meanMicroseconds is the arithmetic mean.
	// +optional
	MeanMicroseconds *int64 `json:"meanMicroseconds,omitempty"`
	// p50Microseconds is the median.
	// +optional
	P50Microseconds *int64 `json:"p50Microseconds,omitempty"`
	// p90Microseconds is the 90th percentile.
	// +optional
	P90Microseconds *int64 `json:"p90Microseconds,omitempty"`
	// p95Microseconds is the 95th percentile.
	// +optional
	P95Microseconds *int64 `json:"p95Microseconds,omitempty"`
	// p99Microseconds is the 99th percentile.
	// +optional
	P99Microseconds *int64 `json:"p99Microseconds,omitempty"`
	// p999Microseconds is the 99.9th percentile.
	// +optional
	P999Microseconds *int64 `json:"p999Microseconds,omitempty"`
	// p9999Microseconds is the 99.99th percentile.
	// +optional
	P9999Microseconds *int64 `json:"p9999Microseconds,omitempty"`
	// maxMicroseconds is the largest.
	// +optional
	MaxMicroseconds *int64 `json:"maxMicroseconds,omitempty"`
}

// TargetUsage is what the server used while it was measured.
type TargetUsage struct {
	// cpuPercent is the mean CPU time in percent of the CPU limit.
	// +optional
	CPUPercent *int32 `json:"cpuPercent,omitempty"`
	// userCPUMicroseconds is the CPU time spent in the server's own code.
	// +optional
	UserCPUMicroseconds *int64 `json:"userCPUMicroseconds,omitempty"`
	// systemCPUMicroseconds is the CPU time spent in the kernel for the server.
	// +optional
	SystemCPUMicroseconds *int64 `json:"systemCPUMicroseconds,omitempty"`
	// maxResidentBytes is the largest resident set since the server's start.
	// +optional
	MaxResidentBytes *int64 `json:"maxResidentBytes,omitempty"`
}

// ArtifactReference says where the full result is kept.
type ArtifactReference struct {
	// configMap is the name of a ConfigMap in the run's namespace. Its key
	// result.json.gz holds the result as gzip-compressed JSON.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	ConfigMap string `json:"configMap,omitempty"`
}
