package v1alpha1

// HTTPDServer configures Apache httpd 2.4. The run starts it with a configuration of its own, which
// loads what it needs as modules; that of the image isn't read.
//
// +kubebuilder:validation:XValidation:rule="!has(self.mpm) || self.mpm != 'Prefork' || !has(self.threadsPerChild)",fieldPath=".threadsPerChild",message="threadsPerChild must not be set with the mpm Prefork, whose processes have one thread each: omit it"
// +kubebuilder:validation:XValidation:rule="!has(self.startServers) || !has(self.serverLimit) || self.startServers <= self.serverLimit",fieldPath=".startServers",message="startServers must be at most serverLimit: httpd would lower it"
// +kubebuilder:validation:XValidation:rule="!has(self.maxRequestWorkers) || !has(self.threadsPerChild) || self.maxRequestWorkers % self.threadsPerChild == 0",fieldPath=".maxRequestWorkers",message="maxRequestWorkers must be a multiple of threadsPerChild: httpd would change it to one"
// +kubebuilder:validation:XValidation:rule="!has(self.maxRequestWorkers) || !has(self.serverLimit) || self.maxRequestWorkers <= self.serverLimit * self.?threadsPerChild.orValue(64)",fieldPath=".maxRequestWorkers",message="maxRequestWorkers must be at most serverLimit times threadsPerChild, or 64"
// +kubebuilder:validation:XValidation:rule="self.?mpm.orValue('Event') != 'Prefork' || self.?maxRequestWorkers.orValue(1) <= self.?serverLimit.orValue(100000)",fieldPath=".maxRequestWorkers",message="maxRequestWorkers must be at most serverLimit with the mpm Prefork: httpd would lower it"
// +kubebuilder:validation:XValidation:rule="!has(self.mpm) || self.mpm != 'Prefork' || !has(self.http2) || self.http2 == 'Disabled'",fieldPath=".http2",message="http2 must not be Enabled with the mpm Prefork: use Event or Worker"
type HTTPDServer struct {
	// home is the directory of the image with httpd (ServerRoot): its modules are in home/modules.
	// Defaults to /usr/local/apache2, as in the official image.
	// +default="/usr/local/apache2"
	// +optional
	Home AbsolutePath `json:"home,omitempty"`

	// executable is the path of httpd in the image. Defaults to bin/httpd in home.
	// +optional
	Executable AbsolutePath `json:"executable,omitempty"`

	// mpm is httpd's multi-processing module: Event, Worker or Prefork. Defaults to Event.
	// +optional
	MPM HTTPDMPM `json:"mpm,omitempty"`

	// port is the TCP port. Defaults to 8080, with TLS to 8443.
	// +kubebuilder:validation:Minimum=1024
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// startServers is the number of processes at the start (StartServers).
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=20000
	// +optional
	StartServers *int32 `json:"startServers,omitempty"`

	// serverLimit is the largest number of processes (ServerLimit).
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=20000
	// +optional
	ServerLimit *int32 `json:"serverLimit,omitempty"`

	// threadsPerChild is the number of threads of each process
	// (ThreadsPerChild, and ThreadLimit with it).
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=15000
	// +optional
	ThreadsPerChild *int32 `json:"threadsPerChild,omitempty"`

	// maxRequestWorkers is the largest number of requests that are served at a
	// time (MaxRequestWorkers).
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	// +optional
	MaxRequestWorkers *int32 `json:"maxRequestWorkers,omitempty"`

	// listenBacklog is the length of the queue of connections that wait (ListenBacklog).
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	// +optional
	ListenBacklog *int32 `json:"listenBacklog,omitempty"`

	// keepAlive says how connections are reused.
	// +optional
	KeepAlive *HTTPDKeepAlive `json:"keepAlive,omitempty"`

	// sendfile says whether static files may be sent by the kernel (EnableSendfile).
	// +optional
	Sendfile Switch `json:"sendfile,omitempty"`

	// http2 says whether httpd speaks HTTP/2 as well (Protocols), by mod_http2. Assay's clients do
	// where load.client.protocol says so. Defaults to Disabled.
	// +optional
	HTTP2 Switch `json:"http2,omitempty"`

	// accessLog says whether httpd writes an access log, to /assay/logs/access.log
	// in its container. Defaults to Disabled.
	// +optional
	AccessLog Switch `json:"accessLog,omitempty"`

	// forward forwards some requests to backends.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.all(f, self.exists_one(g, [g.?pathSuffix, g.?pathPrefix] == [f.?pathSuffix, f.?pathPrefix]))",message="forward must not have the same path twice"
	// +optional
	Forward []Forward `json:"forward,omitempty"`

	// configuration is the user's own. The key httpd.conf replaces the rendered file; every other
	// key must end in .conf and is included at its end, in alphabetical order.
	// +optional
	Configuration *Configuration `json:"configuration,omitempty"`
}

// HTTPDKeepAlive says how httpd reuses connections.
//
// +kubebuilder:validation:XValidation:rule="!has(self.mode) || self.mode != 'Disabled' || (!has(self.maxRequests) && !has(self.timeoutMilliseconds))",fieldPath=".mode",message="maxRequests and timeoutMilliseconds must not be set with the mode Disabled: omit them"
type HTTPDKeepAlive struct {
	// mode says whether connections are reused at all (KeepAlive). Defaults to Enabled.
	// +optional
	Mode Switch `json:"mode,omitempty"`

	// maxRequests is the maximum number of requests per connection (MaxKeepAliveRequests); 0 is
	// without limit.
	// +kubebuilder:validation:Minimum=0
	// +optional
	MaxRequests *int32 `json:"maxRequests,omitempty"`

	// timeoutMilliseconds is the time for which an idle connection is kept
	// (KeepAliveTimeout), in milliseconds.
	// +kubebuilder:validation:Minimum=1
	// +optional
	TimeoutMilliseconds *int32 `json:"timeoutMilliseconds,omitempty"`
}

// HTTPDMPM is a multi-processing module of httpd.
//
// +kubebuilder:validation:Enum=Event;Worker;Prefork
type HTTPDMPM string

// The values of HTTPDMPM.
const (
	HTTPDEvent   HTTPDMPM = "Event"
	HTTPDWorker  HTTPDMPM = "Worker"
	HTTPDPrefork HTTPDMPM = "Prefork"
)

// HTTPDRules holds what a run must meet whose target is an Apache httpd. It has no fields.
//
// +kubebuilder:validation:XValidation:rule="self.?load.client.protocol.orValue(\"\") != 'HTTP2' || self.target.server.?httpd.optMap(s, has(s.configuration) || has(s.http2) && s.http2 == 'Enabled').orValue(true)",fieldPath=".load.client.protocol",message="set httpd.http2 Enabled"
type HTTPDRules struct{}
