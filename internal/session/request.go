package session

import (
	"fmt"
	"strings"
)

// Files with a client's credentials for the target, from the Secret that the run names. They are in
// no plan, status or log. A line break at the end of a file isn't part of the value.
const (
	// CredentialsDirectory is the directory of the files.
	CredentialsDirectory = "/assay/credentials"
	// UsernameKey and PasswordKey are the names of the files, and the Secret's
	// keys, for all schemes but AuthenticationBearer.
	UsernameKey = "username"
	PasswordKey = "password"
	// TokenKey is the name of the file for AuthenticationBearer.
	TokenKey = "token"
)

// The authentication schemes.
const (
	AuthenticationBasic  = "Basic"
	AuthenticationBearer = "Bearer"
	AuthenticationDigest = "Digest"
	AuthenticationForm   = "Form"
)

// CredentialKeys returns the names of the files that a scheme needs, or nil for an unknown scheme.
func CredentialKeys(scheme string) []string {
	switch scheme {
	case AuthenticationBasic, AuthenticationDigest, AuthenticationForm:
		return []string{UsernameKey, PasswordKey}
	case AuthenticationBearer:
		return []string{TokenKey}
	}
	return nil
}

// maxGeneratedBytes bounds a body that a client generates.
const maxGeneratedBytes = 64 << 20

// PlannedRequest is one kind of request.
type PlannedRequest struct {
	// Name is the name under which its metrics are kept, or empty for its method and path.
	Name string `json:"name,omitempty"`
	// Method is the request's method, or empty for GET.
	Method string `json:"method,omitempty"`
	// Path is the request target: path and query.
	Path string `json:"path"`
	// Host is the Host header, or empty for the plan's.
	Host string `json:"host,omitempty"`
	// Headers are sent in addition to the client's own. They replace those of the same name.
	Headers []Header `json:"headers,omitempty"`
	// Body is the body, or empty for none.
	Body []byte `json:"body,omitempty"`
	// GeneratedBytes is the length of a body that the client generates, or 0 for none.
	GeneratedBytes int64 `json:"generatedBytes,omitempty"`
	// Weight is the share of this kind of request in proportion to the others. In
	// sequence, it is the number of these requests in succession.
	Weight int `json:"weight"`
	// Length is the expected length of the response's body in bytes, or -1 for any.
	Length int64 `json:"length"`
	// Decoded reports whether that is the length without a content coding, such as of a file: a response with one may have any.
	Decoded bool `json:"decoded,omitempty"`
	// Statuses are the status codes of a success. If empty, they are 200 to 399.
	Statuses []int `json:"statuses,omitempty"`
	// Follow follows redirects.
	Follow bool `json:"follow,omitempty"`
}

// Get returns a GET of a path, whose response may have any length.
func Get(path string) PlannedRequest { return PlannedRequest{Path: path, Weight: 1, Length: -1} }

// Header is a header of a request.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// methods are the methods that a request may have.
var methods = map[string]bool{
	"": true, "GET": true, "HEAD": true, "POST": true, "PUT": true, "PATCH": true, "DELETE": true, "OPTIONS": true,
}

// check returns an error for a request that no client could send. The error omits
// the values of headers.
func (r *PlannedRequest) check() error {
	switch {
	case !methods[r.Method]:
		return fmt.Errorf("method %q", r.Method)
	case r.Weight < 1 || r.Path == "" || r.Path[0] != '/':
		return fmt.Errorf("path %q with weight %d", r.Path, r.Weight)
	case strings.ContainsFunc(r.Path+r.Host, func(c rune) bool { return c <= ' ' || c == 0x7f }):
		return fmt.Errorf("path %q to %q: spaces and control characters must be percent-encoded", r.Path, r.Host)
	case r.GeneratedBytes < 0 || r.GeneratedBytes > maxGeneratedBytes || r.GeneratedBytes > 0 && len(r.Body) > 0:
		return fmt.Errorf("path %q with a body of %d bytes and one of %d to generate", r.Path, len(r.Body), r.GeneratedBytes)
	}
	for _, h := range r.Headers {
		if h.Name == "" || strings.ContainsFunc(h.Name, func(c rune) bool { return c <= ' ' || c >= 0x7f || c == ':' }) ||
			strings.ContainsFunc(h.Value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
			return fmt.Errorf("path %q with the header %q", r.Path, h.Name)
		}
	}
	for _, status := range r.Statuses {
		if status < 200 || status > 599 {
			return fmt.Errorf("path %q expecting the status %d", r.Path, status)
		}
	}
	return nil
}

// Form is the login of a connection with an HTML form. The username and password
// are in CredentialsDirectory.
type Form struct {
	// Page is the path of a page that is requested first, or empty for none. Its
	// cookies are kept, and the hidden fields of its form are sent along.
	Page string `json:"page,omitempty"`
	// Path is the path to which the form is sent, with POST.
	Path string `json:"path"`
	// UsernameField and PasswordField are the names of the two fields.
	UsernameField string `json:"usernameField"`
	PasswordField string `json:"passwordField"`
	// Fields are further fields.
	Fields []FormField `json:"fields,omitempty"`
	// Statuses are the status codes of a success.
	Statuses []int `json:"statuses"`
	// Location is the prefix that path and query of a redirect must have. If it is
	// empty, they may be anything but Path.
	Location string `json:"location,omitempty"`
}

// FormField is a field of a form.
type FormField struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// check returns an error for a form that no client could send.
func (f *Form) check() error {
	bad := func(path string) bool {
		return path == "" || path[0] != '/' || strings.ContainsFunc(path, func(c rune) bool { return c <= ' ' || c >= 0x7f })
	}
	switch {
	case bad(f.Path) || f.Page != "" && bad(f.Page):
		return fmt.Errorf("form sent to %q after a request for %q", f.Path, f.Page)
	case f.UsernameField == "" || f.PasswordField == "":
		return fmt.Errorf("form with the fields %q and %q", f.UsernameField, f.PasswordField)
	case len(f.Statuses) == 0:
		return fmt.Errorf("form without statuses")
	}
	return nil
}
