package v1alpha1

import corev1 "k8s.io/api/core/v1"

// ClientTool is a load generator other than Assay's own.
//
// +kubebuilder:validation:XValidation:rule="self.name == 'K6' || has(self.image)",fieldPath=".image",message="image must be set with AB and Siege, such as httpd:2.4"
// +kubebuilder:validation:XValidation:rule="self.name != 'K6' || !has(self.image)",fieldPath=".image",message="image must not be set with K6: set clients.image to use a build of your own"
type ClientTool struct {
	// name is the program: AB, which is ab of Apache httpd, Siege, or K6.
	// +required
	Name ToolName `json:"name,omitempty"`

	// image is a container image with the program on its PATH, such as httpd:2.4 for AB. It runs as the
	// clients' user without any privilege, with a read-only root filesystem. Required but for K6, which has clients.image.
	// +optional
	Image ImageName `json:"image,omitempty"`

	// imagePullPolicy says when the image is pulled: Always, IfNotPresent or
	// Never. Defaults to IfNotPresent.
	// +default="IfNotPresent"
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	// +optional
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`
}

// ToolName is the name of a load generator.
//
// +kubebuilder:validation:Enum=AB;Siege;K6
type ToolName string

// The load generators.
const (
	ToolAB    ToolName = "AB"
	ToolSiege ToolName = "Siege"
	ToolK6    ToolName = "K6"
)

// ToolRules holds what a run must meet whose clients run another load generator. It has no fields.
//
// +kubebuilder:validation:XValidation:rule="self.?clients.tool.name.orValue('K6') == 'K6' || has(self.load) && has(self.load.closed)",fieldPath=".load.closed",message="load.closed must be set with AB and Siege: the tools keep a fixed number of connections busy"
// +kubebuilder:validation:XValidation:rule="self.?clients.tool.name.orValue('K6') == 'K6' || [self.?load.closed].all(c, !c.?thinkTime.hasValue() && !c.?rampSeconds.hasValue())",fieldPath=".load.closed",message="load.closed must be set without thinkTime and rampSeconds with AB and Siege"
// +kubebuilder:validation:XValidation:rule="self.?clients.tool.name.orValue('K6') == 'K6' || !has(self.load) || has(self.load.requests) && size(self.load.requests) == 1",fieldPath=".load.requests",message="load.requests must be one GET request with only a path with AB and Siege"
// +kubebuilder:validation:XValidation:rule="self.?clients.tool.name.orValue('K6') == 'K6' || [self.?load.requests[0]].all(r, r.?method.orValue('GET') == 'GET' && r.?redirects.orValue(\"\") != 'Follow')",fieldPath=".load.requests",message="must be one GET request with only a path with AB and Siege"
// +kubebuilder:validation:XValidation:rule="self.?clients.tool.name.orValue('K6') == 'K6' || [self.?load.requests[0]].all(r, !(r.?headers.hasValue() || r.?body.hasValue()))",fieldPath=".load.requests",message="must be one GET request with only a path with AB and Siege"
// +kubebuilder:validation:XValidation:rule="self.?clients.tool.name.orValue('K6') == 'K6' || [self.?load.requests[0]].all(r, !(r.?host.hasValue() || r.?expect.hasValue()))",fieldPath=".load.requests",message="must be one GET request with only a path with AB and Siege"
// +kubebuilder:validation:XValidation:rule="self.?clients.tool.name.orValue('K6') == 'K6' || !self.?load.requests.hasValue() || self.load.requests[0].path.matches('^[A-Za-z0-9/._~%?&=+,:;@-]*$')",fieldPath=".load.requests",message="paths must be of letters, digits, /._~%?&=+,:;@- with AB and Siege"
// +kubebuilder:validation:XValidation:rule="self.?clients.tool.name.orValue('K6') == 'K6' || [self.?load.client].all(c, c.?protocol.orValue('HTTP1') == 'HTTP1' && c.?cookies.orValue('Disabled') == 'Disabled')",fieldPath=".load.client",message="protocol and cookies must be omitted with AB and Siege"
// +kubebuilder:validation:XValidation:rule="self.?clients.tool.name.orValue('K6') == 'K6' || self.?load.loadIsPer.orValue('Client') == 'Client'",fieldPath=".load.loadIsPer",message="load.loadIsPer must be Client with AB and Siege"
// +kubebuilder:validation:XValidation:rule="self.?clients.tool.name.orValue('K6') == 'K6' || !(self.?load.authentication.hasValue() || self.?load.warmup.steady.hasValue())",fieldPath=".load",message="authentication and warmup.steady must not be set with AB and Siege"
// +kubebuilder:validation:XValidation:rule="self.?clients.tool.name.orValue('K6') == 'K6' || !has(self.target.tls) && self.target.server.?external.url.orValue('http:').startsWith('http:')",fieldPath=".clients.tool",message="must not be AB or Siege with TLS, which the tools can't verify"
// +kubebuilder:validation:XValidation:rule="self.?clients.tool.name.orValue('K6') == 'K6' || !has(self.thresholds) || self.thresholds.all(t, !t.metric.startsWith('Latency'))",fieldPath=".thresholds",message="thresholds with AB and Siege must be ErrorRate or RequestsPerSecond: latencies don't merge"
// +kubebuilder:validation:XValidation:rule="self.?clients.tool.name.orValue('AB') != 'Siege' || [self.?load.closed.requestCount, self.?load.warmup.requestCount].all(n, n.orValue(0) % self.?load.closed.connections.orValue(1) == 0)",message="requestCount must be a multiple of connections"
// +kubebuilder:validation:XValidation:rule="self.?clients.tool.name.orValue('AB') != 'K6' || has(self.load)",fieldPath=".clients.tool",message="clients.tool must not be set with script: k6 runs every script"
// +kubebuilder:validation:XValidation:rule="self.?clients.tool.name.orValue('AB') != 'K6' || !self.?load.pages.hasValue()",fieldPath=".load.pages",message="load.pages must not be set with K6, whose users make one request at a time"
// +kubebuilder:validation:XValidation:rule="self.?clients.tool.name.orValue('AB') != 'K6' || self.?load.client.streams.orValue(1) == 1",fieldPath=".load.client.streams",message="load.client.streams must be 1 with K6, whose users have a connection each"
// +kubebuilder:validation:XValidation:rule="self.?clients.tool.name.orValue('AB') != 'K6' || self.?load.client.protocol.orValue('-') != 'HTTP2' || has(self.target.tls) || has(self.target.server.external)",fieldPath=".load.client.protocol",message="must be HTTP1 with K6 without TLS"
// +kubebuilder:validation:XValidation:rule="self.?clients.tool.name.orValue('AB') != 'K6' || self.?load.client.protocol.orValue('-') != 'HTTP2' || !self.target.server.?external.url.orValue('-').startsWith('http:')",fieldPath=".load.client.protocol",message="must be HTTP1 with K6 without TLS"
// +kubebuilder:validation:XValidation:rule="self.?clients.tool.name.orValue('AB') != 'K6' || self.?load.authentication.scheme.orValue('Basic') in ['Basic', 'Bearer']",fieldPath=".load.authentication.scheme",message="load.authentication.scheme must be Basic or Bearer with K6"
// +kubebuilder:validation:XValidation:rule="self.?clients.tool.name.orValue('AB') != 'K6' || [self.?load.open.interArrivalTimes, self.?load.stages.interArrivalTimes].all(t, t.orValue('Constant') == 'Constant')",fieldPath=".load",message="interArrivalTimes must be Constant with K6"
// +kubebuilder:validation:XValidation:rule="self.?clients.tool.name.orValue('AB') != 'K6' || !self.?load.closed.rampSeconds.hasValue() || !self.?load.closed.requestCount.hasValue()",fieldPath=".load.closed.rampSeconds",message="load.closed.rampSeconds must be set with durationSeconds with K6"
// +kubebuilder:validation:XValidation:rule="self.?clients.tool.name.orValue('AB') != 'K6' || !self.?load.requests.hasValue() || self.load.requests.all(r, r.?redirects.orValue('Ignore') == 'Ignore')",fieldPath=".load.requests",message="redirects must be Ignore with K6"
// +kubebuilder:validation:XValidation:rule="self.?clients.tool.name.orValue('AB') != 'K6' || !self.?load.requests.hasValue() || self.load.requests.all(r, r.?body.sizeBytes.orValue(1) <= 1048576)",fieldPath=".load.requests",message="body.sizeBytes must be at most 1048576 with K6"
// +kubebuilder:validation:XValidation:rule="!has(self.script) && self.?clients.tool.name.orValue('AB') != 'K6' || !self.?target.tls.groups.hasValue()",fieldPath=".target.tls.groups",message="must not be set with k6, whose key exchange can't be configured"
// +kubebuilder:validation:XValidation:rule="!has(self.script) && self.?clients.tool.name.orValue('AB') != 'K6' || self.?target.tls.sessionResumption.orValue('Disabled') == 'Disabled'",fieldPath=".target.tls.sessionResumption",message="must be Disabled with k6, which never resumes"
// +kubebuilder:validation:XValidation:rule="self.?clients.tool.name.orValue('AB') != 'K6' || !self.?target.tls.ciphers.hasValue() || self.target.tls.ciphers.all(c, !c.startsWith('TLS_'))",fieldPath=".target.tls.ciphers",message="target.tls.ciphers must not have suites of TLS 1.3 with K6"
// +kubebuilder:validation:XValidation:rule="!has(self.clients.image) || has(self.script) || self.?clients.tool.name.orValue('AB') == 'K6'",fieldPath=".clients.image",message="clients.image must not be set without script or the tool K6: it is a build of k6"
type ToolRules struct{}
