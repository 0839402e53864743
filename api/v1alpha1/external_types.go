package v1alpha1

// ExternalServer is a server that Assay doesn't start.
//
// +kubebuilder:validation:XValidation:rule="!has(self.certificateAuthority) || self.url.startsWith('https:')",reason="FieldValueForbidden",fieldPath=".certificateAuthority",message="certificateAuthority must not be set when url is http: omit it, or use an https url"
type ExternalServer struct {
	// url is the server's URL: http or https, host and, if it isn't 80 or 443, port,
	// such as https://www.example.org:8443. The clients' pods must reach it.
	// +kubebuilder:validation:MinLength=8
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="isURL(self) && self.matches('^https?://([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?([.][A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*|[[][0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*[]])(:[1-9][0-9]{0,4})?$')",message="url must be http:// or https:// with a host"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^https?://[^/]*[/?#]')",message="url must be such as https://www.example.org:8443, with nothing after the port: paths belong in load.requests"
	// +kubebuilder:validation:XValidation:rule="!self.matches(':[0-9]{1,5}$') || int(self.substring(self.lastIndexOf(':') + 1)) <= 65535",message="url must have a port up to 65535, if it has one"
	// +required
	URL string `json:"url,omitempty"`

	// host is the Host header of requests. Defaults to the url's host and port.
	// +optional
	Host HostPort `json:"host,omitempty"`

	// certificateAuthority has the CA bundle, in PEM under the key ca.crt, that the server's
	// certificate is verified against. Defaults to Mozilla's root program.
	// +optional
	CertificateAuthority *CertificateAuthority `json:"certificateAuthority,omitempty"`
}

// CertificateAuthority is the source of a CA bundle, under the key ca.crt.
//
// +kubebuilder:validation:ExactlyOneOf=configMapName;secretName
type CertificateAuthority struct {
	// configMapName names a ConfigMap in the run's namespace.
	// +optional
	ConfigMapName ConfigMapName `json:"configMapName,omitempty"`

	// secretName names a Secret in the run's namespace. No other key of it is used.
	// +optional
	SecretName SecretName `json:"secretName,omitempty"`
}
