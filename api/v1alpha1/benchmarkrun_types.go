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
// +kubebuilder:validation:XValidation:rule="self.?load.authentication.scheme.orValue('Basic') in ['Basic', 'Bearer'] || has(self.target.readiness.path)",fieldPath=".target.readiness.path",message="target.readiness.path must be set with Digest and Form authentication: probes don't log in"
// +kubebuilder:validation:XValidation:rule="!has(self.load) || !has(self.load.requestsFrom) || has(self.target.readiness.path)",fieldPath=".target.readiness.path",message="target.readiness.path must be set with load.requestsFrom, whose first request isn't known yet"
// +kubebuilder:validation:XValidation:rule="!has(self.load) || !has(self.load.requests) || self.load.requests[0].?method.orValue('GET') in ['GET', 'HEAD'] || has(self.target.readiness.path)",fieldPath=".target.readiness.path",message="a path must be set if the first request isn't GET or HEAD"
// +kubebuilder:validation:XValidation:rule="self.?load.loadIsPer.orValue(\"\") != 'Run' || [self.?load.closed.connections, self.?load.closed.users].all(n, n.orValue(1000) >= self.clients.replicas)",fieldPath=".load.closed",message="connections and users must be at least clients.replicas"
// +kubebuilder:validation:XValidation:rule="self.?load.loadIsPer.orValue(\"\") != 'Run' || [self.?load.open.maxConnections, self.?load.open.requestCount].all(n, n.orValue(1000) >= self.clients.replicas)",fieldPath=".load.open",message="maxConnections, requestCount must be at least clients.replicas"
// +kubebuilder:validation:XValidation:rule="self.?load.loadIsPer.orValue('Client') != 'Run' || self.?load.stages.maxConnections.orValue(1000) >= self.clients.replicas",fieldPath=".load.stages.maxConnections",message="load.stages.maxConnections must be at least clients.replicas with loadIsPer Run"
// +kubebuilder:validation:XValidation:rule="self.?load.loadIsPer.orValue('Client') != 'Run' || !has(self.load.stages) || self.load.stages.levels.all(l, l.?connections.orValue(1000) >= self.clients.replicas)",fieldPath=".load.stages.levels",message="connections must be at least clients.replicas"
// +kubebuilder:validation:XValidation:rule="self.?load.loadIsPer.orValue('Client') != 'Run' || !has(self.load.stages) || self.load.stages.levels.all(l, l.?users.orValue(1000) >= self.clients.replicas)",fieldPath=".load.stages.levels",message="users must be at least clients.replicas"
// +kubebuilder:validation:XValidation:rule="self.?load.loadIsPer.orValue('Client') != 'Run' || self.?load.warmup.requestCount.orValue(1000) >= self.clients.replicas",fieldPath=".load.warmup.requestCount",message="load.warmup.requestCount must be at least clients.replicas with loadIsPer Run"
// +kubebuilder:validation:XValidation:rule="[self.?load.closed.durationSeconds, self.?load.open.durationSeconds].all(d, self.?load.warmup.durationSeconds.orValue(0) + d.orValue(0) < self.activeDeadlineSeconds)",fieldPath=".activeDeadlineSeconds",message="must be longer than load and warmup take"
// +kubebuilder:validation:XValidation:rule="!has(self.load) || !has(self.load.stages) || self.load.stages.levels.map(l, l.holdSeconds + l.?rampSeconds.orValue(0)).sum() + self.load.?warmup.durationSeconds.orValue(0) < self.activeDeadlineSeconds",message="activeDeadlineSeconds must exceed levels"
// +kubebuilder:validation:XValidation:rule="self.?load.warmup.steady.windows.orValue(0) * self.?load.warmup.steady.windowSeconds.orValue(0) + self.?load.closed.durationSeconds.orValue(0) < self.activeDeadlineSeconds",message="activeDeadlineSeconds must exceed windows and load"
// +kubebuilder:validation:XValidation:rule="self.?load.warmup.steady.windows.orValue(0) * self.?load.warmup.steady.windowSeconds.orValue(0) + self.?load.open.durationSeconds.orValue(0) < self.activeDeadlineSeconds",message="activeDeadlineSeconds must exceed windows and load"
// +kubebuilder:validation:XValidation:rule="double(self.?load.open.requestCount.orValue(0)) < self.?load.open.requestsPerSecond.orValue(1.0) * double(self.activeDeadlineSeconds)",fieldPath=".load.open.requestCount",message="must be less than requestsPerSecond times activeDeadlineSeconds"
// +kubebuilder:validation:XValidation:rule="[self.?load.closed].all(c, c.?thinkTime.minMilliseconds.orValue(0)*(c.?requestCount.orValue(0)/c.?connections.orValue(c.?users.orValue(1)) - 1) < self.activeDeadlineSeconds*1000)",fieldPath=".load.closed.thinkTime",message="exceeds activeDeadlineSeconds"
// +kubebuilder:validation:XValidation:rule="self.?load.client.protocol.orValue(\"\") != 'HTTP2' || !has(self.target.tls) || !has(self.target.tls.protocols) || self.target.tls.protocols.exists(p, p in ['TLSv1.2', 'TLSv1.3'])",fieldPath=".target.tls.protocols",message="HTTP2 needs TLSv1.2 or TLSv1.3"
// +kubebuilder:validation:XValidation:rule="!has(self.target.server.external) || self.clients.?placement.orValue('Prefer') == 'Prefer'",fieldPath=".clients.placement",message="clients.placement must not be Apart or Together with an external server, whose node is unknown: use nodeSelector"
// +kubebuilder:validation:XValidation:rule="!has(self.target.server.external) || !has(self.load) || !has(self.load.stages) || !has(self.load.stages.stopAt) || self.load.stages.stopAt.all(t, t.metric != 'TargetCPU')",fieldPath=".load.stages.stopAt",message="the server's TargetCPU is unknown"
// +kubebuilder:validation:XValidation:rule="!has(self.thresholds) || self.?load.requests.hasValue() || self.thresholds.all(t, !has(t.request))",fieldPath=".thresholds",message="request must be the name of one of load.requests"
// +kubebuilder:validation:XValidation:rule="!has(self.thresholds) || !self.?load.requests.hasValue() || self.thresholds.all(t, !has(t.request) || self.load.requests.exists(r, has(r.name) && r.name == t.request))",fieldPath=".thresholds",message="request must be the name of one of load.requests"
// +kubebuilder:validation:XValidation:rule="!has(self.alternation) || has(self.load) && !has(self.load.stages) && !has(self.load.pages) && !has(self.clients.tool)",fieldPath=".alternation",message="alternation needs load.closed or load.open without pages, and no clients.tool"
// +kubebuilder:validation:XValidation:rule="!has(self.alternation) || !self.?load.closed.rampSeconds.hasValue() && !self.?load.open.ramp.hasValue()",fieldPath=".alternation",message="alternation needs a load without ramp"
// +kubebuilder:validation:XValidation:rule="!has(self.alternation) || self.?load.closed.durationSeconds.hasValue() || self.?load.open.durationSeconds.hasValue()",fieldPath=".alternation",message="alternation needs a load with durationSeconds"
// +kubebuilder:validation:XValidation:rule="!has(self.alternation) || !self.?load.warmup.requestCount.hasValue()",fieldPath=".load.warmup.requestCount",message="load.warmup.requestCount must not be set with alternation: use durationSeconds or steady"
// +kubebuilder:validation:XValidation:rule="self.?alternation.variants.orValue(0) * (self.?load.warmup.durationSeconds.orValue(0) + self.?load.closed.durationSeconds.orValue(0) + self.?load.open.durationSeconds.orValue(0)) < self.activeDeadlineSeconds",message="activeDeadlineSeconds must be larger"
// +kubebuilder:validation:XValidation:rule="[dyn(self.?activeDeadlineSeconds), dyn(self.?acceptedFindings)] == [dyn(oldSelf.?activeDeadlineSeconds), dyn(oldSelf.?acceptedFindings)]",message="activeDeadlineSeconds and acceptedFindings must not change: create a new run"
// +kubebuilder:validation:XValidation:rule="[dyn(self.?podRetention), dyn(self.?thresholds), dyn(self.?script)] == [dyn(oldSelf.?podRetention), dyn(oldSelf.?thresholds), dyn(oldSelf.?script)]",message="podRetention, thresholds and script must not change: create a new run"
// +kubebuilder:validation:XValidation:rule="[dyn(self.?load), dyn(self.?lane), dyn(self.?alternation)] == [dyn(oldSelf.?load), dyn(oldSelf.?lane), dyn(oldSelf.?alternation)]",message="load, lane and alternation must not change: create a new run"
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
	// and 512Mi of memory. What a field has that target has too is described there.
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
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.all(t, self.exists_one(u, u.metric == t.metric && has(u.request) == has(t.request) && (!has(u.request) || u.request == t.request)))",message="thresholds must not have the same metric of the same request twice"
	// +kubebuilder:validation:items:XValidation:rule="!(self.metric in ['TargetCPU', 'FailedRequests', 'ThroughputGain'])",fieldPath=".metric",message="thresholds must not have TargetCPU, FailedRequests and ThroughputGain, which are for load.stages.stopAt"
	// +optional
	Thresholds []Threshold `json:"thresholds,omitempty"`

	// acceptedFindings lists the reasons of findings that are expected in this run, such as NoWarmup where a cold
	// start is measured. They neither invalidate its result nor warn, but stay visible as accepted in the condition
	// Valid and in reports. Defaults to none.
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +optional
	AcceptedFindings []FindingReason `json:"acceptedFindings,omitempty"`

	// lane is the queue in which this run waits. Of all runs in the cluster with the same lane, one runs at a time.
	// The namespaces take turns; within one the oldest run is first. Use different lanes only for runs that can't
	// disturb each other. Defaults to "default".
	// +default="default"
	// +optional
	Lane DNSLabel `json:"lane,omitempty"`

	// alternation lets the load alternate between this run and others. A Benchmark sets it, with
	// repetitions.order Alternating.
	// +optional
	Alternation *Alternation `json:"alternation,omitempty"`

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
