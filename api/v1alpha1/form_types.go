package v1alpha1

// FormLogin is how a connection logs in by a form in HTML. What it sends for that
// isn't in the result.
type FormLogin struct {
	// page is the path and query of a page that is asked for before, redirects
	// followed, as a browser would: its cookies are kept, and the hidden fields of
	// its form are sent along, such as a token against forged requests. When left
	// out nothing is asked for before.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self.matches('^/([A-Za-z0-9._~!$&()*+,;=:@/?\\\\[\\\\]-]|%[0-9A-Fa-f]{2})*$')",message="page must begin with a slash and have only characters that a URL may have, without a fragment; percent-encode the others, a space as %20"
	// +optional
	Page string `json:"page,omitempty"`

	// path is the path and query to which the form is sent, by POST, such as
	// /login or, for Tomcat, /app/j_security_check.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self.matches('^/([A-Za-z0-9._~!$&()*+,;=:@/?\\\\[\\\\]-]|%[0-9A-Fa-f]{2})*$')",message="path must begin with a slash and have only characters that a URL may have, without a fragment; percent-encode the others, a space as %20"
	// +required
	Path string `json:"path,omitempty"`

	// usernameField is the name of the form's field for the name. Defaults to
	// username; Tomcat's is j_username.
	// +default="username"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9_.:\\\\[\\\\]-]+$')",message="usernameField must be the name of a form's field: letters, digits, '_', '-', '.', ':' and brackets"
	// +optional
	UsernameField string `json:"usernameField,omitempty"`

	// passwordField is the name of the form's field for the password. Defaults to
	// password; Tomcat's is j_password.
	// +default="password"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9_.:\\\\[\\\\]-]+$')",message="passwordField must be the name of a form's field: letters, digits, '_', '-', '.', ':' and brackets"
	// +optional
	PasswordField string `json:"passwordField,omitempty"`

	// fields are further fields that are sent, instead of hidden ones of the same
	// name.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Fields []FormField `json:"fields,omitempty"`

	// expect is what the answer to the form has to be for the connection to be
	// logged in. When left out: a redirect (302 or 303) to anywhere but path.
	// +optional
	Expect *LoginExpectation `json:"expect,omitempty"`
}

// FormField is a field of a form.
type FormField struct {
	// name is the field's name.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9_.:\\\\[\\\\]-]+$')",message="name must be the name of a form's field: letters, digits, '_', '-', '.', ':' and brackets"
	// +required
	Name string `json:"name,omitempty"`

	// value is the field's value. It may be empty.
	// +kubebuilder:validation:MinLength=0
	// +kubebuilder:validation:MaxLength=2000
	// +required
	Value *string `json:"value,omitempty"`
}

// LoginExpectation is what the answer to a form has to be.
//
// +kubebuilder:validation:MinProperties=1
type LoginExpectation struct {
	// statuses are those of a success. Defaults to 302 and 303.
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:Minimum=200
	// +kubebuilder:validation:items:Maximum=599
	// +optional
	Statuses []int32 `json:"statuses,omitempty"`

	// location is what path and query of the place that it redirects to must begin
	// with. When left out that may be anywhere but the form's path.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self.matches('^/([A-Za-z0-9._~!$&()*+,;=:@/?\\\\[\\\\]-]|%[0-9A-Fa-f]{2})*$')",message="location must begin with a slash and have only characters that a URL may have, without a fragment; percent-encode the others, a space as %20"
	// +optional
	Location string `json:"location,omitempty"`
}
