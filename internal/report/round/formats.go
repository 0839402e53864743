package round

import (
	"io"
	"maps"

	"github.com/assay-dev/assay/internal/report/doc"
)

// The formats of reports, of comparisons and of pivot tables. Package roundpage has further ones.
var (
	Formats           = formatsOf((*Report).Document, doc.Formats[*Report]{"benchstat": writeBenchstat, "csv": writeRunsCSV, "junit": writeJUnit})
	ComparisonFormats = formatsOf((*Comparison).Document, nil)
	PivotFormats      = formatsOf((*Pivot).Document, doc.Formats[*Pivot]{"csv": writePivotCSV})
)

// formatsOf returns the formats of what has a document, and further ones.
func formatsOf[T any](document func(T) *doc.Document, further doc.Formats[T]) doc.Formats[T] {
	f := doc.Formats[T]{
		"json":     func(w io.Writer, x T) error { return doc.WriteJSON(w, x) },
		"markdown": func(w io.Writer, x T) error { return doc.WriteMarkdown(w, document(x)) },
		"text":     func(w io.Writer, x T) error { return doc.WriteText(w, document(x)) },
	}
	maps.Copy(f, further)
	return f
}
