package v1alpha1

// RequestsSource is the source of a list of requests.
type RequestsSource struct {
	// configMapKeyRef is a text in a ConfigMap of the run's namespace with a request in each line:
	// a path and query, or a method and a path, and after them a weight if it isn't 1, with spaces
	// between them, as in "/index.html", "HEAD /index.html" or "GET /search?q=a 3". Empty lines and
	// those that begin with # are ignored. It has at most 100,000 requests, without bodies, and is
	// read once, when the run starts.
	// +required
	ConfigMapKeyRef ConfigMapKeyReference `json:"configMapKeyRef,omitempty,omitzero"`
}
