package v1alpha1

import corev1 "k8s.io/api/core/v1"

// ClientTool is a load generator other than Assay's own.
type ClientTool struct {
	// name is the program: AB, which is ab of Apache httpd, or Siege.
	// +required
	Name ToolName `json:"name,omitempty"`

	// image is a container image with the program on its PATH, such as httpd:2.4 for AB. It runs as the
	// clients' user without any privilege, with a read-only root filesystem.
	// +required
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
// +kubebuilder:validation:Enum=AB;Siege
type ToolName string

// The load generators.
const (
	ToolAB    ToolName = "AB"
	ToolSiege ToolName = "Siege"
)

// ToolRules holds what a run must meet whose clients run another load generator. It has no fields.
//
// +kubebuilder:validation:XValidation:rule="!has(self.clients.tool) || (has(self.load) && has(self.load.closed) && !has(self.load.closed.thinkTime) && !has(self.load.closed.rampSeconds))",reason="FieldValueInvalid",fieldPath=".load.closed",message="load.closed must be set without thinkTime and rampSeconds with clients.tool: the tools keep a fixed number of connections busy"
// +kubebuilder:validation:XValidation:rule="!has(self.clients.tool) || !has(self.load) || (has(self.load.requests) && size(self.load.requests) == 1 && (!has(self.load.requests[0].method) || self.load.requests[0].method == 'GET') && !has(self.load.requests[0].headers) && !has(self.load.requests[0].body) && !has(self.load.requests[0].host) && !has(self.load.requests[0].expect) && self.load.requests[0].?redirects.orValue(\"\") != 'Follow')",reason="FieldValueInvalid",fieldPath=".load.requests",message="load.requests must be one GET request with only a path with clients.tool"
// +kubebuilder:validation:XValidation:rule="!has(self.clients.tool) || !has(self.load) || !has(self.load.requests) || self.load.requests[0].path.matches('^[A-Za-z0-9/._~%?&=+,:;@-]*$')",reason="FieldValueInvalid",fieldPath=".load.requests",message="the path of load.requests must consist of letters, digits and /._~%?&=+,:;@- with clients.tool: percent-encode others"
// +kubebuilder:validation:XValidation:rule="!has(self.clients.tool) || !has(self.load) || (self.load.client.protocol == 'HTTP1' && self.load.client.cookies == 'Disabled' && !has(self.load.authentication) && self.load.loadIsPer == 'Client' && (!has(self.load.warmup) || !has(self.load.warmup.steady)))",reason="FieldValueInvalid",fieldPath=".load",message="load must have loadIsPer Client, and no HTTP2, cookies, authentication and warmup.steady with clients.tool"
// +kubebuilder:validation:XValidation:rule="!has(self.clients.tool) || (!has(self.target.tls) && (!has(self.target.server.external) || self.target.server.external.url.startsWith('http://')))",reason="FieldValueInvalid",fieldPath=".clients.tool",message="clients.tool must not be set with TLS, which the tools can't verify"
// +kubebuilder:validation:XValidation:rule="!has(self.clients.tool) || !has(self.thresholds) || self.thresholds.all(t, !t.metric.startsWith('Latency'))",reason="FieldValueInvalid",fieldPath=".thresholds",message="thresholds must not bound latencies with clients.tool, which can't be merged: use ErrorRate and RequestsPerSecond"
// +kubebuilder:validation:XValidation:rule="!has(self.clients.tool) || self.clients.tool.name != 'Siege' || !has(self.load) || !has(self.load.closed) || (self.load.closed.?requestCount.orValue(0) % self.load.closed.connections == 0 && self.load.?warmup.requestCount.orValue(0) % self.load.closed.connections == 0)",reason="FieldValueInvalid",fieldPath=".load.closed.requestCount",message="load.closed.requestCount and load.warmup.requestCount must be multiples of load.closed.connections with the tool Siege, each of whose users makes as many"
type ToolRules struct{}
