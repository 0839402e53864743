package v1alpha1

// HTTPProtocol is a version of HTTP.
//
// +kubebuilder:validation:Enum=HTTP1;HTTP2
type HTTPProtocol string

// The values of HTTPProtocol.
const (
	HTTP1 HTTPProtocol = "HTTP1"
	HTTP2 HTTPProtocol = "HTTP2"
)
