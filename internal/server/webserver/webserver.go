// Package webserver has the common parts of the adapters of httpd and nginx. Both
// render a complete configuration, serve the run's content and can forward requests.
package webserver

import (
	"fmt"
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

// The syntax of values in files and command lines. The API server checks them too, but
// must not be the only check that keeps a value from adding a line.
var (
	pathSyntax     = regexp.MustCompile(`^(/[A-Za-z0-9_][A-Za-z0-9._-]*)+$`)
	fileNameSyntax = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,195}[.]conf$`)
)

// CheckPath returns an error if value isn't the absolute path of a file or
// directory.
func CheckPath(field, value, example string) error {
	if !pathSyntax.MatchString(value) {
		return fmt.Errorf("%s: %q must be an absolute path of letters, digits, '.', '_' and '-', such as %s", field, value, example)
	}
	return nil
}

// CheckFiles returns an error if a file of the user's own configuration would
// have no effect. main is the name of the file that replaces the rendered one.
func CheckFiles(in *adapter.Input, field, main string) error {
	for _, name := range in.FileNames() {
		if name != main && !fileNameSyntax.MatchString(name) {
			return fmt.Errorf("%s: the ConfigMap has the key %q, which would have no effect: name it %s to replace the whole configuration, "+
				"or give it a name that ends in .conf to include it, with up to 200 letters, digits, '.', '_' and '-'", in.Field(field), name, main)
		}
	}
	return nil
}
