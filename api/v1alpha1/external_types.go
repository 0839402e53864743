package v1alpha1

// ExternalServer is a server that Assay doesn't start.
//
// +kubebuilder:validation:XValidation:rule="!has(self.certificateAuthority) || self.url.startsWith('https:')",reason="FieldValueForbidden",fieldPath=".certificateAuthority",message="certificateAuthority has no meaning when url is http: leave it out, or use an https url"
type ExternalServer struct {
	// url is where it is: http or https, host and, if it isn't 80 or 443, port,
	// such as https://www.example.org:8443. The clients' pods must reach it.
	// +kubebuilder:validation:MinLength=8
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="isURL(self) && self.matches('^https?://([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|[[][0-9A-Fa-f:.]+[]])(:[0-9]{1,5})?$') && (url(self).getPort() == '' || int(url(self).getPort()) > 0 && int(url(self).getPort()) < 65536)",message="url must be http:// or https:// with a host and, if need be, a port, and nothing after it, such as https://www.example.org:8443; paths belong in load.requests"
	// +required
	URL string `json:"url,omitempty"`

	// host is the Host header of requests. Defaults to the url's host and port.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=259
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?$')",message="host must be a name and, if need be, a port, such as www.example.org"
	// +optional
	Host string `json:"host,omitempty"`

	// certificateAuthority has the certificates, in PEM under the key ca.crt, that
	// vouch for the server. Defaults to those of Mozilla's root program.
	// +optional
	CertificateAuthority *CertificateAuthority `json:"certificateAuthority,omitempty"`
}

// CertificateAuthority is where certificates are found that vouch for a
// server, under the key ca.crt.
//
// +kubebuilder:validation:XValidation:rule="has(self.configMapName) != has(self.secretName)",message="certificateAuthority must have exactly one of configMapName and secretName"
// +kubebuilder:validation:MinProperties=1
type CertificateAuthority struct {
	// configMapName names a ConfigMap in the run's namespace.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="configMapName must be the name of a ConfigMap: lower-case letters, digits, '-' and '.'"
	// +optional
	ConfigMapName string `json:"configMapName,omitempty"`

	// secretName names a Secret in the run's namespace. No other key of it is
	// used.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="secretName must be the name of a Secret: lower-case letters, digits, '-' and '.'"
	// +optional
	SecretName string `json:"secretName,omitempty"`
}
