package session

import (
	"fmt"
	"strings"
)

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
