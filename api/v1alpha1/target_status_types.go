package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// TargetStatus describes the target that was started and measured.
type TargetStatus struct {
	ServerStatus `json:",inline"`

	// node is the name of the node that the target runs on.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Node string `json:"node,omitempty"`

	// address is the address and port that the clients connect to.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Address string `json:"address,omitempty"`

	// serverSoftware is the Server header of the target's first response.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +optional
	ServerSoftware string `json:"serverSoftware,omitempty"`

	// tls has the TLS parameters negotiated with the target.
	// +optional
	TLS *TLSStatus `json:"tls,omitempty"`

	// kernel is the release of the node's kernel.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +optional
	Kernel string `json:"kernel,omitempty"`

	// backends are the further servers of the target's pod.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=4
	// +optional
	Backends []BackendStatus `json:"backends,omitempty"`

	// cpus lists the CPUs that the server may run on, as in "1" or "0-3,8".
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	CPUs string `json:"cpus,omitempty"`

	// cpuExclusivity says whether these CPUs belong to the server alone:
	// Exclusive, Shared or Unknown.
	// +optional
	CPUExclusivity CPUExclusivity `json:"cpuExclusivity,omitempty"`
}

// ServerStatus describes a server as it was started.
type ServerStatus struct {
	// imageID is the identity of the image as the container runtime reports it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	ImageID string `json:"imageID,omitempty"`

	// serverVersion is the server's name and version as it logged them, such as
	// Apache Tomcat/9.0.98.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +optional
	ServerVersion string `json:"serverVersion,omitempty"`

	// connector is the server's connector as it logged it, such as
	// https-openssl-apr-8443 or mpm_event.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +optional
	Connector string `json:"connector,omitempty"`

	// libraries are the versions of what the server runs on as it logged them,
	// such as OpenSSL 3.0.15.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	// +optional
	Libraries []string `json:"libraries,omitempty"`

	// configuration says what the files of the user's own configuration do.
	// +optional
	Configuration *ConfigurationStatus `json:"configuration,omitempty"`
}

// ConfigurationStatus says what the files of the user's own configuration do.
type ConfigurationStatus struct {
	// extent is Replaced if one of the files replaces the one that Assay renders, else Extended.
	// +required
	Extent ConfigurationExtent `json:"extent,omitempty"`

	// files are the keys of the ConfigMap, up to 64 of them.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +optional
	Files []string `json:"files,omitempty"`

	// fields are those of the server whose settings the files have, such as keepAlive.maxRequests.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=64
	// +optional
	Fields []string `json:"fields,omitempty"`
}

// ConfigurationExtent says how much of a server's configuration is the user's own.
//
// +kubebuilder:validation:Enum=Replaced;Extended
type ConfigurationExtent string

// The values of ConfigurationExtent.
const (
	ConfigurationReplaced ConfigurationExtent = "Replaced"
	ConfigurationExtended ConfigurationExtent = "Extended"
)

// TLSStatus has the TLS parameters negotiated with the target before the load.
type TLSStatus struct {
	// protocol is the version of TLS, such as TLSv1.3.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +optional
	Protocol string `json:"protocol,omitempty"`

	// cipher is the cipher suite by OpenSSL's name.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Cipher string `json:"cipher,omitempty"`

	// keyAlgorithm is the algorithm of the certificate's key: RSA, ECDSA or Ed25519.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +optional
	KeyAlgorithm string `json:"keyAlgorithm,omitempty"`

	// keySize is the size of the certificate's key in bits.
	// +optional
	KeySize *int32 `json:"keySize,omitempty"`

	// subject is the subject of the certificate.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +optional
	Subject string `json:"subject,omitempty"`

	// issuer is the issuer of the certificate.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +optional
	Issuer string `json:"issuer,omitempty"`

	// fingerprint is the SHA-256 of the certificate, in hexadecimal.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +optional
	Fingerprint string `json:"fingerprint,omitempty"`

	// notAfter is the time at which the certificate expires.
	// +optional
	NotAfter *metav1.Time `json:"notAfter,omitempty"`

	// clientCertificate says whether the target requested a client certificate: Requested or
	// NotRequested.
	// +optional
	ClientCertificate ClientCertificateRequest `json:"clientCertificate,omitempty"`
}

// ClientCertificateRequest says whether a target requests a client certificate.
//
// +kubebuilder:validation:Enum=Requested;NotRequested
type ClientCertificateRequest string

// The values of ClientCertificateRequest.
const (
	ClientCertificateRequested    ClientCertificateRequest = "Requested"
	ClientCertificateNotRequested ClientCertificateRequest = "NotRequested"
)

// BackendStatus describes a backend as it was started.
type BackendStatus struct {
	ServerStatus `json:",inline"`

	// name is the backend's name.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +required
	Name string `json:"name,omitempty"`

	// usage is the backend's usage during the measurement.
	// +optional
	Usage *TargetUsage `json:"usage,omitempty"`
}

// CPUExclusivity says whether CPUs belong to one container alone.
//
// +kubebuilder:validation:Enum=Exclusive;Shared;Unknown
type CPUExclusivity string

// The values of CPUExclusivity.
const (
	CPUsExclusive CPUExclusivity = "Exclusive"
	CPUsShared    CPUExclusivity = "Shared"
	CPUsUnknown   CPUExclusivity = "Unknown"
)
