package v1alpha1

// NginxServer configures nginx. The run starts it with a configuration of its
// own; that of the image isn't read.
//
// +kubebuilder:validation:XValidation:rule="!has(self.upstreamKeepAlive) || has(self.forward)",fieldPath=".upstreamKeepAlive",message="upstreamKeepAlive must not be set without forward, by which nginx has connections to backends"
// +kubebuilder:validation:XValidation:rule="!has(self.upstreamKeepAlive) || !has(self.upstreamKeepAlive.maxRequests) || self.upstreamKeepAlive.?connections.orValue(1) > 0",fieldPath=".upstreamKeepAlive.connections",message="connections must not be 0 with maxRequests: omit it"
// +kubebuilder:validation:XValidation:rule="!has(self.upstreamKeepAlive) || !has(self.upstreamKeepAlive.timeoutMilliseconds) || self.upstreamKeepAlive.?connections.orValue(1) > 0",fieldPath=".upstreamKeepAlive.connections",message="connections must not be 0 with timeoutMilliseconds: omit it"
type NginxServer struct {
	// executable is the path of nginx in the image. Defaults to /usr/sbin/nginx,
	// as in the official image.
	// +default="/usr/sbin/nginx"
	// +optional
	Executable AbsolutePath `json:"executable,omitempty"`

	// port is the TCP port. Defaults to 8080, with TLS to 8443.
	// +kubebuilder:validation:Minimum=1024
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// workerProcesses is the number of worker processes (worker_processes).
	// Defaults to the target's CPUs, rounded up.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1024
	// +optional
	WorkerProcesses *int32 `json:"workerProcesses,omitempty"`

	// workerConnections is the largest number of connections of each worker
	// (worker_connections), those to backends included. Defaults to 16384.
	// +kubebuilder:validation:Minimum=16
	// +kubebuilder:validation:Maximum=1000000
	// +optional
	WorkerConnections *int32 `json:"workerConnections,omitempty"`

	// backlog is the length of the queue of connections that wait (backlog of listen).
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	// +optional
	Backlog *int32 `json:"backlog,omitempty"`

	// reusePort says whether each worker process has a listening socket of its own, among which the
	// kernel divides the connections (reuseport of listen). Defaults to Disabled.
	// +optional
	ReusePort Switch `json:"reusePort,omitempty"`

	// keepAlive says how connections are reused.
	// +optional
	KeepAlive *NginxKeepAlive `json:"keepAlive,omitempty"`

	// sendfile says whether static files may be sent by the kernel (sendfile).
	// +optional
	Sendfile Switch `json:"sendfile,omitempty"`

	// http2 says whether nginx speaks HTTP/2 as well (http2 of listen). Assay's
	// clients do where load.client.protocol says so. Without TLS, nginx before
	// 1.25.1 then speaks nothing else. Defaults to Disabled.
	// +optional
	HTTP2 Switch `json:"http2,omitempty"`

	// accessLog says whether nginx writes an access log, to
	// /assay/logs/access.log in its container. Defaults to Disabled.
	// +optional
	AccessLog Switch `json:"accessLog,omitempty"`

	// forward forwards some requests to backends.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.all(f, self.exists_one(g, [g.?pathSuffix, g.?pathPrefix] == [f.?pathSuffix, f.?pathPrefix]))",message="forward must not have the same path twice"
	// +kubebuilder:validation:XValidation:rule="self.all(f, !has(f.protocol) || f.protocol == 'HTTP')",message="forward must have the protocol HTTP: nginx doesn't speak AJP"
	// +optional
	Forward []Forward `json:"forward,omitempty"`

	// upstreamKeepAlive says how connections to the backends of forward are reused.
	// +optional
	UpstreamKeepAlive *NginxUpstreamKeepAlive `json:"upstreamKeepAlive,omitempty"`

	// configuration is the user's own. The key nginx.conf replaces the rendered file. Every other key
	// must end in .conf and is included: main.conf and those that end in .main.conf outside of all
	// blocks, events.conf and http.conf likewise in those blocks, all others in the server block.
	// +optional
	Configuration *Configuration `json:"configuration,omitempty"`
}

// NginxKeepAlive says how nginx reuses connections.
//
// +kubebuilder:validation:XValidation:rule="!has(self.mode) || self.mode != 'Disabled' || (!has(self.maxRequests) && !has(self.timeoutMilliseconds))",fieldPath=".mode",message="maxRequests and timeoutMilliseconds must not be set with the mode Disabled: omit them"
type NginxKeepAlive struct {
	// mode says whether connections are reused at all. Defaults to Enabled.
	// +optional
	Mode Switch `json:"mode,omitempty"`

	// maxRequests is the maximum number of requests per connection (keepalive_requests).
	// +kubebuilder:validation:Minimum=1
	// +optional
	MaxRequests *int32 `json:"maxRequests,omitempty"`

	// timeoutMilliseconds is the time for which an idle connection is kept
	// (keepalive_timeout), in milliseconds.
	// +kubebuilder:validation:Minimum=1
	// +optional
	TimeoutMilliseconds *int32 `json:"timeoutMilliseconds,omitempty"`
}

// NginxUpstreamKeepAlive says how nginx reuses connections to each backend.
type NginxUpstreamKeepAlive struct {
	// connections is the number of idle connections that each worker process keeps (keepalive of
	// upstream). With 0 each request has a connection of its own. Defaults to 1024.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	// +optional
	Connections *int32 `json:"connections,omitempty"`

	// maxRequests is the maximum number of requests per connection (keepalive_requests of upstream),
	// by nginx's default 1000.
	// +kubebuilder:validation:Minimum=1
	// +optional
	MaxRequests *int32 `json:"maxRequests,omitempty"`

	// timeoutMilliseconds is the time for which an idle connection is kept (keepalive_timeout of
	// upstream), in milliseconds, by nginx's default 60000.
	// +kubebuilder:validation:Minimum=1
	// +optional
	TimeoutMilliseconds *int32 `json:"timeoutMilliseconds,omitempty"`
}

// NginxRules holds what a run must meet whose target is an nginx. It has no fields.
//
// +kubebuilder:validation:XValidation:rule="self.?load.client.protocol.orValue(\"\") != 'HTTP2' || self.target.server.?nginx.optMap(s, has(s.configuration) || has(s.http2) && s.http2 == 'Enabled').orValue(true)",fieldPath=".load.client.protocol",message="set nginx.http2 Enabled"
type NginxRules struct{}
