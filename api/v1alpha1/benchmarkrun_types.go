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
// +kubebuilder:validation:XValidation:rule="[self.spec.?load] == [oldSelf.spec.?load]",fieldPath=".spec.load",message="load must not change: create a new BenchmarkRun instead"
// +kubebuilder:validation:XValidation:rule="[self.spec.?script] == [oldSelf.spec.?script]",fieldPath=".spec.script",message="script must not change: create a new BenchmarkRun instead"
// +kubebuilder:validation:XValidation:rule="[self.spec.?thresholds] == [oldSelf.spec.?thresholds]",fieldPath=".spec.thresholds",message="thresholds must not change: create a new BenchmarkRun instead"
// +kubebuilder:validation:XValidation:rule="[self.spec.?acceptedFindings] == [oldSelf.spec.?acceptedFindings]",fieldPath=".spec.acceptedFindings",message="acceptedFindings must not change: create a new BenchmarkRun instead"
// +kubebuilder:validation:XValidation:rule="[self.spec.?lane] == [oldSelf.spec.?lane]",fieldPath=".spec.lane",message="lane must not change: create a new BenchmarkRun instead"
// +kubebuilder:validation:XValidation:rule="[self.spec.?activeDeadlineSeconds] == [oldSelf.spec.?activeDeadlineSeconds]",fieldPath=".spec.activeDeadlineSeconds",message="activeDeadlineSeconds must not change: create a new BenchmarkRun instead"
// +kubebuilder:validation:XValidation:rule="[self.spec.?podRetention] == [oldSelf.spec.?podRetention]",fieldPath=".spec.podRetention",message="podRetention must not change: create a new BenchmarkRun instead"
// +kubebuilder:validation:XValidation:rule="[self.spec.?clients.replicas] == [oldSelf.spec.?clients.replicas]",fieldPath=".spec.clients.replicas",message="clients.replicas must not change: create a new BenchmarkRun instead"
// +kubebuilder:validation:XValidation:rule="[self.spec.?clients.placement] == [oldSelf.spec.?clients.placement]",fieldPath=".spec.clients.placement",message="clients.placement must not change: create a new BenchmarkRun instead"
// +kubebuilder:validation:XValidation:rule="[self.spec.?clients.tool] == [oldSelf.spec.?clients.tool]",fieldPath=".spec.clients.tool",message="clients.tool must not change: create a new BenchmarkRun instead"
// +kubebuilder:validation:XValidation:rule="[self.spec.?clients.image] == [oldSelf.spec.?clients.image]",fieldPath=".spec.clients.image",message="clients.image must not change: create a new BenchmarkRun instead"
// +kubebuilder:validation:XValidation:rule="[self.spec.?clients.topologySpreadConstraints] == [oldSelf.spec.?clients.topologySpreadConstraints]",fieldPath=".spec.clients.topologySpreadConstraints",message="must not change: create a new BenchmarkRun"
// +kubebuilder:validation:XValidation:rule="[self.spec.target.?labels, self.spec.clients.?labels] == [oldSelf.spec.target.?labels, oldSelf.spec.clients.?labels]",message="labels of target and clients must not change: create a new BenchmarkRun"
// +kubebuilder:validation:XValidation:rule="[self.spec.target.?annotations, self.spec.clients.?annotations] == [oldSelf.spec.target.?annotations, oldSelf.spec.clients.?annotations]",message="annotations of target and clients must not change: create a new BenchmarkRun"
// +kubebuilder:validation:XValidation:rule="[dyn(self.spec.target.?env), dyn(self.spec.clients.?env)] == [dyn(oldSelf.spec.target.?env), dyn(oldSelf.spec.clients.?env)]",message="env of target and clients must not change: create a new BenchmarkRun"
// +kubebuilder:validation:XValidation:rule="[dyn(self.spec.target.?volumes), dyn(self.spec.clients.?volumes)] == [dyn(oldSelf.spec.target.?volumes), dyn(oldSelf.spec.clients.?volumes)]",message="volumes of target and clients must not change: create a new BenchmarkRun"
// +kubebuilder:validation:XValidation:rule="[dyn(self.spec.target.?volumeMounts), dyn(self.spec.clients.?volumeMounts)] == [dyn(oldSelf.spec.target.?volumeMounts), dyn(oldSelf.spec.clients.?volumeMounts)]",message="volumeMounts of target and clients must not change: create a new BenchmarkRun"
// +kubebuilder:validation:XValidation:rule="[self.spec.target.?nodeSelector, self.spec.clients.?nodeSelector] == [oldSelf.spec.target.?nodeSelector, oldSelf.spec.clients.?nodeSelector]",message="nodeSelector of target and clients must not change: create a new BenchmarkRun"
// +kubebuilder:validation:XValidation:rule="[dyn(self.spec.target.?affinity), dyn(self.spec.clients.?affinity)] == [dyn(oldSelf.spec.target.?affinity), dyn(oldSelf.spec.clients.?affinity)]",message="affinity of target and clients must not change: create a new BenchmarkRun"
// +kubebuilder:validation:XValidation:rule="[dyn(self.spec.target.?tolerations), dyn(self.spec.clients.?tolerations)] == [dyn(oldSelf.spec.target.?tolerations), dyn(oldSelf.spec.clients.?tolerations)]",message="tolerations of target and clients must not change: create a new BenchmarkRun"
// +kubebuilder:validation:XValidation:rule="[self.spec.target.?priorityClassName, self.spec.clients.?priorityClassName] == [oldSelf.spec.target.?priorityClassName, oldSelf.spec.clients.?priorityClassName]",message="priorityClassName of target and clients must not change: create a new BenchmarkRun"
// +kubebuilder:validation:XValidation:rule="[self.spec.target.?runtimeClassName, self.spec.clients.?runtimeClassName] == [oldSelf.spec.target.?runtimeClassName, oldSelf.spec.clients.?runtimeClassName]",message="runtimeClassName of target and clients must not change: create a new BenchmarkRun"
// +kubebuilder:validation:XValidation:rule="[dyn(self.spec.target.?imagePullSecrets), dyn(self.spec.clients.?imagePullSecrets)] == [dyn(oldSelf.spec.target.?imagePullSecrets), dyn(oldSelf.spec.clients.?imagePullSecrets)]",message="imagePullSecrets must not change: create a new BenchmarkRun"
// +kubebuilder:validation:XValidation:rule="[dyn(self.spec.target.?hostAliases), dyn(self.spec.clients.?hostAliases)] == [dyn(oldSelf.spec.target.?hostAliases), dyn(oldSelf.spec.clients.?hostAliases)]",message="hostAliases of target and clients must not change: create a new BenchmarkRun"
// +kubebuilder:validation:XValidation:rule="[dyn(self.spec.target.?dnsConfig), dyn(self.spec.clients.?dnsConfig)] == [dyn(oldSelf.spec.target.?dnsConfig), dyn(oldSelf.spec.clients.?dnsConfig)]",message="dnsConfig of target and clients must not change: create a new BenchmarkRun"
// +kubebuilder:validation:XValidation:rule="[dyn(self.spec.target.?securityContext), dyn(self.spec.clients.?securityContext)] == [dyn(oldSelf.spec.target.?securityContext), dyn(oldSelf.spec.clients.?securityContext)]",message="securityContext must not change: create a new BenchmarkRun"
// +kubebuilder:validation:XValidation:rule="[self.spec.?clients.resources.cpuPinning] == [oldSelf.spec.?clients.resources.cpuPinning]",fieldPath=".spec.clients.resources.cpuPinning",message="clients.resources.cpuPinning must not change: create a new BenchmarkRun instead"
// +kubebuilder:validation:XValidation:rule="[self.spec.target.?image] == [oldSelf.spec.target.?image]",fieldPath=".spec.target.image",message="target.image must not change: create a new BenchmarkRun instead"
// +kubebuilder:validation:XValidation:rule="[self.spec.target.?imagePullPolicy] == [oldSelf.spec.target.?imagePullPolicy]",fieldPath=".spec.target.imagePullPolicy",message="target.imagePullPolicy must not change: create a new BenchmarkRun instead"
// +kubebuilder:validation:XValidation:rule="[self.spec.target.?resources.cpuPinning] == [oldSelf.spec.target.?resources.cpuPinning]",fieldPath=".spec.target.resources.cpuPinning",message="target.resources.cpuPinning must not change: create a new BenchmarkRun instead"
// +kubebuilder:validation:XValidation:rule="[self.spec.target.?server] == [oldSelf.spec.target.?server]",fieldPath=".spec.target.server",message="target.server must not change: create a new BenchmarkRun instead"
// +kubebuilder:validation:XValidation:rule="[self.spec.target.?tls] == [oldSelf.spec.target.?tls]",fieldPath=".spec.target.tls",message="target.tls must not change: create a new BenchmarkRun instead"
// +kubebuilder:validation:XValidation:rule="[self.spec.target.?backends] == [oldSelf.spec.target.?backends]",fieldPath=".spec.target.backends",message="target.backends must not change: create a new BenchmarkRun instead"
// +kubebuilder:validation:XValidation:rule="[self.spec.target.?content] == [oldSelf.spec.target.?content]",fieldPath=".spec.target.content",message="target.content must not change: create a new BenchmarkRun instead"
// +kubebuilder:validation:XValidation:rule="[self.spec.target.?readiness] == [oldSelf.spec.target.?readiness]",fieldPath=".spec.target.readiness",message="target.readiness must not change: create a new BenchmarkRun instead"
// +kubebuilder:validation:XValidation:rule="[self.spec.target.?podSecurity] == [oldSelf.spec.target.?podSecurity]",fieldPath=".spec.target.podSecurity",message="target.podSecurity must not change: create a new BenchmarkRun instead"
// +kubebuilder:validation:XValidation:rule="has(self.spec.target.resources.cpu) == has(oldSelf.spec.target.resources.cpu)",fieldPath=".spec.target.resources.cpu",message="target.resources.cpu must not change: create a new BenchmarkRun instead"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.target.resources.cpu) || quantity(string(self.spec.target.resources.cpu)).compareTo(quantity(string(oldSelf.spec.target.resources.cpu))) == 0",fieldPath=".spec.target.resources",message="must not change: create a new BenchmarkRun instead"
// +kubebuilder:validation:XValidation:rule="has(self.spec.target.resources.memory) == has(oldSelf.spec.target.resources.memory)",fieldPath=".spec.target.resources.memory",message="target.resources.memory must not change: create a new BenchmarkRun instead"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.target.resources.memory) || quantity(string(self.spec.target.resources.memory)).compareTo(quantity(string(oldSelf.spec.target.resources.memory))) == 0",fieldPath=".spec.target.resources",message="must not change: create a new BenchmarkRun"
// +kubebuilder:validation:XValidation:rule="has(self.spec.clients.resources.cpu) == has(oldSelf.spec.clients.resources.cpu)",fieldPath=".spec.clients.resources.cpu",message="clients.resources.cpu must not change: create a new BenchmarkRun instead"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.clients.resources.cpu) || quantity(string(self.spec.clients.resources.cpu)).compareTo(quantity(string(oldSelf.spec.clients.resources.cpu))) == 0",fieldPath=".spec.clients.resources",message="must not change: create a new BenchmarkRun"
// +kubebuilder:validation:XValidation:rule="has(self.spec.clients.resources.memory) == has(oldSelf.spec.clients.resources.memory)",fieldPath=".spec.clients.resources.memory",message="clients.resources.memory must not change: create a new BenchmarkRun instead"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.clients.resources.memory) || quantity(string(self.spec.clients.resources.memory)).compareTo(quantity(string(oldSelf.spec.clients.resources.memory))) == 0",fieldPath=".spec.clients",message="must not change: create a new BenchmarkRun"
// +kubebuilder:validation:XValidation:rule="has(self.spec.target.sharedCPU) == has(oldSelf.spec.target.sharedCPU)",fieldPath=".spec.target.sharedCPU",message="target.sharedCPU must not change: create a new BenchmarkRun instead"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.target.sharedCPU) || quantity(string(self.spec.target.sharedCPU)).compareTo(quantity(string(oldSelf.spec.target.sharedCPU))) == 0",fieldPath=".spec.target",message="target.sharedCPU must not change: create a new BenchmarkRun instead"
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
// +kubebuilder:validation:XValidation:rule="self.?load.loadIsPer.orValue('Client') != 'Run' || self.?load.closed.connections.orValue(1000) >= self.clients.replicas",fieldPath=".load.closed.connections",message="load.closed.connections must be at least clients.replicas with loadIsPer Run"
// +kubebuilder:validation:XValidation:rule="self.?load.loadIsPer.orValue('Client') != 'Run' || self.?load.closed.users.orValue(1000) >= self.clients.replicas",fieldPath=".load.closed.users",message="load.closed.users must be at least clients.replicas with loadIsPer Run"
// +kubebuilder:validation:XValidation:rule="self.?load.loadIsPer.orValue('Client') != 'Run' || self.?load.open.maxConnections.orValue(1000) >= self.clients.replicas",fieldPath=".load.open.maxConnections",message="load.open.maxConnections must be at least clients.replicas with loadIsPer Run"
// +kubebuilder:validation:XValidation:rule="self.?load.loadIsPer.orValue('Client') != 'Run' || self.?load.open.requestCount.orValue(1000) >= self.clients.replicas",fieldPath=".load.open.requestCount",message="load.open.requestCount must be at least clients.replicas with loadIsPer Run"
// +kubebuilder:validation:XValidation:rule="self.?load.loadIsPer.orValue('Client') != 'Run' || self.?load.stages.maxConnections.orValue(1000) >= self.clients.replicas",fieldPath=".load.stages.maxConnections",message="load.stages.maxConnections must be at least clients.replicas with loadIsPer Run"
// +kubebuilder:validation:XValidation:rule="self.?load.loadIsPer.orValue('Client') != 'Run' || !has(self.load.stages) || self.load.stages.levels.all(l, l.?connections.orValue(1000) >= self.clients.replicas)",fieldPath=".load.stages.levels",message="connections must be at least clients.replicas"
// +kubebuilder:validation:XValidation:rule="self.?load.loadIsPer.orValue('Client') != 'Run' || !has(self.load.stages) || self.load.stages.levels.all(l, l.?users.orValue(1000) >= self.clients.replicas)",fieldPath=".load.stages.levels",message="users must be at least clients.replicas"
// +kubebuilder:validation:XValidation:rule="self.?load.loadIsPer.orValue('Client') != 'Run' || self.?load.warmup.requestCount.orValue(1000) >= self.clients.replicas",fieldPath=".load.warmup.requestCount",message="load.warmup.requestCount must be at least clients.replicas with loadIsPer Run"
// +kubebuilder:validation:XValidation:rule="self.?load.warmup.durationSeconds.orValue(0) + self.?load.closed.durationSeconds.orValue(0) < self.activeDeadlineSeconds",fieldPath=".activeDeadlineSeconds",message="activeDeadlineSeconds must be greater than the seconds that load and warmup take"
// +kubebuilder:validation:XValidation:rule="self.?load.warmup.durationSeconds.orValue(0) + self.?load.open.durationSeconds.orValue(0) < self.activeDeadlineSeconds",fieldPath=".activeDeadlineSeconds",message="activeDeadlineSeconds must be greater than the seconds that load and warmup take"
// +kubebuilder:validation:XValidation:rule="!has(self.load) || !has(self.load.stages) || self.load.stages.levels.map(l, l.holdSeconds + l.?rampSeconds.orValue(0)).sum() + self.load.?warmup.durationSeconds.orValue(0) < self.activeDeadlineSeconds",message="activeDeadlineSeconds must exceed levels"
// +kubebuilder:validation:XValidation:rule="self.?load.warmup.steady.windows.orValue(0) * self.?load.warmup.steady.windowSeconds.orValue(0) + self.?load.closed.durationSeconds.orValue(0) < self.activeDeadlineSeconds",message="activeDeadlineSeconds must exceed windows and load"
// +kubebuilder:validation:XValidation:rule="self.?load.warmup.steady.windows.orValue(0) * self.?load.warmup.steady.windowSeconds.orValue(0) + self.?load.open.durationSeconds.orValue(0) < self.activeDeadlineSeconds",message="activeDeadlineSeconds must exceed windows and load"
// +kubebuilder:validation:XValidation:rule="double(self.?load.open.requestCount.orValue(0)) < self.?load.open.requestsPerSecond.orValue(1.0) * double(self.activeDeadlineSeconds)",fieldPath=".load.open.requestCount",message="must be less than requestsPerSecond times activeDeadlineSeconds"
// +kubebuilder:validation:XValidation:rule="[self.?load.closed].all(c, c.?thinkTime.minMilliseconds.orValue(0)*(c.?requestCount.orValue(0)/c.?connections.orValue(c.?users.orValue(1)) - 1) < self.activeDeadlineSeconds*1000)",fieldPath=".load.closed.thinkTime",message="exceeds activeDeadlineSeconds"
// +kubebuilder:validation:XValidation:rule="self.?load.client.protocol.orValue(\"\") != 'HTTP2' || !has(self.target.tls) || !has(self.target.tls.protocols) || self.target.tls.protocols.exists(p, p in ['TLSv1.2', 'TLSv1.3'])",fieldPath=".target.tls.protocols",message="HTTP2 needs TLSv1.2 or TLSv1.3"
// +kubebuilder:validation:XValidation:rule="!has(self.script) || !has(self.target.tls) || !has(self.target.tls.groups)",fieldPath=".target.tls.groups",message="target.tls.groups must not be set with a script: k6 has no such option"
// +kubebuilder:validation:XValidation:rule="!has(self.script) || self.target.?tls.sessionResumption.orValue('Disabled') == 'Disabled'",fieldPath=".target.tls.sessionResumption",message="target.tls.sessionResumption must not be Enabled with a script: k6 has no such option"
// +kubebuilder:validation:XValidation:rule="!has(self.target.server.external) || self.clients.?placement.orValue('Prefer') == 'Prefer'",fieldPath=".clients.placement",message="clients.placement must not be Apart or Together with an external server, whose node is unknown: use nodeSelector"
// +kubebuilder:validation:XValidation:rule="!has(self.target.server.external) || !has(self.load) || !has(self.load.stages) || !has(self.load.stages.stopAt) || self.load.stages.stopAt.all(t, t.metric != 'TargetCPU')",fieldPath=".load.stages.stopAt",message="the server's TargetCPU is unknown"
// +kubebuilder:validation:XValidation:rule="!has(self.thresholds) || self.?load.requests.hasValue() || self.thresholds.all(t, !has(t.request))",fieldPath=".thresholds",message="request must be the name of one of load.requests"
// +kubebuilder:validation:XValidation:rule="!has(self.thresholds) || !self.?load.requests.hasValue() || self.thresholds.all(t, !has(t.request) || self.load.requests.exists(r, has(r.name) && r.name == t.request))",fieldPath=".thresholds",message="request must be the name of one of load.requests"
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
