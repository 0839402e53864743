package v1alpha1

// ClosedLoad keeps a fixed number of connections busy.
//
// +kubebuilder:validation:ExactlyOneOf=connections;users
// +kubebuilder:validation:ExactlyOneOf=requestCount;durationSeconds
// +kubebuilder:validation:XValidation:rule="!has(self.requestCount) || self.requestCount >= self.?connections.orValue(0)",fieldPath=".requestCount",message="requestCount must be at least connections: each connection makes a request"
// +kubebuilder:validation:XValidation:rule="!has(self.requestCount) || self.requestCount >= self.?users.orValue(0)",fieldPath=".requestCount",message="requestCount must be at least users: each user loads a page"
// +kubebuilder:validation:XValidation:rule="!has(self.rampSeconds) || !has(self.durationSeconds) || self.rampSeconds <= self.durationSeconds",fieldPath=".rampSeconds",message="rampSeconds must be at most durationSeconds"
type ClosedLoad struct {
	// connections is the number of concurrent connections of each client.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=20000
	// +optional
	Connections int32 `json:"connections,omitempty"`

	// users is the number of concurrent users of each client, with load.pages. It replaces
	// connections.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=20000
	// +optional
	Users int32 `json:"users,omitempty"`

	// requestCount is the total number of requests that each client makes, at least as many as
	// connections. With users it is the number of pages.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000000
	// +optional
	RequestCount *int64 `json:"requestCount,omitempty"`

	// durationSeconds is the time in which requests are started, in seconds. Those under
	// way at its end are finished and counted.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	// +optional
	DurationSeconds *int32 `json:"durationSeconds,omitempty"`

	// rampSeconds is the time over which the connections begin, one after the other, in seconds. If
	// not set, or 0, all begin at once: a sudden load.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=86400
	// +optional
	RampSeconds *int32 `json:"rampSeconds,omitempty"`

	// thinkTime is the time that a connection waits after each response before its next
	// request, and a user after each page before the next. If not set, they don't wait.
	// +optional
	ThinkTime *ThinkTime `json:"thinkTime,omitempty"`
}

// ThinkTime is the time between a response and the connection's next request: fixed,
// or drawn at random for each request.
//
// +kubebuilder:validation:XValidation:rule="!has(self.maxMilliseconds) || self.maxMilliseconds >= self.minMilliseconds",fieldPath=".maxMilliseconds",message="maxMilliseconds must be at least minMilliseconds"
type ThinkTime struct {
	// minMilliseconds is the shortest think time, in milliseconds.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600000
	// +required
	MinMilliseconds int32 `json:"minMilliseconds,omitempty"`

	// maxMilliseconds is the longest think time, in milliseconds: each is drawn uniformly, from a fixed seed.
	// Defaults to minMilliseconds.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600000
	// +optional
	MaxMilliseconds *int32 `json:"maxMilliseconds,omitempty"`
}

// OpenLoad makes requests at a rate.
//
// +kubebuilder:validation:ExactlyOneOf=requestCount;durationSeconds
// +kubebuilder:validation:XValidation:rule="!has(self.ramp) || !has(self.durationSeconds) || self.ramp.seconds <= self.durationSeconds",fieldPath=".ramp.seconds",message="ramp.seconds must be at most durationSeconds"
// +kubebuilder:validation:XValidation:rule="!has(self.ramp) || !has(self.requestCount) || 2.0 * double(self.requestCount) >= (self.ramp.from + self.requestsPerSecond) * double(self.ramp.seconds)",fieldPath=".ramp.seconds",message="ramp.seconds must not be longer than the requests last"
type OpenLoad struct {
	// requestsPerSecond is the arrival rate of each client, with up to three decimals, such as 100 or 0.5.
	// +kubebuilder:validation:XValidation:rule="self > 0.0",message="must be greater than zero, such as 0.5"
	// +required
	RequestsPerSecond ArrivalRate `json:"requestsPerSecond,omitempty"` //nolint:kubeapilinter // a number in JSON

	// ramp changes the rate linearly before it stays at requestsPerSecond. If not set, the rate is
	// requestsPerSecond from the beginning.
	// +optional
	Ramp *RateRamp `json:"ramp,omitempty"`

	// interArrivalTimes are Constant, with requests at equal intervals, or Poisson, with
	// independent random intervals from a fixed seed, as those of many independent users. Defaults
	// to Constant.
	// +default="Constant"
	// +optional
	InterArrivalTimes InterArrivalTimes `json:"interArrivalTimes,omitempty"`

	// requestCount is the total number of requests that each client makes.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000000
	// +optional
	RequestCount *int64 `json:"requestCount,omitempty"`

	// durationSeconds is the time in which requests have their intended start, in seconds. Those
	// that wait for a connection or are under way at its end are finished and counted.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	// +optional
	DurationSeconds *int32 `json:"durationSeconds,omitempty"`

	// maxConnections bounds the connections of each client. They are opened as
	// they are needed. A request for which none is free waits, and is dropped when
	// it has waited for client.timeoutSeconds. Defaults to 1000.
	// +default=1000
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=20000
	// +optional
	MaxConnections *int32 `json:"maxConnections,omitempty"`
}

