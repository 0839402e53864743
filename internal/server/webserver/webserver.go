// Package webserver has the common parts of the adapters of httpd and nginx. Both
// render a complete configuration, serve the run's content and can forward requests.
package webserver

import (
	"regexp"

	"github.com/assay-dev/assay/internal/server/adapter"
)

const (
	// ContentDirectory is where the server finds the run's content.
	ContentDirectory = "/assay/content"
	// RunDirectory is where the server writes files while it runs.
	RunDirectory = "/assay/run"
	// AccessLog is the file of the access log, if there is one.
	AccessLog = adapter.LogDirectory + "/access.log"
)

// fileNameSyntax keeps a name from adding a line to a file.
var fileNameSyntax = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,195}[.]conf$`)

// CheckFiles returns an error if a file of the user's own configuration, which is that of field,
// would have no effect. main is the name of the file that replaces the rendered one.
func CheckFiles(in *adapter.Input, field, main string) error {
	return in.CheckFiles(field, fileNameSyntax, "would have no effect: name it "+main+" to replace the whole configuration, "+
		"or give it a name that ends in .conf to include it, with up to 200 letters, digits, '.', '_' and '-'")
}
