package doc

import (
	"encoding/csv"
	"io"
	"regexp"
	"strings"

	"github.com/assay-dev/assay/internal/printable"
)

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
