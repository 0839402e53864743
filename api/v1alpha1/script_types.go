package v1alpha1

// Script is a k6 script, which runs unchanged. Each client runs its part of the load, by k6's
// execution segments.
type Script struct {
	// configMapName names a ConfigMap in the run's namespace. Each of its keys is a file in the
	// script's directory: the script, its modules, its data. It is read once, at the start.
	// +required
	ConfigMapName ConfigMapName `json:"configMapName,omitempty"`

	// file is the key of the script, or its path where it is in one of the directories.
	// Defaults to script.js.
	// +default="script.js"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=500
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)*$')",message="file must be the key of a ConfigMap, such as script.js, or a directory's path, a slash and a key"
	// +optional
	File string `json:"file,omitempty"`

	// directories are more ConfigMaps, each of whose keys is a file in a directory of
	// its own below the script's.
	// +listType=map
	// +listMapKey=path
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Directories []ScriptDirectory `json:"directories,omitempty"`

	// hostNames are host names in the script that resolve to the target, at any port, so that a
	// script needs no change. With target.tls they must be in the certificate as well.
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +optional
	HostNames []DNSName `json:"hostNames,omitempty"`

	// env is added to the environment, which scripts read as __ENV and k6 its options (K6_…) from.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:XValidation:rule="!self.name.startsWith('ASSAY_')",fieldPath=".name",message="name must not begin with ASSAY_: such variables are Assay's own"
	// +optional
	Env []EnvironmentVariable `json:"env,omitempty"`

	// tags are added to all samples of k6's metrics, in addition to those of the script.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Tags []ScriptTag `json:"tags,omitempty"`

	// outputs are additional destinations of k6's samples while the script runs.
	// +optional
	Outputs *ScriptOutputs `json:"outputs,omitempty"`
}

// ScriptDirectory is a ConfigMap as a directory.
type ScriptDirectory struct {
	// path is the directory's path below the script's, such as lib/checks.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)*$')",message="path must be relative and consist of segments of letters, digits, '.', '_' and '-', each beginning with a letter, digit or '_', such as lib/checks"
	// +required
	Path string `json:"path,omitempty"`

	// configMapName names a ConfigMap in the run's namespace.
	// +required
	ConfigMapName ConfigMapName `json:"configMapName,omitempty"`
}

// ScriptTag is a tag of k6's samples.
type ScriptTag struct {
	// name is the tag's name. Those that begin with assay_ are Assay's own.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z_][A-Za-z0-9_]*$') && !self.startsWith('assay_')",message="name must consist of letters, digits and '_', not begin with a digit, and not begin with assay_"
	// +required
	Name string `json:"name,omitempty"`

	// value is its value.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9][A-Za-z0-9._:/@+-]*$')",message="value must begin with a letter or digit, and have letters, digits and ._:/@+- only"
	// +required
	Value string `json:"value,omitempty"`
}

// ScriptOutputs are additional destinations of k6's samples. They have the tags assay_run and
// assay_client, so that the series of clients differ.
type ScriptOutputs struct {
	// prometheusRemoteWrite sends them by Prometheus remote write.
	// +optional
	PrometheusRemoteWrite *PrometheusRemoteWrite `json:"prometheusRemoteWrite,omitempty"`

	// openTelemetry sends them by OTLP.
	// +optional
	OpenTelemetry *OpenTelemetry `json:"openTelemetry,omitempty"`
}

// PrometheusRemoteWrite is a receiver of Prometheus remote write.
//
// +kubebuilder:validation:XValidation:rule="!has(self.authentication) || self.authentication.scheme in ['Basic', 'Bearer']",fieldPath=".authentication.scheme",message="scheme must be Basic or Bearer: k6's output has no other"
type PrometheusRemoteWrite struct {
	// url is the destination of the samples, such as
	// http://prometheus.monitoring.svc:9090/api/v1/write.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="isURL(self) && self.matches('^https?://([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?([.][A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*|[[][0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*[]])(:[1-9][0-9]{0,4})?(/[A-Za-z0-9._~/-]*)?$')",message="url must have a host and a path"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^https?://.*[@?#]')",message="url must be http:// or https:// with a host and a path, without a user, a query or a fragment"
	// +kubebuilder:validation:XValidation:rule="!self.matches(':(6553[6-9]|655[4-9][0-9]|65[6-9][0-9]{2}|6[6-9][0-9]{3}|[7-9][0-9]{4})(/|$)')",message="url must have a port up to 65535, if it has one"
	// +required
	URL string `json:"url,omitempty"`

	// trendStatistics are the metrics that are sent of trends, such as p(99), min,
	// max, avg, med, count and sum. Defaults to p(99).
	// +default=["p(99)"]
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=16
	// +kubebuilder:validation:items:Pattern=`^(count|sum|min|max|avg|med|p[(][0-9]{1,3}([.][0-9]{1,5})?[)])$`
	// +optional
	TrendStatistics []string `json:"trendStatistics,omitempty"`

	// authentication specifies k6's credentials, of the scheme Basic or Bearer. If not set, k6
	// sends none.
	// +optional
	Authentication *OutputAuthentication `json:"authentication,omitempty"`
}

// OpenTelemetry is a receiver of OTLP.
type OpenTelemetry struct {
	// endpoint is its host and port, such as collector.monitoring.svc:4318.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=300
	// +kubebuilder:validation:XValidation:rule="self.matches('^([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?([.][A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*|[[][0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*[]]):[1-9][0-9]{0,4}$')",message="endpoint must be a host and a port, such as collector.monitoring.svc:4318"
	// +kubebuilder:validation:XValidation:rule="!self.matches(':[0-9]{1,5}$') || int(self.substring(self.lastIndexOf(':') + 1)) <= 65535",message="endpoint must have a port up to 65535"
	// +required
	Endpoint string `json:"endpoint,omitempty"`

	// protocol is HTTP or GRPC. Defaults to HTTP.
	// +default="HTTP"
	// +optional
	Protocol TelemetryProtocol `json:"protocol,omitempty"`

	// encryption is TLS, or None for plain text. Defaults to TLS.
	// +default="TLS"
	// +optional
	Encryption TelemetryEncryption `json:"encryption,omitempty"`

	// headersSecretRef names a key of a Secret with headers that are sent along, as
	// NAME=VALUE, several separated by commas, such as Authorization=Bearer%20….
	// +optional
	HeadersSecretRef *SecretKeyReference `json:"headersSecretRef,omitempty"`
}

// TelemetryProtocol is the transport of OTLP.
//
// +kubebuilder:validation:Enum=HTTP;GRPC
type TelemetryProtocol string

// The values of TelemetryProtocol.
const (
	TelemetryHTTP TelemetryProtocol = "HTTP"
	TelemetryGRPC TelemetryProtocol = "GRPC"
)

// TelemetryEncryption says whether OTLP is encrypted.
//
// +kubebuilder:validation:Enum=TLS;None
type TelemetryEncryption string

// The values of TelemetryEncryption.
const (
	TelemetryTLS   TelemetryEncryption = "TLS"
	TelemetryClear TelemetryEncryption = "None"
)

// OutputAuthentication specifies the credentials of an output.
type OutputAuthentication struct {
	// scheme is the authentication scheme: Basic (RFC 7617) or Bearer (RFC 6750).
	// +required
	Scheme AuthenticationScheme `json:"scheme,omitempty"`

	// secretName names a Secret in the run's namespace: with the keys username and
	// password for Basic, with the key token for Bearer.
	// +required
	SecretName SecretName `json:"secretName,omitempty"`
}
