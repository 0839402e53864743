// Package report writes results, and tables of several, for people and for other programs. It only
// reads results; package validity judges them.
package report

import (
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/result"
)

// formats holds the functions that write a T, by the names of their formats.
type formats[T any] map[string]func(w io.Writer, t T) error

var (
	reports = formats[*result.Result]{"csv": writeLevelsCSV, "json": writeJSON, "text": writeText}
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

// shown returns a copy of x in which all texts are printable. Texts from outside,
// such as a Server header, may hold what a terminal obeys rather than shows.
func shown[T any](x T) T { return cleaned(reflect.ValueOf(x)).Interface().(T) }

// cleaned returns a copy of a value in which the texts of exported fields are printable. Values
// without such fields, such as histograms, are copied as they are.
func cleaned(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	switch v.Kind() {
	case reflect.String:
		c.SetString(printable.Text(v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			c.Set(reflect.New(v.Type().Elem()))
			c.Elem().Set(cleaned(v.Elem()))
		}
	case reflect.Slice:
		if !v.IsNil() {
			c.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		}
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			c.Index(i).Set(cleaned(v.Index(i)))
		}
	case reflect.Map:
		if !v.IsNil() {
			c.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
		}
		for key, value := range v.Seq2() {
			c.SetMapIndex(cleaned(key), cleaned(value))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if field := c.Field(i); field.CanSet() {
				field.Set(cleaned(v.Field(i)))
			}
		}
	}
	return c
}
