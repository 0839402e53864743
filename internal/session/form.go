package session

import (
	"fmt"
	"strings"
)

// Form is how a connection logs in by a form in HTML. Name and password are those
// in CredentialsDirectory.
type Form struct {
	// Page is the path of a page that is asked for before, whose cookies are kept
	// and whose form's hidden fields are sent along; empty for none.
	Page string `json:"page,omitempty"`
	// Path is where the form is sent to, by POST.
	Path string `json:"path"`
	// UsernameField and PasswordField are the names of the fields for both.
	UsernameField string `json:"usernameField"`
	PasswordField string `json:"passwordField"`
	// Fields are further fields.
	Fields []FormField `json:"fields,omitempty"`
	// Statuses are those of a success.
	Statuses []int `json:"statuses"`
	// Location is what path and query of a redirect must begin with; empty for
	// anything but Path itself.
	Location string `json:"location,omitempty"`
}

// FormField is a field of a form.
type FormField struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// check returns an error that says what of a form no client could send.
func (f *Form) check() error {
	bad := func(path string) bool {
		return path == "" || path[0] != '/' || strings.ContainsFunc(path, func(c rune) bool { return c <= ' ' || c >= 0x7f })
	}
	switch {
	case bad(f.Path) || f.Page != "" && bad(f.Page):
		return fmt.Errorf("a form sent to %q after asking for %q", f.Path, f.Page)
	case f.UsernameField == "" || f.PasswordField == "":
		return fmt.Errorf("a form with the fields %q and %q", f.UsernameField, f.PasswordField)
	case len(f.Statuses) == 0:
		return fmt.Errorf("a form that no status accepts")
	}
	return nil
}
