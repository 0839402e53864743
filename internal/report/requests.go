package report

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/assay-dev/assay/internal/result"
)

// requestName is method and path of a request, the method left out where it is GET.
func requestName(q result.Request) string {
	return strings.TrimSpace(q.Method + " " + q.Path)
}

// listName says how many requests are in a list, and where it is from.
func listName(l *result.RequestList) string {
	number := "requests"
	if l.Requests > 0 {
		number = plural(int(l.Requests), "request")
	}
	if l.File != "" {
		return number + " of " + l.File
	}
	return fmt.Sprintf("%s of ConfigMap %s, key %s", number, orUnknown(l.ConfigMap), orUnknown(l.Key))
}

// writeRequestsMeaning writes how requests were chosen and by whom they were
// made, where that isn't what everybody expects.
func writeRequestsMeaning(w *bytes.Buffer, run *result.Run) {
	var parts []string
	switch {
	case run.Sequential:
		parts = append(parts, "made by each connection in their order")
	case run.RequestList != nil:
		parts = append(parts, "drawn by weight")
	}
	switch run.Authentication {
	case "":
	case "Form":
		parts = append(parts, "those of a user per connection, who logged in by a form before")
	default:
		parts = append(parts, "authenticated by the scheme "+run.Authentication)
	}
	if run.Cookies {
		parts = append(parts, "sent with the cookies that their connection was given")
	}
	if len(parts) > 0 {
		fmt.Fprintf(w, "Requests are %s.\n", strings.Join(parts, ", and "))
	}
}
