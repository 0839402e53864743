package report

import (
	"encoding/csv"
	"io"
	"regexp"
	"strings"

	"github.com/assay-dev/assay/internal/printable"
)

// column is a column of a table of T for other programs. What is unknown is empty.
type column[T any] struct {
	name string
	of   func(row *T) string
}

// records returns a record for each row under one with the names of the columns.
func records[T any](columns []column[T], rows []T) [][]string {
	all := make([][]string, 1+len(rows))
	for _, c := range columns {
		all[0] = append(all[0], c.name)
	}
	for i := range rows {
		for _, c := range columns {
			all[1+i] = append(all[1+i], c.of(&rows[i]))
		}
	}
	return all
}

// WriteCSV writes records as specified by RFC 4180, but with line feeds alone. No field is a formula: see Cell.
func WriteCSV(w io.Writer, records [][]string) error {
	out := csv.NewWriter(w)
	for _, record := range records {
		cells := make([]string, len(record))
		for i, text := range record {
			cells[i] = Cell(text)
		}
		if err := out.Write(cells); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// formulaStarts are the characters that begin a formula in a spreadsheet, with their fullwidth forms. Others that do are
// tabs and line breaks, which printable.Text replaces. Source: OWASP, "CSV Injection".
const formulaStarts = "=+-@＝＋－＠"

// number matches a decimal number, which no spreadsheet takes for a formula although it may begin with a minus.
var number = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// Cell returns a text without control characters that no spreadsheet takes for a formula: an apostrophe precedes one
// that begins like a formula, unless it is a number or a lone dash.
func Cell(text string) string {
	text = printable.Text(text)
	first := strings.TrimLeft(text, " ")
	if first == "" || first == "-" || number.MatchString(first) || !strings.ContainsRune(formulaStarts, []rune(first)[0]) {
		return text
	}
	return "'" + text
}
