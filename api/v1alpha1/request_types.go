package v1alpha1

// Request is one kind of request. Its fields have no defaults in the schema: those that the API
// server writes into the items of a list make every later apply of the same manifest a change.
//
// +kubebuilder:validation:XValidation:rule="!has(self.body) || (has(self.method) && !(self.method in ['GET', 'HEAD']))",fieldPath=".body",message="body must not be set with GET and HEAD: set method, such as POST, or omit it"
// +kubebuilder:validation:XValidation:rule="!has(self.expect) || !has(self.expect.bodyBytes) || !has(self.method) || self.method != 'HEAD'",fieldPath=".expect.bodyBytes",message="bodyBytes must not be set with HEAD, whose responses have no body: omit it"
type Request struct {
	// name is the name of the request's metrics in reports, thresholds and Benchmarks: letters, digits, '.', '_' and '-'. Defaults to
	// method and path, such as GET /cart. Requests without a name that have both in common have their metrics together.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$')",message="name must have letters, digits, '.', '_' and '-' only, and begin and end with a letter or a digit"
	// +optional
	Name string `json:"name,omitempty"`

	// method is the request's method. Defaults to GET.
	// +optional
	Method Method `json:"method,omitempty"`

	// path is the path and query of the URL.
	// +required
	Path URLPath `json:"path,omitempty"`

	// elements are the other requests of the page whose document this is, with load.pages: paths and
	// queries as in path, each a GET to the same host with the same headers. They are requested once the document is
	// complete. A path may occur several times.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +optional
	Elements []ElementPath `json:"elements,omitempty"`

	// weight is the frequency of this request relative to the others; in the
	// order Sequential, its number of repetitions. Defaults to 1.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	// +optional
	Weight *int32 `json:"weight,omitempty"`

	// host is the request's Host header, with a port where it isn't the scheme's
	// own. Defaults to the name of the target.
	// +optional
	Host HostPort `json:"host,omitempty"`

	// headers are further headers of the request. User-Agent, Accept and
	// Content-Type replace the client's own.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.all(h, self.exists_one(g, g.name.lowerAscii() == h.name.lowerAscii()))",message="headers must not have the same name twice: uppercase and lowercase letters are the same in it"
	// +optional
	Headers []Header `json:"headers,omitempty"`

	// body is the request's body. If not set, there is none.
	// +optional
	Body *Body `json:"body,omitempty"`

	// expect specifies the response of a successful request. Defaults to a status
	// from 200 to 399 and, where the path is that of a file of target.content with sizeBytes and
	// the method is GET, its length.
	// +optional
	Expect *Expectation `json:"expect,omitempty"`

	// redirects says whether a response with a Location is followed to its end
	// (Follow), as part of the same request, or is the response (Ignore). It is
	// followed up to 10 times and to the target alone. Defaults to Ignore.
	// +optional
	Redirects Redirects `json:"redirects,omitempty"`
}

// ElementPath is the path and query of an element of a page. It must begin with a slash and have only
// characters that a URL may have, without a fragment.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=512
// +kubebuilder:validation:Pattern=`^/([A-Za-z0-9._~!$&()*+,;=:@/?\[\]-]|%[0-9A-Fa-f]{2})*$`
type ElementPath string

// Method is a method of HTTP.
//
// +kubebuilder:validation:MaxLength=8
// +kubebuilder:validation:Enum=GET;HEAD;POST;PUT;PATCH;DELETE;OPTIONS
type Method string

// The methods.
const (
	MethodGet     Method = "GET"
	MethodHead    Method = "HEAD"
	MethodPost    Method = "POST"
	MethodPut     Method = "PUT"
	MethodPatch   Method = "PATCH"
	MethodDelete  Method = "DELETE"
	MethodOptions Method = "OPTIONS"
)

