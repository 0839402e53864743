package report

import (
	"io"

	"github.com/assay-dev/assay/internal/report/doc"
)

// WriteCSV is doc.WriteCSV.
func WriteCSV(w io.Writer, records [][]string) error { return doc.WriteCSV(w, records) }

// WriteIndented is doc.WriteJSON.
func WriteIndented(w io.Writer, value any) error { return doc.WriteJSON(w, value) }

// EscapeMarkdown is doc.EscapeMarkdown.
func EscapeMarkdown(text string) string { return doc.EscapeMarkdown(text) }

// Width is doc.Width.
func Width(w io.Writer) int { return doc.Width(w) }

// CheckFormat is doc.CheckFormat.
func CheckFormat(format string, names []string) error { return doc.CheckFormat(format, names) }
