package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BenchmarkRun is one execution of a benchmark: it starts a target, drives it
// with clients, measures both sides and keeps the merged result.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=bench,categories=assay
// +kubebuilder:printcolumn:name="Target",type=string,JSONPath=`.spec.target.image`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.conditions[?(@.type=="Succeeded")].reason`
// +kubebuilder:printcolumn:name="Clients",type=integer,JSONPath=`.spec.clients.replicas`
// +kubebuilder:printcolumn:name="Requests/s",type=string,JSONPath=`.status.result.requestsPerSecond`
// +kubebuilder:printcolumn:name="P99 (us)",type=integer,JSONPath=`.status.result.latency.total.p99Microseconds`
// +kubebuilder:printcolumn:name="Errors",type=integer,JSONPath=`.status.result.errors.total`
// +kubebuilder:printcolumn:name="Verdict",type=string,JSONPath=`.status.verdict`
// +kubebuilder:printcolumn:name="Valid",type=string,JSONPath=`.status.conditions[?(@.type=="Valid")].status`
// +kubebuilder:printcolumn:name="Progress",type=string,priority=1,JSONPath=`.status.progress.percent`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Succeeded")].message`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z0-9]([-a-z0-9]{0,50}[a-z0-9])?$')",message="metadata.name must have at most 52 characters, lowercase letters, digits and '-' only: the names of the run's pods begin with it"
// +kubebuilder:validation:XValidation:rule="[self.spec.?load] == [oldSelf.spec.?load] && [self.spec.?script] == [oldSelf.spec.?script] && [self.spec.?thresholds] == [oldSelf.spec.?thresholds] && [self.spec.?acceptedFindings] == [oldSelf.spec.?acceptedFindings] && [self.spec.?activeDeadlineSeconds, self.spec.?clients.replicas] == [oldSelf.spec.?activeDeadlineSeconds, oldSelf.spec.?clients.replicas] && [self.spec.?lane, self.spec.?clients.placement, self.spec.?podRetention, self.spec.target.?image, self.spec.target.?imagePullPolicy, self.spec.target.?podSecurity, self.spec.target.?resources.cpuPinning, self.spec.?clients.resources.cpuPinning] == [oldSelf.spec.?lane, oldSelf.spec.?clients.placement, oldSelf.spec.?podRetention, oldSelf.spec.target.?image, oldSelf.spec.target.?imagePullPolicy, oldSelf.spec.target.?podSecurity, oldSelf.spec.target.?resources.cpuPinning, oldSelf.spec.?clients.resources.cpuPinning] && [self.spec.?clients.pod] == [oldSelf.spec.?clients.pod] && [self.spec.?clients.tool] == [oldSelf.spec.?clients.tool] && [self.spec.target.?imagePullSecrets] == [oldSelf.spec.target.?imagePullSecrets] && [self.spec.target.?server] == [oldSelf.spec.target.?server] && [self.spec.target.?tls] == [oldSelf.spec.target.?tls] && [self.spec.target.?backends] == [oldSelf.spec.target.?backends] && [self.spec.target.?content] == [oldSelf.spec.target.?content] && [self.spec.target.?readiness] == [oldSelf.spec.target.?readiness] && [self.spec.target.?pod] == [oldSelf.spec.target.?pod] && has(self.spec.target.sharedCPU) == has(oldSelf.spec.target.sharedCPU) && (!has(self.spec.target.sharedCPU) || quantity(string(self.spec.target.sharedCPU)).compareTo(quantity(string(oldSelf.spec.target.sharedCPU))) == 0) && has(self.spec.target.resources) == has(oldSelf.spec.target.resources) && (!has(self.spec.target.resources) || has(self.spec.target.resources.cpu) == has(oldSelf.spec.target.resources.cpu) && (!has(self.spec.target.resources.cpu) || quantity(string(self.spec.target.resources.cpu)).compareTo(quantity(string(oldSelf.spec.target.resources.cpu))) == 0) && has(self.spec.target.resources.memory) == has(oldSelf.spec.target.resources.memory) && (!has(self.spec.target.resources.memory) || quantity(string(self.spec.target.resources.memory)).compareTo(quantity(string(oldSelf.spec.target.resources.memory))) == 0)) && has(self.spec.clients) == has(oldSelf.spec.clients) && (!has(self.spec.clients) || has(self.spec.clients.resources) == has(oldSelf.spec.clients.resources) && (!has(self.spec.clients.resources) || has(self.spec.clients.resources.cpu) == has(oldSelf.spec.clients.resources.cpu) && (!has(self.spec.clients.resources.cpu) || quantity(string(self.spec.clients.resources.cpu)).compareTo(quantity(string(oldSelf.spec.clients.resources.cpu))) == 0) && has(self.spec.clients.resources.memory) == has(oldSelf.spec.clients.resources.memory) && (!has(self.spec.clients.resources.memory) || quantity(string(self.spec.clients.resources.memory)).compareTo(quantity(string(oldSelf.spec.clients.resources.memory))) == 0)))",fieldPath=".spec",reason="FieldValueInvalid",messageExpression="(([self.spec.?load] == [oldSelf.spec.?load] ? \"\" : ', spec.load') + ([self.spec.?script] == [oldSelf.spec.?script] ? \"\" : ', spec.script') + ([self.spec.?thresholds] == [oldSelf.spec.?thresholds] ? \"\" : ', spec.thresholds') + ([self.spec.?acceptedFindings] == [oldSelf.spec.?acceptedFindings] ? \"\" : ', spec.acceptedFindings') + ([self.spec.?lane] == [oldSelf.spec.?lane] ? \"\" : ', spec.lane') + ([self.spec.?activeDeadlineSeconds] == [oldSelf.spec.?activeDeadlineSeconds] ? \"\" : ', spec.activeDeadlineSeconds') + ([self.spec.?podRetention] == [oldSelf.spec.?podRetention] ? \"\" : ', spec.podRetention') + ([self.spec.?clients] == [oldSelf.spec.?clients] ? \"\" : ', spec.clients') + ([self.spec.target.?image] == [oldSelf.spec.target.?image] ? \"\" : ', spec.target.image') + ([self.spec.target.?imagePullPolicy] == [oldSelf.spec.target.?imagePullPolicy] ? \"\" : ', spec.target.imagePullPolicy') + ([self.spec.target.?imagePullSecrets] == [oldSelf.spec.target.?imagePullSecrets] ? \"\" : ', spec.target.imagePullSecrets') + ([self.spec.target.?resources] == [oldSelf.spec.target.?resources] ? \"\" : ', spec.target.resources') + ([self.spec.target.?sharedCPU] == [oldSelf.spec.target.?sharedCPU] ? \"\" : ', spec.target.sharedCPU') + ([self.spec.target.?server] == [oldSelf.spec.target.?server] ? \"\" : ', spec.target.server') + ([self.spec.target.?tls] == [oldSelf.spec.target.?tls] ? \"\" : ', spec.target.tls') + ([self.spec.target.?backends] == [oldSelf.spec.target.?backends] ? \"\" : ', spec.target.backends') + ([self.spec.target.?content] == [oldSelf.spec.target.?content] ? \"\" : ', spec.target.content') + ([self.spec.target.?readiness] == [oldSelf.spec.target.?readiness] ? \"\" : ', spec.target.readiness') + ([self.spec.target.?podSecurity] == [oldSelf.spec.target.?podSecurity] ? \"\" : ', spec.target.podSecurity') + ([self.spec.target.?pod] == [oldSelf.spec.target.?pod] ? \"\" : ', spec.target.pod')).substring(2) + ' must not change: create a new BenchmarkRun instead'",message="spec must not change, except suspend and ttlSecondsAfterFinished: create a new BenchmarkRun instead"
type BenchmarkRun struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec says what to run. It is immutable once created, except suspend and
	// ttlSecondsAfterFinished.
	// +required
	Spec BenchmarkRunSpec `json:"spec,omitempty,omitzero"`

	// status reports the run's progress, verdict and result.
	// +default={"observedGeneration": -1}
	// +optional
	Status BenchmarkRunStatus `json:"status,omitempty,omitzero"`
}

