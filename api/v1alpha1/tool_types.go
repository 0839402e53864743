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
// +kubebuilder:validation:XValidation:rule="!has(self.clients.tool) || has(self.load) && has(self.load.closed)",fieldPath=".load.closed",message="load.closed must be set with clients.tool: the tools keep a fixed number of connections busy"
// +kubebuilder:validation:XValidation:rule="!has(self.clients.tool) || !self.?load.closed.thinkTime.hasValue()",fieldPath=".load.closed.thinkTime",message="load.closed must be set without thinkTime with clients.tool"
// +kubebuilder:validation:XValidation:rule="!has(self.clients.tool) || !self.?load.closed.rampSeconds.hasValue()",fieldPath=".load.closed.rampSeconds",message="load.closed must be set without rampSeconds with clients.tool"
// +kubebuilder:validation:XValidation:rule="!has(self.clients.tool) || !has(self.load) || has(self.load.requests) && size(self.load.requests) == 1",fieldPath=".load.requests",message="load.requests must be one GET request with only a path with clients.tool"
// +kubebuilder:validation:XValidation:rule="!has(self.clients.tool) || !has(self.load) || !has(self.load.requests) || self.load.requests[0].?method.orValue('GET') == 'GET'",fieldPath=".load.requests",message="load.requests must be one GET request with only a path with clients.tool"
// +kubebuilder:validation:XValidation:rule="!has(self.clients.tool) || !has(self.load) || !has(self.load.requests) || !has(self.load.requests[0].headers)",fieldPath=".load.requests",message="load.requests must be one GET request with only a path with clients.tool"
// +kubebuilder:validation:XValidation:rule="!has(self.clients.tool) || !has(self.load) || !has(self.load.requests) || !has(self.load.requests[0].body)",fieldPath=".load.requests",message="load.requests must be one GET request with only a path with clients.tool"
// +kubebuilder:validation:XValidation:rule="!has(self.clients.tool) || !has(self.load) || !has(self.load.requests) || !has(self.load.requests[0].host)",fieldPath=".load.requests",message="load.requests must be one GET request with only a path with clients.tool"
// +kubebuilder:validation:XValidation:rule="!has(self.clients.tool) || !has(self.load) || !has(self.load.requests) || !has(self.load.requests[0].expect)",fieldPath=".load.requests",message="load.requests must be one GET request with only a path with clients.tool"
// +kubebuilder:validation:XValidation:rule="!has(self.clients.tool) || !has(self.load) || !has(self.load.requests) || self.load.requests[0].?redirects.orValue('Ignore') != 'Follow'",fieldPath=".load.requests",message="load.requests must be one GET request with only a path with clients.tool"
// +kubebuilder:validation:XValidation:rule="!has(self.clients.tool) || !has(self.load) || !has(self.load.requests) || self.load.requests[0].path.matches('^[A-Za-z0-9/._~%?&=+,:;@-]*$')",fieldPath=".load.requests",message="the path must have letters, digits and /._~%?&=+,:;@- only with clients.tool"
// +kubebuilder:validation:XValidation:rule="!has(self.clients.tool) || self.?load.client.protocol.orValue('HTTP1') == 'HTTP1'",fieldPath=".load.client.protocol",message="load.client.protocol must be HTTP1 with clients.tool"
// +kubebuilder:validation:XValidation:rule="!has(self.clients.tool) || self.?load.client.cookies.orValue('Disabled') == 'Disabled'",fieldPath=".load.client.cookies",message="load.client.cookies must be Disabled with clients.tool"
// +kubebuilder:validation:XValidation:rule="!has(self.clients.tool) || self.?load.loadIsPer.orValue('Client') == 'Client'",fieldPath=".load.loadIsPer",message="load.loadIsPer must be Client with clients.tool"
// +kubebuilder:validation:XValidation:rule="!has(self.clients.tool) || !self.?load.authentication.hasValue()",fieldPath=".load.authentication",message="load.authentication must not be set with clients.tool"
// +kubebuilder:validation:XValidation:rule="!has(self.clients.tool) || !self.?load.warmup.steady.hasValue()",fieldPath=".load.warmup.steady",message="load.warmup.steady must not be set with clients.tool"
// +kubebuilder:validation:XValidation:rule="!has(self.clients.tool) || !has(self.target.tls)",fieldPath=".clients.tool",message="clients.tool must not be set with TLS, which the tools can't verify"
// +kubebuilder:validation:XValidation:rule="!has(self.clients.tool) || !has(self.target.server.external) || self.target.server.external.url.startsWith('http://')",fieldPath=".clients.tool",message="clients.tool must not be set with TLS, which the tools can't verify"
// +kubebuilder:validation:XValidation:rule="!has(self.clients.tool) || !has(self.thresholds) || self.thresholds.all(t, !t.metric.startsWith('Latency'))",fieldPath=".thresholds",message="thresholds must not bound latencies with clients.tool, which can't be merged: use ErrorRate or RequestsPerSecond"
// +kubebuilder:validation:XValidation:rule="!has(self.clients.tool) || self.clients.tool.name != 'Siege' || self.?load.closed.requestCount.orValue(0) % self.?load.closed.connections.orValue(1) == 0",fieldPath=".load.closed.requestCount",message="must be a multiple of connections with Siege"
// +kubebuilder:validation:XValidation:rule="!has(self.clients.tool) || self.clients.tool.name != 'Siege' || self.?load.warmup.requestCount.orValue(0) % self.?load.closed.connections.orValue(1) == 0",fieldPath=".load.warmup.requestCount",message="must be a multiple of connections with Siege"
type ToolRules struct{}
