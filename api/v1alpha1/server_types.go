package v1alpha1

// Server says how the target's image is configured.
//
// +kubebuilder:validation:XValidation:rule="[has(self.tomcat), has(self.generic)].exists_one(x, x)",message="server must have exactly one member: tomcat or generic"
// +kubebuilder:validation:MinProperties=1
type Server struct {
	// tomcat configures an image with the layout of the official Tomcat image.
	// Give {} for Tomcat's own defaults.
	// +optional
	Tomcat *TomcatServer `json:"tomcat,omitempty"`

	// generic starts any image as it is.
	// +optional
	Generic *GenericServer `json:"generic,omitempty"`
}

// TomcatServer configures Apache Tomcat. The image must have Tomcat in
// /usr/local/tomcat (CATALINA_HOME) with bin/catalina.sh, as the official
// image has. The run replaces conf/server.xml by one with one connector and one
// web application, ROOT, with the content; logs, temp and work are empty
// folders. All else stays as it is in the image.
type TomcatServer struct {
	// connector is how Tomcat accepts connections.
	// +default={"protocol": "NIO"}
	// +optional
	Connector TomcatConnector `json:"connector,omitempty,omitzero"`

	// jvmOptions are handed to the Java virtual machine before Tomcat's own
	// (CATALINA_OPTS), one option per item, such as -Xmx512m.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=2
	// +kubebuilder:validation:items:MaxLength=512
	// +kubebuilder:validation:items:XValidation:rule="self.matches('^-[A-Za-z0-9_.:=/,+%@~-]+$')",message="a JVM option must begin with '-' and may hold letters, digits and _.:=/,+%@~- only, one option per item"
	// +optional
	JVMOptions []string `json:"jvmOptions,omitempty"`
}

// TomcatConnector is Tomcat's HTTP connector. A field that is left out keeps
// the default of the Tomcat version.
//
// +kubebuilder:validation:MinProperties=1
type TomcatConnector struct {
	// protocol is the connector's implementation: NIO
	// (Http11NioProtocol) or NIO2 (Http11Nio2Protocol). Defaults to NIO.
	// +default="NIO"
	// +optional
	Protocol TomcatProtocol `json:"protocol,omitempty"`

	// port is the TCP port of the connector. Defaults to 8080.
	// +default=8080
	// +kubebuilder:validation:Minimum=1024
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// maxThreads is the largest number of request processing threads.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	// +optional
	MaxThreads *int32 `json:"maxThreads,omitempty"`

	// acceptCount is the length of the queue of connections that wait when all
	// are taken.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	// +optional
	AcceptCount *int32 `json:"acceptCount,omitempty"`

	// keepAlive limits how connections are reused.
	// +optional
	KeepAlive *TomcatKeepAlive `json:"keepAlive,omitempty"`
}

// TomcatKeepAlive limits how Tomcat reuses connections.
//
// +kubebuilder:validation:MinProperties=1
type TomcatKeepAlive struct {
	// maxRequests is how many requests a connection may carry before Tomcat
	// closes it (maxKeepAliveRequests): 1 disables keep-alive, -1 is without
	// limit.
	// +kubebuilder:validation:Minimum=-1
	// +kubebuilder:validation:XValidation:rule="self != 0",message="maxRequests must be a positive number, or -1 for no limit"
	// +optional
	MaxRequests *int32 `json:"maxRequests,omitempty"`

	// timeoutMilliseconds is how long an idle connection is kept
	// (keepAliveTimeout), in milliseconds.
	// +kubebuilder:validation:Minimum=1
	// +optional
	TimeoutMilliseconds *int32 `json:"timeoutMilliseconds,omitempty"`
}

// TomcatProtocol is an implementation of Tomcat's HTTP connector.
//
// +kubebuilder:validation:Enum=NIO;NIO2
type TomcatProtocol string

const (
	// TomcatNIO is org.apache.coyote.http11.Http11NioProtocol.
	TomcatNIO TomcatProtocol = "NIO"
	// TomcatNIO2 is org.apache.coyote.http11.Http11Nio2Protocol.
	TomcatNIO2 TomcatProtocol = "NIO2"
)

// GenericServer starts any image as it is.
type GenericServer struct {
	// command replaces the image's entrypoint.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=4096
	// +optional
	Command []string `json:"command,omitempty"`

	// args replaces the image's arguments.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=128
	// +kubebuilder:validation:items:MaxLength=4096
	// +optional
	Args []string `json:"args,omitempty"`

	// env are environment variables of the server.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +optional
	Env []EnvironmentVariable `json:"env,omitempty"`

	// port is the TCP port on which the server answers. Defaults to 8080.
	// +default=8080
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// contentPath is the folder of the container under which the run's content
	// is mounted, read-only. Defaults to /assay/content.
	// +default="/assay/content"
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.matches('^(/[A-Za-z0-9_][A-Za-z0-9._-]*)+$')",message="contentPath must be an absolute path such as /usr/share/nginx/html"
	// +optional
	ContentPath string `json:"contentPath,omitempty"`
}

// EnvironmentVariable is a variable in a server's environment.
type EnvironmentVariable struct {
	// name is the name of the variable.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z_][A-Za-z0-9_]*$')",message="name must consist of letters, digits and '_', and not begin with a digit"
	// +required
	Name string `json:"name,omitempty"`

	// value is the value of the variable. $(NAME) isn't expanded in it.
	// +kubebuilder:validation:MinLength=0
	// +kubebuilder:validation:MaxLength=4096
	// +required
	Value *string `json:"value,omitempty"`
}