// BenchmarkRunList is a list of BenchmarkRuns.
//
// +kubebuilder:object:root=true
type BenchmarkRunList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []BenchmarkRun `json:"items"`
}

// BenchmarkRunSpec says what to run: a load or a script, against a target.
//
// +kubebuilder:validation:ExactlyOneOf=load;script
// +kubebuilder:validation:XValidation:rule="!has(self.load) || !has(self.load.authentication) || has(self.target.readiness.path)",reason="FieldValueInvalid",fieldPath=".target.readiness.path",message="target.readiness.path must be set when load.authentication is set: readiness probes send no credentials, so the path must not require any"
// +kubebuilder:validation:XValidation:rule="!has(self.load) || has(self.target.readiness.path) || (has(self.load.requests) && (!has(self.load.requests[0].method) || self.load.requests[0].method == 'GET'))",reason="FieldValueInvalid",fieldPath=".target.readiness.path",message="target.readiness.path must be set when the first request isn't a GET, and with load.requestsFrom: otherwise readiness probes use the path of the first request"
// +kubebuilder:validation:XValidation:rule="!has(self.load) || self.load.loadIsPer != 'Run' || !has(self.load.closed) || self.load.closed.?connections.orValue(self.load.closed.?users.orValue(0)) >= self.clients.replicas",reason="FieldValueInvalid",fieldPath=".load.closed",message="load.closed.connections, or users, must be at least clients.replicas with load.loadIsPer Run: each client needs one"
// +kubebuilder:validation:XValidation:rule="!has(self.load) || self.load.loadIsPer != 'Run' || !has(self.load.open) || (self.load.open.maxConnections >= self.clients.replicas && (!has(self.load.open.requestCount) || self.load.open.requestCount >= self.clients.replicas))",reason="FieldValueInvalid",fieldPath=".load.open",message="load.open's maxConnections and requestCount must be at least clients.replicas with load.loadIsPer Run: each client needs a connection and a request"
// +kubebuilder:validation:XValidation:rule="!has(self.load) || self.load.loadIsPer != 'Run' || !has(self.load.stages) || (self.load.stages.levels.all(l, has(l.requestsPerSecond) || l.?connections.orValue(l.?users.orValue(0)) >= self.clients.replicas) && (!has(self.load.stages.maxConnections) || self.load.stages.maxConnections >= self.clients.replicas))",reason="FieldValueInvalid",fieldPath=".load.stages",message="load.stages' connections, or users, must be at least clients.replicas with load.loadIsPer Run: each client needs one"
// +kubebuilder:validation:XValidation:rule="!has(self.load) || self.load.loadIsPer != 'Run' || !has(self.load.warmup) || !has(self.load.warmup.requestCount) || self.load.warmup.requestCount >= self.clients.replicas",reason="FieldValueInvalid",fieldPath=".load.warmup.requestCount",message="load.warmup.requestCount must be at least clients.replicas with load.loadIsPer Run: each client needs a request"
// +kubebuilder:validation:XValidation:rule="!has(self.load) || self.load.?warmup.durationSeconds.orValue(0) + (has(self.load.warmup) && has(self.load.warmup.steady) ? self.load.warmup.steady.windows * self.load.warmup.steady.windowSeconds : 0) + self.load.?closed.durationSeconds.or(self.load.?open.durationSeconds).orValue(0) + (has(self.load.stages) ? self.load.stages.levels.map(l, l.holdSeconds + l.?rampSeconds.orValue(0)).sum() : 0) < self.activeDeadlineSeconds",reason="FieldValueInvalid",fieldPath=".activeDeadlineSeconds",message="activeDeadlineSeconds must be greater than the seconds that load and its warmup take together: the run would end without a result"
// +kubebuilder:validation:XValidation:rule="!has(self.load) || !has(self.load.open) || !has(self.load.open.requestCount) || self.load.open.requestCount < self.load.open.requestsPerSecond * self.activeDeadlineSeconds",reason="FieldValueInvalid",fieldPath=".load.open.requestCount",message="load.open.requestCount must be less than requestsPerSecond times activeDeadlineSeconds: the run would end without a result"
// +kubebuilder:validation:XValidation:rule="!has(self.load) || !has(self.load.closed) || !has(self.load.closed.requestCount) || !has(self.load.closed.thinkTime) || (self.load.closed.requestCount / self.load.closed.?connections.orValue(self.load.closed.?users.orValue(1)) - 1) * self.load.closed.thinkTime.minMilliseconds < self.activeDeadlineSeconds * 1000",reason="FieldValueInvalid",fieldPath=".load.closed.thinkTime",message="load.closed.thinkTime of a connection's requests, or a user's pages, must take less than activeDeadlineSeconds in total: the run would end without a result"
// +kubebuilder:validation:XValidation:rule="!has(self.load) || self.load.client.protocol != 'HTTP2' || !has(self.target.tls) || !has(self.target.tls.protocols) || self.target.tls.protocols.exists(p, p in ['TLSv1.2', 'TLSv1.3'])",reason="FieldValueInvalid",fieldPath=".target.tls.protocols",message="target.tls.protocols must have TLSv1.2 or TLSv1.3 with the protocol HTTP2, which older versions don't support"
// +kubebuilder:validation:XValidation:rule="!has(self.script) || !has(self.target.tls) || (!has(self.target.tls.groups) && self.target.tls.?sessionResumption.orValue(\"\") != 'Enabled')",reason="FieldValueInvalid",fieldPath=".target.tls",message="target.tls.groups and sessionResumption must not be set with a script: k6 has neither"
// +kubebuilder:validation:XValidation:rule="!has(self.target.server.external) || !has(self.clients.placement) || !(self.clients.placement in ['Apart', 'Together'])",reason="FieldValueInvalid",fieldPath=".clients.placement",message="clients.placement must not be Apart or Together with an external server, whose node is unknown: omit it, and use clients.pod.nodeSelector"
// +kubebuilder:validation:XValidation:rule="!has(self.target.server) || !has(self.target.server.external) || !has(self.load) || !has(self.load.stages) || !has(self.load.stages.stopAt) || !has(self.load.stages.stopAt.cpuPercent)",reason="FieldValueInvalid",fieldPath=".load.stages.stopAt.cpuPercent",message="load.stages.stopAt.cpuPercent must not be set for an external target, whose CPU usage is unknown"
type BenchmarkRunSpec struct {
	// The rules of single servers.
	TomcatRules `json:",inline"`
	HTTPDRules  `json:",inline"`
	NginxRules  `json:",inline"`
	JettyRules  `json:",inline"`
	ToolRules   `json:",inline"`

	// target is the server under test: one pod.
	// +required
	Target Target `json:"target,omitempty,omitzero"`

	// clients are the load-generating pods. Defaults to one client with one CPU
	// and 512Mi of memory.
	// +default={"replicas": 1}
	// +optional
	Clients Clients `json:"clients,omitempty,omitzero"`

	// load specifies the requests of the clients. A run has either a load or a script.
	// +optional
	Load Load `json:"load,omitempty,omitzero"`

	// script is a k6 script that the clients run instead of a load. Latencies are service times, as
	// k6 measures them.
	// +optional
	Script *Script `json:"script,omitempty"`

	// thresholds are the bounds that the result must meet for the condition ThresholdsMet to become True.
	// +listType=map
	// +listMapKey=metric
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Thresholds []Threshold `json:"thresholds,omitempty"`

	// acceptedFindings lists the reasons of findings that are expected in this run, such as NoWarmup where a cold
	// start is measured. They neither invalidate its result nor warn, but stay visible as
	// accepted in the condition Valid, in the artifact and in reports. Defaults to none.
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +optional
	AcceptedFindings []FindingReason `json:"acceptedFindings,omitempty"`

	// lane is the queue in which this run waits. Of all runs in the cluster with
	// the same lane, whatever their namespace, one runs at a time. The namespaces
	// take turns; within a namespace the oldest run is first. Use different lanes
	// only for runs that can't disturb each other. Defaults to "default".
	// +default="default"
	// +optional
	Lane DNSLabel `json:"lane,omitempty"`

	// suspend keeps the run from starting while true. Set on an active run it stops the run's pods;
	// set back to false the run starts from scratch. May be changed at any time until the run has
	// finished. Defaults to false.
	// +optional
	Suspend *bool `json:"suspend,omitempty"`

	// activeDeadlineSeconds is the time limit from the run's admission to its end, in seconds. Past
	// it the run ends with the reason DeadlineExceeded. Waiting in the lane doesn't count. Defaults
	// to 3600.
	// +default=3600
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	// +optional
	ActiveDeadlineSeconds *int32 `json:"activeDeadlineSeconds,omitempty"`

	// ttlSecondsAfterFinished is the time after which the finished run is deleted together
	// with its artifact, in seconds. If not set, it is kept until somebody deletes it. May be
	// changed at any time.
	// +kubebuilder:validation:Minimum=0
	// +optional
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`

	// podRetention says whether the pods of a finished run are kept, so that
	// their logs can be read: Never, OnFailure or Always. A kept target is
	// stopped. Pods never outlive their run. Defaults to Never.
	// +default="Never"
	// +optional
	PodRetention PodRetention `json:"podRetention,omitempty"`
}

// PodRetention says when the pods of a finished run are kept.
//
// +kubebuilder:validation:Enum=Never;OnFailure;Always
type PodRetention string

// The values of PodRetention.
const (
	RetainNever     PodRetention = "Never"
	RetainOnFailure PodRetention = "OnFailure"
	RetainAlways    PodRetention = "Always"
)
