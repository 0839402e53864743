package v1alpha1

// TomcatServer configures Apache Tomcat. The run replaces conf/server.xml by
// one with one connector and one host, and conf/logging.properties by one that
// logs to the container's output; logs, temp and work are empty directories.
// All else stays as it is in the image.
type TomcatServer struct {
	// home is the directory of the image with Tomcat itself (CATALINA_HOME). Defaults to
	// /usr/local/tomcat, as in the official image.
	// +optional
	Home AbsolutePath `json:"home,omitempty"`

	// base is the directory of the image with the configuration of this instance (CATALINA_BASE):
	// conf, webapps, logs, temp and work. Defaults to home.
	// +optional
	Base AbsolutePath `json:"base,omitempty"`

	// connector configures Tomcat's connector.
	// +optional
	Connector TomcatConnector `json:"connector,omitempty,omitzero"`

	// applications says what Tomcat deploys: Image, the applications in webapps of base, from a copy
	// in which it unpacks them, and to which target.content adds its files; or Content, the content
	// alone, as ROOT. Defaults to Content if target.content is set, and to Image if not.
	// +optional
	Applications Applications `json:"applications,omitempty"`

	// ajp adds a connector for AJP, by which an httpd in front can forward requests. If not set, there
	// is none.
	// +optional
	AJP *TomcatAJP `json:"ajp,omitempty"`

	// jvmOptions are options of the Java virtual machine (CATALINA_OPTS), one option per item, such
	// as -Xmx512m.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=2
	// +kubebuilder:validation:items:MaxLength=512
	// +kubebuilder:validation:items:XValidation:rule="self.matches('^-[!-~]+$')",message="a JVM option must begin with '-' and have printable ASCII characters without spaces only, one option per item"
	// +optional
	JVMOptions []string `json:"jvmOptions,omitempty"`

	// accessLog says whether Tomcat writes an access log, to logs/localhost_access_log in its own
	// directory. Defaults to Disabled.
	// +optional
	AccessLog Switch `json:"accessLog,omitempty"`

	// gcLog says whether the Java virtual machine logs its garbage collections for the result (-Xlog, by
	// JDK_JAVA_OPTIONS, which replaces the image's). Java 8 doesn't, nor one whose jvmOptions have -Xlog or -Xloggc.
	// Defaults to Enabled.
	// +optional
	GCLog Switch `json:"gcLog,omitempty"`

	// configuration is the user's own. Each key is a file of conf: server.xml replaces the rendered
	// one, context.xml or web.xml that of the image.
	// +optional
	Configuration *Configuration `json:"configuration,omitempty"`
}

