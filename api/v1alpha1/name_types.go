package v1alpha1

// The types of texts that occur in several places. They are aliases: the rules
// are the schema's, and code has plain strings.

// ConfigMapName is the name of a ConfigMap in the run's namespace.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=253
// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$')",message="must be a name of lowercase letters, digits, '-' and '.'"
type ConfigMapName = string

// SecretName is the name of a Secret in the run's namespace.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=253
// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$')",message="must be a name of lowercase letters, digits, '-' and '.'"
type SecretName = string

// ObjectName is the name of an object of another kind, or of an API group.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=253
// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$')",message="must be a name of lowercase letters, digits, '-' and '.'"
type ObjectName = string

// DataKey is a key of a ConfigMap or of a Secret.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=253
// +kubebuilder:validation:XValidation:rule="self.matches('^[-._A-Za-z0-9]+$') && !(self in ['.', '..'])",message="must be a key of letters, digits, '-', '_' and '.'"
type DataKey = string

// LabelKey is the name of a label.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=317
// +kubebuilder:validation:XValidation:rule="self.matches('^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$')",message="must be the name of a label such as topology.kubernetes.io/zone"
type LabelKey = string

// LabelValue is the value of a label. It may be empty.
//
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:XValidation:rule="self.matches('^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$')",message="must be the value of a label: at most 63 letters, digits, '-', '_' and '.'"
type LabelValue = string

// DNSLabel is a name without dots, in lowercase.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="must consist of lowercase letters, digits and '-', and begin and end with a letter or digit"
type DNSLabel = string

// DNSName is the name of a host.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=253
// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?([.][A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$')",message="must be a DNS name, such as www.example.org"
type DNSName = string

// HostPort is a Host header: a name or an address, an IPv6 address in brackets,
// with a port where it isn't the scheme's own.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=260
// +kubebuilder:validation:XValidation:rule="self.matches('^([A-Za-z0-9]([A-Za-z0-9_-]*[A-Za-z0-9])?([.][A-Za-z0-9]([A-Za-z0-9_-]*[A-Za-z0-9])?)*|[[][0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*[]])(:[1-9][0-9]{0,4})?$')",message="must be a name or an address, with a port if need be, such as [2001:db8::1]:80"
// +kubebuilder:validation:XValidation:rule="!self.matches(':[0-9]{1,5}$') || int(self.substring(self.lastIndexOf(':') + 1)) <= 65535",message="must have a port up to 65535, if it has one"
type HostPort = string

// URLPath is the path and query of a URL.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=2048
// +kubebuilder:validation:XValidation:rule="self.matches('^/([A-Za-z0-9._~!$&()*+,;=:@/?\\\\[\\\\]-]|%[0-9A-Fa-f]{2})*$')",message="must begin with a slash and have only characters that a URL may have, without a fragment; percent-encode the others, a space as %20"
type URLPath = string

// Rate is a number per second, as a decimal string.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=32
type Rate = string

// AbsolutePath is the path of a file or a directory in a container.
//
// +kubebuilder:validation:MinLength=2
// +kubebuilder:validation:MaxLength=255
// +kubebuilder:validation:XValidation:rule="self.matches('^(/[A-Za-z0-9_][A-Za-z0-9._-]*)+$')",message="must be an absolute path of letters, digits, '.', '_' and '-'"
type AbsolutePath = string

// ImageName is the name of a container image.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=512
// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9][A-Za-z0-9._:/@-]*$')",message="must be the name of a container image, such as tomcat:9.0, without spaces"
type ImageName = string

// FormFieldName is the name of a field of a form in HTML.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=128
// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9_.:\\\\[\\\\]-]+$')",message="must be the name of a form's field: letters, digits, '_', '-', '.', ':' and brackets"
type FormFieldName = string

// VariableName is the name of an environment variable.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=253
// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z_][A-Za-z0-9_]*$')",message="must consist of letters, digits and '_', and not begin with a digit"
type VariableName = string

// JSONPointer is a path into a document, as in RFC 6901, such as /load/closed/connections.
//
// +kubebuilder:validation:MinLength=2
// +kubebuilder:validation:MaxLength=512
// +kubebuilder:validation:Pattern=`^(/([^~/]|~[01])+)+$`
type JSONPointer = string
