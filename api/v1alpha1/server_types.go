package v1alpha1

// Server says how the target's image is configured, or where the target is found.
//
// +kubebuilder:validation:ExactlyOneOf=tomcat;httpd;nginx;jetty;generic;external
type Server struct {
	// tomcat configures an image with the layout of the official Tomcat image. Set {} for Tomcat's
	// own defaults.
	// +optional
	Tomcat *TomcatServer `json:"tomcat,omitempty"`

	// httpd configures an image with the layout of the official Apache httpd image. Set {} for
	// httpd's own defaults.
	// +optional
	HTTPD *HTTPDServer `json:"httpd,omitempty"`

	// nginx configures an image with the layout of the official nginx image. Set {} for nginx's own
	// defaults.
	// +optional
	Nginx *NginxServer `json:"nginx,omitempty"`

	// jetty configures an image with the layout of the official Jetty image. Set {} for Jetty's own
	// defaults.
	// +optional
	Jetty *JettyServer `json:"jetty,omitempty"`

	// generic starts any image as it is.
	// +optional
	Generic *GenericServer `json:"generic,omitempty"`

	// external is a server that Assay doesn't start. Nothing is known of its CPU
	// and memory, which the condition Valid says.
	// +optional
	External *ExternalServer `json:"external,omitempty"`
}

// Switch turns something on or off.
//
// +kubebuilder:validation:Enum=Enabled;Disabled
type Switch string

// The values of Switch.
const (
	Enabled  Switch = "Enabled"
	Disabled Switch = "Disabled"
)

// Configuration is the user's own configuration of a server, for settings that have no field.
type Configuration struct {
	// configMapName names a ConfigMap in the run's namespace whose keys are files
	// of the server's configuration. It is read once, at the start.
	// +required
	ConfigMapName ConfigMapName `json:"configMapName,omitempty"`
}

// Forward forwards some requests to a backend.
//
// +kubebuilder:validation:ExactlyOneOf=pathSuffix;pathPrefix
type Forward struct {
	// pathSuffix is the end of the paths that are forwarded, such as .jsp.
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^[.][A-Za-z0-9_-]+$')",message="pathSuffix must be a dot followed by letters, digits, '_' or '-', such as .jsp"
	// +optional
	PathSuffix string `json:"pathSuffix,omitempty"`

	// pathPrefix is the beginning of the paths that are forwarded, such as /app.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.matches('^(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*/?$')",message="pathPrefix must begin with a slash and consist of segments of letters, digits, '.', '_' and '-', none beginning with a dot, such as /app"
	// +optional
	PathPrefix string `json:"pathPrefix,omitempty"`

	// protocol is the protocol with the backend: HTTP, or AJP with httpd in front and a Tomcat that has
	// ajp set behind it. Defaults to HTTP.
	// +optional
	Protocol ForwardProtocol `json:"protocol,omitempty"`

	// backend is the name of a member of spec.target.backends.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +required
	Backend string `json:"backend,omitempty"`
}

// ForwardProtocol is the protocol between a server in front and its backend.
//
// +kubebuilder:validation:Enum=HTTP;AJP
type ForwardProtocol string

// The values of ForwardProtocol.
const (
	ForwardHTTP ForwardProtocol = "HTTP"
	ForwardAJP  ForwardProtocol = "AJP"
)
