package round

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/assay-dev/assay/internal/report"
)

// formats holds the functions that write a T, by the names of the formats.
type formats[T any] map[string]func(io.Writer, T) error

// newFormats returns the formats that each T has. write writes it as a document for people.
func newFormats[T any](write func(T, io.Writer, document) error) formats[T] {
	return formats[T]{
		"json":     func(w io.Writer, x T) error { return report.WriteIndented(w, x) },
		"markdown": func(w io.Writer, x T) error { return write(x, w, &markdown{}) },
		"text":     func(w io.Writer, x T) error { return write(x, w, &text{width: report.Width(w)}) },
	}
}

// with adds a format.
func (f formats[T]) with(name string, write func(io.Writer, T) error) formats[T] {
	f[name] = write
	return f
}

// names returns the names of all formats in alphabetical order.
func (f formats[T]) names() []string { return slices.Sorted(maps.Keys(f)) }

// write writes x in the format of that name.
func (f formats[T]) write(w io.Writer, name string, x T) error {
	if err := report.CheckFormat(name, f.names()); err != nil {
		return err
	}
	if err := f[name](w, x); err != nil {
		return fmt.Errorf("write as %s: %w", name, err)
	}
	return nil
}
