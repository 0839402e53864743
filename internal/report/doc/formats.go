package doc

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Formats holds the functions that write a T, by the names of their formats. A format that can write several things has
// parts: "csv=series" is the part "series" of the format "csv".
type Formats[T any] map[string]func(w io.Writer, t T) error

// Names returns the names of all formats in alphabetical order.
func (f Formats[T]) Names() []string { return slices.Sorted(maps.Keys(f)) }

// Write writes t in the format of that name.
func (f Formats[T]) Write(w io.Writer, format string, t T) error {
	if err := CheckFormat(format, f.Names()); err != nil {
		return err
	}
	if err := f[format](w, t); err != nil {
		return fmt.Errorf("write as %s: %w", format, err)
	}
	return nil
}

// CheckFormat returns an error that lists the choices unless format is among names.
func CheckFormat(format string, names []string) error {
	if slices.Contains(names, format) {
		return nil
	}
	name, part, hasPart := strings.Cut(format, "=")
	if parts := partsOf(name, names); hasPart && len(parts) > 0 {
		return fmt.Errorf("unknown part %q of output format %s: use one of %s", part, name, strings.Join(parts, ", "))
	}
	if hasPart && slices.Contains(names, name) {
		return fmt.Errorf("output format %s has no parts: use %s instead of %q", name, name, format)
	}
	return fmt.Errorf("unknown output format %q: use one of %s", format, Usage(names))
}

// Usage returns the names of formats for help texts and errors, with the parts of each: "csv[=levels|series], json".
func Usage(names []string) string {
	var texts []string
	for _, name := range slices.Sorted(slices.Values(names)) {
		format, _, hasPart := strings.Cut(name, "=")
		parts := strings.Join(partsOf(format, names), "|")
		switch plain := slices.Contains(names, format); {
		case hasPart && plain:
		case hasPart:
			if text := format + "=" + parts; !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
		case parts != "":
			texts = append(texts, format+"[="+parts+"]")
		default:
			texts = append(texts, format)
		}
	}
	return strings.Join(texts, ", ")
}

// partsOf returns the parts of a format in alphabetical order.
func partsOf(format string, names []string) []string {
	var parts []string
	for _, name := range names {
		if part, ok := strings.CutPrefix(name, format+"="); ok {
			parts = append(parts, part)
		}
	}
	slices.Sort(parts)
	return parts
}
