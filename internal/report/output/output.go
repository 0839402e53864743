// Package output writes the report of a run in each of the formats that "kubectl assay report" and "assay-load" have.
package output

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/html/runpage"
	"github.com/assay-dev/assay/internal/result"
)

// The names of formats that package report doesn't have. Script is that of the files that handleSummary() of a k6 script returned,
// which WriteFiles writes.
const (
	HTML      = "html"
	Script    = "script"
	svgPrefix = "svg="
)

// AbsentError is the error of a format that shows what a result doesn't have.
type AbsentError struct{ error }

// Unwrap returns the error without its type.
func (e *AbsentError) Unwrap() error { return e.error }

// Formats returns the names of all formats in alphabetical order.
func Formats() []string {
	formats := append(report.Names(), HTML, Script)
	for _, name := range runpage.Pictures() {
		formats = append(formats, svgPrefix+name)
	}
	slices.Sort(formats)
	return formats
}

// Extension returns the extension of files in a format that is for browsers, such as ".html", and "" for another format.
func Extension(format string) string {
	switch {
	case format == HTML:
		return ".html"
	case strings.HasPrefix(format, svgPrefix):
		return ".svg"
	}
	return ""
}

// Write writes the report of a result in the format of that name, which isn't Script. spec is what was run, as YAML, for pages; empty
// for none. The error is an AbsentError if the result doesn't have what the format shows.
func Write(w io.Writer, format string, r *result.Result, spec string) error {
	if err := doc.CheckFormat(format, Formats()); err != nil {
		return err
	}
	if picture, ok := strings.CutPrefix(format, svgPrefix); ok {
		if err := runpage.WriteSVG(w, picture, r); err != nil {
			return &AbsentError{err}
		}
		return nil
	}
	if format == HTML {
		return runpage.Write(w, r, spec)
	}
	return report.Write(w, format, r)
}

// CheckDirectory returns an error if there is no directory for the files of handleSummary().
func CheckDirectory(format, directory string) error {
	if directory == "" && format == Script {
		return fmt.Errorf("-o %s needs --directory, into which the files of handleSummary() are written", Script)
	}
	return nil
}
