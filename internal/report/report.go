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

// formats holds the functions that write a T, by the names of their formats.
type formats[T any] map[string]func(w io.Writer, t T) error

var (
	reports = formats[*result.Result]{"json": writeJSON, "text": writeText}
	tables  = formats[[]Row]{"csv": writeTableCSV, "json": writeTableJSON, "markdown": writeTableMarkdown, "text": writeTableText}
)

// Names returns the names of all formats of reports in alphabetical order.
func Names() []string { return reports.names() }

// TableNames returns the names of all formats of tables in alphabetical order.
func TableNames() []string { return tables.names() }

// Write writes a result in the format of that name.
func Write(w io.Writer, format string, r *result.Result) error { return reports.write(w, format, r) }

// WriteTable writes rows as a table in the format of that name.
func WriteTable(w io.Writer, format string, rows []Row) error {
	return tables.write(w, format, shown(rows))
}

func (f formats[T]) names() []string { return slices.Sorted(maps.Keys(f)) }

func (f formats[T]) write(w io.Writer, format string, t T) error {
	write, known := f[format]
	if !known {
		return fmt.Errorf("unknown format %q: use one of %s", format, strings.Join(f.names(), ", "))
	}
	if err := write(w, t); err != nil {
		return fmt.Errorf("write as %s: %w", format, err)
	}
	return nil
}
