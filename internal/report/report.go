// Package report writes results for people and for other programs: one file per
// format. It only reads results; package validity judges them.
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

// Formats holds all formats by name.
var Formats = map[string]Format{
	"json": writeJSON,
	"text": writeText,
}

// Names returns the names of all formats in alphabetical order.
func Names() []string { return slices.Sorted(maps.Keys(Formats)) }

// Write writes a result in the format of that name.
func Write(w io.Writer, format string, r *result.Result) error {
	write, known := Formats[format]
	if !known {
		return fmt.Errorf("unknown format %q: use one of %s", format, strings.Join(Names(), ", "))
	}
	if err := write(w, r); err != nil {
		return fmt.Errorf("write report as %s: %w", format, err)
	}
	return nil
}
