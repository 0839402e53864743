package round

import (
	"io"
	"maps"

	"github.com/assay-dev/assay/internal/report/doc"
)

var (
	reports     = formatsOf((*Report).Document, map[string]func(io.Writer, *Report) error{"benchstat": writeBenchstat, "csv": writeRunsCSV, "junit": writeJUnit})
	comparisons = formatsOf((*Comparison).Document, nil)
	pivots      = formatsOf((*Pivot).Document, map[string]func(io.Writer, *Pivot) error{"csv": writePivotCSV})
)

// formatsOf returns the formats of what has a document, and further ones.
func formatsOf[T any](document func(T) *doc.Document, further map[string]func(io.Writer, T) error) doc.Formats[T] {
	f := doc.Formats[T]{
		"json":     func(w io.Writer, x T) error { return doc.WriteJSON(w, x) },
		"markdown": func(w io.Writer, x T) error { return doc.WriteMarkdown(w, document(x)) },
		"text":     func(w io.Writer, x T) error { return doc.WriteText(w, document(x)) },
	}
	maps.Copy(f, further)
	return f
}

// Names returns the names of all formats of reports in alphabetical order.
func Names() []string { return reports.Names() }

// Write writes a report in the format of that name.
func Write(w io.Writer, format string, r *Report) error { return reports.Write(w, format, r) }

// ComparisonNames returns the names of all formats of comparisons in alphabetical order.
func ComparisonNames() []string { return comparisons.Names() }

// WriteComparison writes a comparison in the format of that name.
func WriteComparison(w io.Writer, format string, c *Comparison) error {
	return comparisons.Write(w, format, c)
}

// PivotNames returns the names of all formats of pivot tables in alphabetical order.
func PivotNames() []string { return pivots.Names() }

// WritePivot writes a pivot table in the format of that name.
func WritePivot(w io.Writer, format string, p *Pivot) error { return pivots.Write(w, format, p) }
