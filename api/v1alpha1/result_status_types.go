package v1alpha1

// ResultStatus is the summary of a result.
type ResultStatus struct {
	// requests is the number of completed requests, successful or not.
	// +optional
	Requests *int64 `json:"requests,omitempty"`

	// errors are the requests that failed.
	// +optional
	Errors *ErrorCounts `json:"errors,omitempty"`

	// requestsPerSecond is the number of successful requests, divided by the time from the first
	// client's start to the last client's end.
	// +optional
	RequestsPerSecond Rate `json:"requestsPerSecond,omitempty"`

	// arrivals compares the rate of an open load with its target rate. It is omitted for other loads.
	// +optional
	Arrivals *ArrivalsStatus `json:"arrivals,omitempty"`

	// durationMicroseconds is the time from the first client's start to the last client's end.
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

	// keepAliveRequests is the number of requests that were sent on a reused connection.
	// +optional
	KeepAliveRequests *int64 `json:"keepAliveRequests,omitempty"`

	// tlsResumedConnections is the number of connections whose TLS handshake
	// resumed an earlier session.
	// +optional
	TLSResumedConnections *int64 `json:"tlsResumedConnections,omitempty"`

	// latency is the time of successful requests, by phase.
	// +optional
	Latency *PhaseLatencies `json:"latency,omitempty"`

	// target is the server's usage during the measurement.
	// +optional
	Target *TargetUsage `json:"target,omitempty"`

	// breakingPoints are the breaking points of the target that a load with stages reached. Those that it
	// didn't reach are only in the artifact.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +optional
	BreakingPoints []BreakingPoint `json:"breakingPoints,omitempty"`

	// cpuPerRequest is the CPU time per completed request. If both metrics are higher than in another
	// run, the machine was slower.
	// +optional
	CPUPerRequest *CPUPerRequest `json:"cpuPerRequest,omitempty"`
}

// CPUPerRequest is CPU time per completed request in microseconds, with two decimals.
type CPUPerRequest struct {
	// targetMicroseconds is that of all containers of the target. It is omitted if the usage of one
	// is unknown.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +optional
	TargetMicroseconds string `json:"targetMicroseconds,omitempty"`
	// clientsMicroseconds is that of all clients.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +optional
	ClientsMicroseconds string `json:"clientsMicroseconds,omitempty"`
}

// ArrivalsStatus compares the rate of an open load with its target rate.
type ArrivalsStatus struct {
	// targetRatePerSecond is the rate at which requests were to start, over all
	// clients, on average.
	// +optional
	TargetRatePerSecond Rate `json:"targetRatePerSecond,omitempty"`
	// achievedPerSecond is the rate at which they started.
	// +optional
	AchievedPerSecond Rate `json:"achievedPerSecond,omitempty"`
	// dropped is the number of requests that weren't made, because no connection was free within
	// client.timeoutSeconds.
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
	// timeout counts requests that took longer than client.timeoutSeconds.
	// +optional
	Timeout *int64 `json:"timeout,omitempty"`
	// receive counts connections that failed during a request or its response.
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
	// tls is the time of the TLS handshake, of requests that opened a connection with TLS.
	// +optional
	TLS *Latency `json:"tls,omitempty"`
	// waiting is the time from the request sent to the first byte of the response.
	// +optional
	Waiting *Latency `json:"waiting,omitempty"`
	// receiving is the time from the first byte to the last of the response.
	// +optional
	Receiving *Latency `json:"receiving,omitempty"`
	// total is the time of the whole request, opening of its connection included. Under open load
	// it is from the intended start time.
	// +optional
	Total *Latency `json:"total,omitempty"`
	// delay is the time from the intended to the actual start of a request of open load.
	// +optional
	Delay *Latency `json:"delay,omitempty"`
	// service is the time of a request of open load from its actual start.
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

// TargetUsage is a server's usage during the measurement.
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
