// Package report writes results for people and for other programs: one file
// per format. It only reads results; what they mean is judged in package
// validity.
package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/assay-dev/assay/internal/result"
)

// Format writes a result in one form.
type Format func(w io.Writer, r *result.Result) error

// Formats are all formats, by their names.
var Formats = map[string]Format{
	"json": writeJSON,
	"text": writeText,
}

// Names are the names of all formats, in alphabetical order.
func Names() []string { return slices.Sorted(maps.Keys(Formats)) }

// Write writes a result in the format of that name.
func Write(w io.Writer, format string, r *result.Result) error {
	write, known := Formats[format]
	if !known {
		return fmt.Errorf("there is no format %q: use one of %s", format, strings.Join(Names(), ", "))
	}
	if err := write(w, r); err != nil {
		return fmt.Errorf("write report as %s: %w", format, err)
	}
	return nil
}