// TomcatConnector is Tomcat's HTTP connector. A field that is omitted keeps the default of the
// Tomcat version.
//
// +kubebuilder:validation:XValidation:rule="!has(self.executor) || self.executor != 'VirtualThreads' || (!has(self.maxThreads) && !has(self.minSpareThreads))",fieldPath=".executor",message="maxThreads and minSpareThreads must not be set with the executor VirtualThreads: omit them"
// +kubebuilder:validation:XValidation:rule="!has(self.maxThreads) || !has(self.minSpareThreads) || self.minSpareThreads <= self.maxThreads",fieldPath=".minSpareThreads",message="minSpareThreads must be at most maxThreads"
// +kubebuilder:validation:XValidation:rule="!has(self.compressionMinSizeBytes) || has(self.compression) && self.compression == 'Enabled'",fieldPath=".compressionMinSizeBytes",message="compressionMinSizeBytes must not be set unless compression is Enabled"
// +kubebuilder:validation:XValidation:rule="!has(self.http2Limits) || has(self.http2) && self.http2 == 'Enabled'",fieldPath=".http2Limits",message="http2Limits must not be set unless http2 is Enabled"
type TomcatConnector struct {
	// protocol is the connector's implementation: NIO (Http11NioProtocol), NIO2
	// (Http11Nio2Protocol) or APR (Http11AprProtocol, up to Tomcat 10.0, needs
	// Tomcat Native in the image). Defaults to NIO.
	// +optional
	Protocol TomcatProtocol `json:"protocol,omitempty"`

	// port is the TCP port of the connector. Defaults to 8080, with TLS to 8443.
	// +kubebuilder:validation:Minimum=1024
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// maxThreads is the largest number of request processing threads.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	// +optional
	MaxThreads *int32 `json:"maxThreads,omitempty"`

	// minSpareThreads is the number of threads that are always kept.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	// +optional
	MinSpareThreads *int32 `json:"minSpareThreads,omitempty"`

	// acceptCount is the length of the queue of connections that wait when all are in use (the
	// backlog).
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	// +optional
	AcceptCount *int32 `json:"acceptCount,omitempty"`

	// maxConnections is the largest number of connections that are served at a time.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	// +optional
	MaxConnections *int32 `json:"maxConnections,omitempty"`

	// connectionTimeoutMilliseconds is the time for which Tomcat waits for a request line after it has
	// accepted a connection (connectionTimeout), in milliseconds.
	// +kubebuilder:validation:Minimum=1
	// +optional
	ConnectionTimeoutMilliseconds *int32 `json:"connectionTimeoutMilliseconds,omitempty"`

	// keepAlive limits how connections are reused.
	// +optional
	KeepAlive *TomcatKeepAlive `json:"keepAlive,omitempty"`

	// executor says what runs requests: Internal, the connector's own threads; Shared, a
	// StandardThreadExecutor of the service; or VirtualThreads, a new virtual thread for each
	// request (Tomcat 9.0.82, 10.1.15 or 11 with Java 21). Defaults to Internal.
	// +optional
	Executor TomcatExecutor `json:"executor,omitempty"`

	// sendfile says whether static files may be sent by the kernel (useSendfile). Tomcat does so from
	// 48 KiB on, and then doesn't compress them; over TLS with NIO and NIO2 by JSSE it never does.
	// +optional
	Sendfile Switch `json:"sendfile,omitempty"`

	// compression says whether text is compressed for clients that accept it, up to the size from which
	// sendfile sends it. Assay's clients ask for it by a header Accept-Encoding of a request.
	// +optional
	Compression Switch `json:"compression,omitempty"`

	// compressionMinSizeBytes is the size from which responses are compressed (compressionMinSize).
	// +kubebuilder:validation:Minimum=0
	// +optional
	CompressionMinSizeBytes *int32 `json:"compressionMinSizeBytes,omitempty"`

	// http2 says whether Tomcat speaks HTTP/2 as well. Assay's clients do where
	// load.client.protocol says so.
	// +optional
	HTTP2 Switch `json:"http2,omitempty"`

	// http2Limits are limits of a connection of HTTP/2.
	// +optional
	HTTP2Limits *TomcatHTTP2Limits `json:"http2Limits,omitempty"`

	// tlsImplementation is what speaks TLS, with target.tls: JSSE, the Java virtual machine's own;
	// OpenSSL, by Tomcat Native in the image; or OpenSSLFFM, by Java 22's own access to libssl.so of
	// the image. Defaults to JSSE for the protocols NIO and NIO2; APR has OpenSSL only.
	// +optional
	TLSImplementation TLSImplementation `json:"tlsImplementation,omitempty"`

	// honorCipherOrder says whether the server's order of cipher suites decides, and not the
	// client's, up to TLS 1.2 (with JSSE also in 1.3).
	// +optional
	HonorCipherOrder Switch `json:"honorCipherOrder,omitempty"`

	// attributes are further attributes of the Connector, by Tomcat's names, such as processorCache.
	// Tomcat logs one that it doesn't know, and the run then fails.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +optional
	Attributes []TomcatAttribute `json:"attributes,omitempty"`
}

// TomcatAttribute is an attribute of an element of server.xml.
type TomcatAttribute struct {
	// name is Tomcat's name of it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z][A-Za-z0-9.]*$')",message="name must be the name of an attribute, such as processorCache"
	// +required
	Name string `json:"name,omitempty"`

	// value is its value.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.matches('^[!-~]+( [!-~]+)*$') && !self.contains('${')",message="value must have printable ASCII characters only, and no ${, which Tomcat would replace"
	// +required
	Value string `json:"value,omitempty"`
}

// TomcatHTTP2Limits are limits of Tomcat's Http2Protocol. A field that is omitted keeps the default of
// the Tomcat version.
type TomcatHTTP2Limits struct {
	// maxConcurrentStreams is the largest number of streams that a client may have open on a connection.
	// Tomcat's default is 100, before 9.0.66 200.
	// +kubebuilder:validation:Minimum=1
	// +optional
	MaxConcurrentStreams *int32 `json:"maxConcurrentStreams,omitempty"`

	// maxConcurrentStreamExecution is the largest number of streams of a connection that Tomcat works
	// on at a time. The others wait. Tomcat's default is 20.
	// +kubebuilder:validation:Minimum=1
	// +optional
	MaxConcurrentStreamExecution *int32 `json:"maxConcurrentStreamExecution,omitempty"`

	// attributes are further attributes of the UpgradeProtocol, by Tomcat's names, such as
	// overheadCountFactor. Tomcat logs one that it doesn't know, and the run then fails.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +optional
	Attributes []TomcatAttribute `json:"attributes,omitempty"`
}