// Header is a header of requests.
type Header struct {
	// name is the header's name.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9_.-]+$')",message="name must be the name of a header: letters, digits, '-', '_' and '.'"
	// +kubebuilder:validation:XValidation:rule="!(self.lowerAscii() in ['host', 'authorization', 'proxy-authorization', 'connection', 'keep-alive'])",message="name must not be a header that the client sets: use host, load.authentication or load.client.keepAlive instead"
	// +kubebuilder:validation:XValidation:rule="!(self.lowerAscii() in ['content-length', 'transfer-encoding', 'te', 'trailer', 'upgrade', 'expect'])",message="name must not be a header that the client sets: use body instead"
	// +required
	Name string `json:"name,omitempty"`

	// value is the header's value, sent in UTF-8.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2000
	// +kubebuilder:validation:XValidation:rule="!self.matches('^ | $|[[:cntrl:]]')",message="value must have printable characters only, without spaces around it"
	// +required
	Value string `json:"value,omitempty"`
}

// Body is the body of requests.
//
// +kubebuilder:validation:ExactlyOneOf=text;sizeBytes
type Body struct {
	// text is the body as it is sent, in UTF-8. Its Content-Type is text/plain
	// unless headers has another.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16384
	// +optional
	Text string `json:"text,omitempty"`

	// sizeBytes is the length of a generated body, in bytes. It can hardly be compressed and is the
	// same in each request. Its Content-Type is application/octet-stream unless headers has
	// another.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=67108864
	// +optional
	SizeBytes *int64 `json:"sizeBytes,omitempty"`
}

// Expectation specifies the response of a successful request.
type Expectation struct {
	// statuses are the statuses that are a success. Any other is an error of the
	// kind status. Defaults to all from 200 to 399.
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:Minimum=200
	// +kubebuilder:validation:items:Maximum=599
	// +optional
	Statuses []int32 `json:"statuses,omitempty"`

	// bodyBytes is the length that the response's body must have, in bytes. Any
	// other is an error of the kind length.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1099511627776
	// +optional
	BodyBytes *int64 `json:"bodyBytes,omitempty"`
}

// Redirects says whether redirects are followed.
//
// +kubebuilder:validation:Enum=Ignore;Follow
type Redirects string

// The values of Redirects.
const (
	RedirectsIgnore Redirects = "Ignore"
	RedirectsFollow Redirects = "Follow"
)

// RequestOrder says which request comes next.
//
// +kubebuilder:validation:Enum=Random;Sequential
type RequestOrder string

// The values of RequestOrder.
const (
	OrderRandom     RequestOrder = "Random"
	OrderSequential RequestOrder = "Sequential"
)

// Authentication specifies the credentials of requests.
//
// +kubebuilder:validation:XValidation:rule="(self.scheme == 'Form') == has(self.form)",fieldPath=".form",message="form must be set with the scheme Form, and with no other"
type Authentication struct {
	// scheme is the authentication scheme. Basic (RFC 7617) and Bearer (RFC 6750) are sent with each
	// request. Digest (RFC 7616) answers the server's challenges, which are part of the request that
	// meets them. With Form each connection sends a form in HTML once, before the load begins.
	// +required
	Scheme AuthenticationScheme `json:"scheme,omitempty"`

	// secretName names a Secret in the run's namespace: with the keys username and password, as
	// those of the type kubernetes.io/basic-auth have, for Basic, Digest and Form, with the key
	// token for Bearer. A line break at the end of a value isn't part of it.
	// +required
	SecretName SecretName `json:"secretName,omitempty"`

	// form specifies the login of the scheme Form.
	// +optional
	Form *FormLogin `json:"form,omitempty"`
}

// AuthenticationScheme is a scheme of HTTP authentication, or Form.
//
// +kubebuilder:validation:Enum=Basic;Bearer;Digest;Form
type AuthenticationScheme string

// The values of AuthenticationScheme.
const (
	AuthenticationBasic  AuthenticationScheme = "Basic"
	AuthenticationBearer AuthenticationScheme = "Bearer"
	AuthenticationDigest AuthenticationScheme = "Digest"
	AuthenticationForm   AuthenticationScheme = "Form"
)

// RequestsSource is the source of a list of requests.
type RequestsSource struct {
	// configMapKeyRef is a text in a ConfigMap of the run's namespace with a request in each line:
	// "/index.html", "HEAD /index.html" or, with a weight, "GET /search?q=a 3". Empty lines and
	// those that begin with # are ignored. It has at most 100,000 requests, without bodies, and is
	// read once, at the start.
	// +required
	ConfigMapKeyRef ConfigMapKeyReference `json:"configMapKeyRef,omitempty,omitzero"`
}
