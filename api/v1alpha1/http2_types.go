package v1alpha1

// HTTPProtocol is a version of HTTP.
//
// +kubebuilder:validation:Enum=HTTP1;HTTP2
type HTTPProtocol string

const (
	// HTTP1 is HTTP/1.1.
	HTTP1 HTTPProtocol = "HTTP1"
	// HTTP2 is HTTP/2.
	HTTP2 HTTPProtocol = "HTTP2"
)
