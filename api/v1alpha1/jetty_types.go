package v1alpha1

// JettyServer configures Eclipse Jetty 12. The run replaces the directory start.d of base by one
// with one connector, and serves the content by a resource handler or, if modules has one whose name
// ends in -deploy, as a web application next to those of the image; work is an empty directory. All
// else stays as it is in the image.
//
// +kubebuilder:validation:XValidation:rule="!has(self.threads) || !has(self.threads.type) || self.threads.type != 'Virtual' || !has(self.threads.min)",fieldPath=".threads.min",message="min must not be set with threads of the type Virtual, which are not kept"
// +kubebuilder:validation:XValidation:rule="!has(self.applications) || has(self.modules) && self.modules.exists(m, m.endsWith('-deploy'))",fieldPath=".applications",message="applications must not be set without a module whose name ends in -deploy, such as ee10-deploy"
// +kubebuilder:validation:XValidation:rule="!has(self.threads) || !has(self.threads.max) || !has(self.threads.min) || self.threads.min <= self.threads.max",fieldPath=".threads.min",message="min must be at most max"
type JettyServer struct {
	// home is the directory of the image with Jetty itself (JETTY_HOME): start.jar
	// and modules. Defaults to /usr/local/jetty, as in the official image.
	// +default="/usr/local/jetty"
	// +optional
	Home AbsolutePath `json:"home,omitempty"`

	// base is the directory of the image with the configuration of this instance
	// (JETTY_BASE). Defaults to /var/lib/jetty, as in the official image.
	// +default="/var/lib/jetty"
	// +optional
	Base AbsolutePath `json:"base,omitempty"`

	// connector configures Jetty's connector.
	// +optional
	Connector *JettyConnector `json:"connector,omitempty"`

	// threads is the pool of threads that runs requests, acceptors and selectors.
	// +optional
	Threads *JettyThreads `json:"threads,omitempty"`

	// modules are enabled in addition, as by --add-modules, such as ee10-deploy. They
	// must be in the image with all that they need: Jetty downloads nothing.
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=64
	// +kubebuilder:validation:items:XValidation:rule="self.matches('^[A-Za-z0-9][A-Za-z0-9_-]*([./][A-Za-z0-9_-]+)*$')",message="a module must be a name as java -jar start.jar --list-modules prints it, such as ee10-deploy"
	// +optional
	Modules []string `json:"modules,omitempty"`

	// applications says what the application ROOT is, with a module that deploys: Image, that of the
	// image, before which target.content is served as static files; or Content, the content. The other
	// applications in webapps of base are deployed either way. Defaults to Content if target.content is
	// set, and to Image if not.
	// +optional
	Applications Applications `json:"applications,omitempty"`

	// jvmOptions are options of the Java virtual machine, one per item, such as -Xmx512m.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=2
	// +kubebuilder:validation:items:MaxLength=512
	// +kubebuilder:validation:items:XValidation:rule="self.matches('^-[!-~]+$')",message="a JVM option must begin with '-' and have printable ASCII characters without spaces only, one option per item"
	// +optional
	JVMOptions []string `json:"jvmOptions,omitempty"`

	// accessLog says whether Jetty writes a request log, to /assay/logs. Defaults to Disabled.
	// +optional
	AccessLog Switch `json:"accessLog,omitempty"`

	// gcLog says whether the Java virtual machine logs its garbage collections for the result (-Xlog, by
	// JDK_JAVA_OPTIONS, which replaces the image's). Java 8 doesn't, nor one whose jvmOptions have -Xlog or -Xloggc.
	// Defaults to Enabled.
	// +optional
	GCLog Switch `json:"gcLog,omitempty"`

	// configuration is the user's own. A key that ends in .ini is a file of start.d, one that ends
	// in .xml of etc, one that ends in .mod of modules; assay.ini replaces the rendered file.
	// +optional
	Configuration *Configuration `json:"configuration,omitempty"`
}

// JettyConnector is Jetty's ServerConnector. A field that is omitted keeps the
// default of the Jetty version.
type JettyConnector struct {
	// port is the TCP port. Defaults to 8080, with TLS to 8443.
	// +kubebuilder:validation:Minimum=1024
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// acceptors is the number of threads that accept connections. With 0 the selectors accept.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1024
	// +optional
	Acceptors *int32 `json:"acceptors,omitempty"`

	// selectors is the number of threads that wait for connections to become ready.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1024
	// +optional
	Selectors *int32 `json:"selectors,omitempty"`

	// acceptQueueSize is the length of the queue of connections that are not accepted
	// yet (the backlog).
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +optional
	AcceptQueueSize *int32 `json:"acceptQueueSize,omitempty"`

	// maxConnections is the maximum number of open connections. It accepts no more
	// until one is closed. Unlimited if omitted.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	// +optional
	MaxConnections *int32 `json:"maxConnections,omitempty"`

	// keepAlive says how connections are reused.
	// +optional
	KeepAlive *JettyKeepAlive `json:"keepAlive,omitempty"`

	// http2 says whether Jetty speaks HTTP/2 as well. Defaults to Disabled.
	// +optional
	HTTP2 Switch `json:"http2,omitempty"`
}

// JettyKeepAlive says how Jetty reuses connections. Jetty has no limit of requests per connection.
//
// +kubebuilder:validation:XValidation:rule="!has(self.mode) || self.mode != 'Disabled' || !has(self.timeoutMilliseconds)",fieldPath=".mode",message="timeoutMilliseconds must not be set with the mode Disabled"
type JettyKeepAlive struct {
	// mode is Enabled or Disabled, which closes each HTTP/1.1 connection after its
	// first response. Defaults to Enabled.
	// +optional
	Mode Switch `json:"mode,omitempty"`

	// timeoutMilliseconds is the time for which a connection may be idle before Jetty closes it
	// (idleTimeout). Defaults to 30000.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600000
	// +optional
	TimeoutMilliseconds *int32 `json:"timeoutMilliseconds,omitempty"`
}

// JettyThreads is Jetty's pool of threads.
type JettyThreads struct {
	// type is Platform, or Virtual, which runs each request in a virtual thread and
	// needs Java 21. Defaults to Platform.
	// +optional
	Type JettyThreadType `json:"type,omitempty"`

	// max is the largest number of threads, or of requests that run in virtual threads at a time.
	// Jetty's default is 200. The acceptors and selectors need some of the platform threads.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	// +optional
	Max *int32 `json:"max,omitempty"`

	// min is the number of threads that are kept when idle. Jetty's default is 10, or
	// max if that is less.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	// +optional
	Min *int32 `json:"min,omitempty"`
}

// JettyThreadType is the type of the threads that run requests.
//
// +kubebuilder:validation:Enum=Platform;Virtual
type JettyThreadType string

// The values of JettyThreadType.
const (
	JettyPlatformThreads JettyThreadType = "Platform"
	JettyVirtualThreads  JettyThreadType = "Virtual"
)

// JettyRules holds what a run must meet whose target is a Jetty. It has no fields.
//
// +kubebuilder:validation:XValidation:rule="self.target.server.?jetty.applications.orValue('Image') == 'Image' || has(self.target.content)",fieldPath=".target.server.jetty.applications",message="applications must not be Content without target.content"
// +kubebuilder:validation:XValidation:rule="self.?load.client.protocol.orValue(\"\") != 'HTTP2' || self.target.server.?jetty.optMap(s, has(s.configuration) || s.?connector.http2.orValue('No') == 'Enabled').orValue(true)",fieldPath=".load.client.protocol",message="set jetty.connector.http2 Enabled"
type JettyRules struct{}