// TomcatKeepAlive limits how Tomcat reuses connections.
type TomcatKeepAlive struct {
	// maxRequests is the maximum number of requests per connection
	// (maxKeepAliveRequests): 1 disables keep-alive, -1 is without limit.
	// +kubebuilder:validation:Minimum=-1
	// +kubebuilder:validation:XValidation:rule="self != 0",message="maxRequests must be a positive number, or -1 for no limit"
	// +optional
	MaxRequests *int32 `json:"maxRequests,omitempty"`

	// timeoutMilliseconds is the time for which an idle connection is kept
	// (keepAliveTimeout), in milliseconds.
	// +kubebuilder:validation:Minimum=1
	// +optional
	TimeoutMilliseconds *int32 `json:"timeoutMilliseconds,omitempty"`
}

// TomcatAJP is Tomcat's connector for AJP (AjpNioProtocol). It listens on 127.0.0.1 alone, where only
// the containers of the target's pod reach it, and therefore requires no secret.
type TomcatAJP struct {
	// port is the TCP port. Defaults to 8009.
	// +kubebuilder:validation:Minimum=1024
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// maxThreads is the largest number of threads that process requests by AJP.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	// +optional
	MaxThreads *int32 `json:"maxThreads,omitempty"`
}

// TomcatProtocol is an implementation of Tomcat's HTTP connector.
//
// +kubebuilder:validation:Enum=NIO;NIO2;APR
type TomcatProtocol string

// The values of TomcatProtocol.
const (
	TomcatNIO  TomcatProtocol = "NIO"
	TomcatNIO2 TomcatProtocol = "NIO2"
	TomcatAPR  TomcatProtocol = "APR"
)

// TLSImplementation is a TLS implementation of Tomcat.
//
// +kubebuilder:validation:Enum=JSSE;OpenSSL;OpenSSLFFM
type TLSImplementation string

// The values of TLSImplementation.
const (
	TLSJSSE       TLSImplementation = "JSSE"
	TLSOpenSSL    TLSImplementation = "OpenSSL"
	TLSOpenSSLFFM TLSImplementation = "OpenSSLFFM"
)

// Applications says whose web applications a server deploys.
//
// +kubebuilder:validation:Enum=Image;Content
type Applications string

// The values of Applications.
const (
	ApplicationsImage   Applications = "Image"
	ApplicationsContent Applications = "Content"
)

// TomcatExecutor says what runs requests in Tomcat.
//
// +kubebuilder:validation:Enum=Internal;Shared;VirtualThreads
type TomcatExecutor string

// The values of TomcatExecutor.
const (
	TomcatInternal       TomcatExecutor = "Internal"
	TomcatShared         TomcatExecutor = "Shared"
	TomcatVirtualThreads TomcatExecutor = "VirtualThreads"
)

// TomcatRules holds what a run must meet whose target is a Tomcat. It has no fields.
//
// +kubebuilder:validation:XValidation:rule="self.target.server.?tomcat.applications.orValue('Image') == 'Image' || has(self.target.content)",fieldPath=".target.server.tomcat.applications",message="applications must not be Content without target.content"
// +kubebuilder:validation:XValidation:rule="self.?load.client.protocol.orValue(\"\") != 'HTTP2' || self.target.server.?tomcat.optMap(s, has(s.configuration) || s.?connector.http2.orValue('-') == 'Enabled').orValue(true)",fieldPath=".load.client.protocol",message="set tomcat.connector.http2 Enabled"
// +kubebuilder:validation:XValidation:rule="self.target.server.?tomcat.connector.protocol.orValue('NIO') != 'APR' || self.target.server.?tomcat.connector.tlsImplementation.orValue('OpenSSL') == 'OpenSSL'",message="tlsImplementation must be OpenSSL with APR: use NIO or NIO2 for JSSE"
// +kubebuilder:validation:XValidation:rule="has(self.target.tls) || [self.target.server.?tomcat.connector].all(c, !(c.?tlsImplementation.hasValue() || c.?honorCipherOrder.hasValue()))",fieldPath=".target.server.tomcat",message="tlsImplementation and honorCipherOrder need target.tls"
// +kubebuilder:validation:XValidation:rule="!has(self.target.backends) || self.target.backends.all(b, [b.server.?tomcat.connector].all(c, !(c.?tlsImplementation.hasValue() || c.?honorCipherOrder.hasValue())))",fieldPath=".target.backends",message="backends speak no TLS"
type TomcatRules struct{}