// RateRamp is a rate that changes linearly.
type RateRamp struct {
	// from is the requests per second at the beginning.
	// +required
	From *ArrivalRate `json:"from,omitempty"` //nolint:kubeapilinter // a number in JSON

	// seconds is the time in which the rate becomes requestsPerSecond.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	// +required
	Seconds int32 `json:"seconds,omitempty"`
}

// InterArrivalTimes says how the intervals between the requests of a rate are distributed.
//
// +kubebuilder:validation:Enum=Constant;Poisson
type InterArrivalTimes string

// The values of InterArrivalTimes.
const (
	InterArrivalConstant InterArrivalTimes = "Constant"
	InterArrivalPoisson  InterArrivalTimes = "Poisson"
)

// StagesLoad is a sequence of levels of load.
//
// +kubebuilder:validation:XValidation:rule="self.levels.all(l, has(l.connections)) || self.levels.all(l, has(l.requestsPerSecond)) || self.levels.all(l, has(l.users))",fieldPath=".levels",message="all levels must have the same of connections, requestsPerSecond and users"
// +kubebuilder:validation:XValidation:rule="!has(self.thinkTime) || !self.levels.exists(l, has(l.requestsPerSecond))",fieldPath=".thinkTime",message="thinkTime is for levels of connections and users: an arrival rate has no think time"
// +kubebuilder:validation:XValidation:rule="!has(self.interArrivalTimes) || self.levels.all(l, has(l.requestsPerSecond))",fieldPath=".interArrivalTimes",message="interArrivalTimes is for levels of requestsPerSecond"
// +kubebuilder:validation:XValidation:rule="!has(self.maxConnections) || self.levels.all(l, has(l.requestsPerSecond))",fieldPath=".maxConnections",message="maxConnections is for levels of requestsPerSecond"
type StagesLoad struct {
	// levels are run in this order. Either all have connections, as in closed, or all have
	// requestsPerSecond, as in open, or all have users, with load.pages.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	// +required
	Levels []LoadLevel `json:"levels,omitempty"`

	// stopAt are thresholds at which the load ends before its planned end: at the first that is reached,
	// in a level or in a step between levels. All but ThroughputGain have above, which the metric exceeds
	// then, ThroughputGain has below. If not set, the load ends with the last level.
	// +listType=map
	// +listMapKey=metric
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=5
	// +kubebuilder:validation:items:XValidation:rule="self.metric in ['TargetCPU', 'FailedRequests', 'ErrorRate', 'LatencyP99', 'ThroughputGain']",fieldPath=".metric",message="stopAt must have TargetCPU, FailedRequests, ErrorRate, LatencyP99 or ThroughputGain"
	// +kubebuilder:validation:items:XValidation:rule="!has(self.request)",fieldPath=".request",message="stopAt must not have request: the load ends by metrics of all requests"
	// +kubebuilder:validation:items:XValidation:rule="has(self.below) == (self.metric == 'ThroughputGain')",fieldPath=".below",message="stopAt must have below with ThroughputGain, and with no other"
	// +kubebuilder:validation:items:XValidation:rule="has(self.above) == (self.metric != 'ThroughputGain')",fieldPath=".above",message="stopAt must have above, but not with ThroughputGain"
	// +kubebuilder:validation:items:XValidation:rule="!has(self.above) || self.metric == 'FailedRequests' || self.above.matches('[1-9]')",fieldPath=".above",message="above must be greater than zero, except for FailedRequests"
	// +kubebuilder:validation:items:XValidation:rule="!has(self.below) || self.below.matches('^1?[0-9]([.][0-9]+)?%$')",fieldPath=".below",message="below must be less than 20%: a load that rises by 20% raises the throughput by no more"
	// +optional
	StopAt []Threshold `json:"stopAt,omitempty"`

	// thinkTime is as in closed.
	// +optional
	ThinkTime *ThinkTime `json:"thinkTime,omitempty"`

	// interArrivalTimes is as in open. Defaults to Constant.
	// +optional
	InterArrivalTimes InterArrivalTimes `json:"interArrivalTimes,omitempty"`

	// maxConnections is as in open. Defaults to 1000, or to fewer where
	// client.streams times 1000 would be more than 20000.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=20000
	// +optional
	MaxConnections *int32 `json:"maxConnections,omitempty"`
}

// LoadLevel is a load that is held for a time.
//
// +kubebuilder:validation:ExactlyOneOf=connections;requestsPerSecond;users
type LoadLevel struct {
	// connections is the number of concurrent connections of each client.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=20000
	// +optional
	Connections *int32 `json:"connections,omitempty"`

	// requestsPerSecond is the arrival rate of each client.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	// +optional
	RequestsPerSecond *int32 `json:"requestsPerSecond,omitempty"`

	// users is the number of concurrent users of each client, with load.pages.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=20000
	// +optional
	Users *int32 `json:"users,omitempty"`

	// rampSeconds is the time over which the load changes linearly from the level before, or from
	// nothing, to this one, in seconds. Requests that end meanwhile are in the result, but in no
	// level. If not set, or 0, the load changes at once.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=86400
	// +optional
	RampSeconds *int32 `json:"rampSeconds,omitempty"`

	// holdSeconds is the time for which the level is held and measured, in seconds.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	// +required
	HoldSeconds int32 `json:"holdSeconds,omitempty"`
}
