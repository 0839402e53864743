package loadplan

import (
	"cmp"
	"net/http"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/session"
)

// form is how connections log in; nil when they don't.
func form(a *v1alpha1.Authentication) *session.Form {
	if a == nil || a.Form == nil {
		return nil
	}
	f := &session.Form{
		Page: a.Form.Page, Path: a.Form.Path,
		UsernameField: cmp.Or(a.Form.UsernameField, "username"), PasswordField: cmp.Or(a.Form.PasswordField, "password"),
		Statuses: []int{http.StatusFound, http.StatusSeeOther},
	}
	for _, field := range a.Form.Fields {
		f.Fields = append(f.Fields, session.FormField{Name: field.Name, Value: ptr.Deref(field.Value, "")})
	}
	if expect := a.Form.Expect; expect != nil {
		f.Location = expect.Location
		if len(expect.Statuses) > 0 {
			f.Statuses = statuses(expect.Statuses)
		}
	}
	return f
}
