package v1alpha1

// FormLogin specifies the login of a connection by a form in HTML. What it sends for that
// isn't in the result.
type FormLogin struct {
	// page is the path and query of a page that is requested before, redirects followed, as a
	// browser would: its cookies are kept, and the hidden fields of its form are sent along, such
	// as a CSRF token. If not set, no page is requested before.
	// +optional
	Page URLPath `json:"page,omitempty"`

	// path is the path and query to which the form is sent, by POST, such as
	// /login or, for Tomcat, /app/j_security_check.
	// +required
	Path URLPath `json:"path,omitempty"`

	// usernameField is the name of the form's field for the name. Defaults to
	// username; Tomcat's is j_username.
	// +default="username"
	// +optional
	UsernameField FormFieldName `json:"usernameField,omitempty"`

	// passwordField is the name of the form's field for the password. Defaults to
	// password; Tomcat's is j_password.
	// +default="password"
	// +optional
	PasswordField FormFieldName `json:"passwordField,omitempty"`

	// fields are further fields that are sent, instead of hidden ones of the same name.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Fields []FormField `json:"fields,omitempty"`

	// expect specifies the response to the form of a successful login. Defaults to
	// a redirect (302 or 303) to anywhere but path.
	// +optional
	Expect *LoginExpectation `json:"expect,omitempty"`
}

// FormField is a field of a form.
type FormField struct {
	// name is the field's name.
	// +required
	Name FormFieldName `json:"name,omitempty"`

	// value is the field's value. It may be empty.
	// +kubebuilder:validation:MinLength=0
	// +kubebuilder:validation:MaxLength=2000
	// +required
	Value *string `json:"value,omitempty"`
}

// LoginExpectation specifies the response to the form of a successful login.
type LoginExpectation struct {
	// statuses are those of a success. Defaults to 302 and 303.
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:Minimum=200
	// +kubebuilder:validation:items:Maximum=599
	// +optional
	Statuses []int32 `json:"statuses,omitempty"`

	// location is the required prefix of the path and query of the redirect's target. If not set, it
	// may be anywhere but the form's path.
	// +optional
	Location URLPath `json:"location,omitempty"`
}
