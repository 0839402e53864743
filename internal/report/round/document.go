package round

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/report"
)

// document is a text that is being written. Its methods take plain texts, which may come from users: each format
// makes them printable, and escapes what would be markup in it.
type document interface {
	title(text string)
	section(text string)
	paragraph(text string)
	list(items ...string)
	// plot writes lines of characters of one width.
	plot(lines []string)
	// table writes a table. Columns are report.Words, aligned to the left, or strings, aligned to the right.
	table(columns []any, rows [][]string)
	// columns returns the number of columns of the terminal, or 0 if it is for none.
	columns() int
	String() string
}

// text is a document for a terminal. A paragraph and a table are separated by an empty line.
type text struct {
	out            strings.Builder
	width          int // of the terminal, see report.Sheet.Fit
	afterParagraph bool
}

// String returns what was written.
func (d *text) String() string { return d.out.String() }

func (d *text) columns() int { return d.width }

func (d *text) title(text string) { fmt.Fprintln(&d.out, printable.Text(text)) }

func (d *text) section(text string) {
	text = printable.Text(text)
	fmt.Fprintf(&d.out, "\n%s\n%s\n", text, strings.Repeat("-", len([]rune(text))))
	d.afterParagraph = false
}

func (d *text) paragraph(text string) {
	if text != "" {
		fmt.Fprintln(&d.out, printable.Text(text))
		d.afterParagraph = true
	}
}

func (d *text) list(items ...string) {
	for _, item := range items {
		fmt.Fprintf(&d.out, "  %s\n", strings.TrimRight(printable.Text(item), " "))
	}
}

func (d *text) plot(lines []string) {
	fmt.Fprintln(&d.out)
	for _, line := range lines {
		fmt.Fprintln(&d.out, strings.TrimRight(printable.Text(line), " "))
	}
}

func (d *text) table(columns []any, rows [][]string) {
	if d.afterParagraph {
		fmt.Fprintln(&d.out)
	}
	d.afterParagraph = false
	fmt.Fprintln(&d.out, tableOf(columns, rows, printable.Text).Fit(d.width))
}

// markdown is a document in GitHub's Markdown.
type markdown struct{ out strings.Builder }

// String returns what was written.
func (d *markdown) String() string { return d.out.String() }

func (d *markdown) columns() int { return 0 }

func (d *markdown) title(text string) { fmt.Fprintf(&d.out, "## %s\n", report.EscapeMarkdown(text)) }
func (d *markdown) section(text string) {
	fmt.Fprintf(&d.out, "\n### %s\n", report.EscapeMarkdown(text))
}

func (d *markdown) paragraph(text string) {
	if text != "" {
		fmt.Fprintf(&d.out, "\n%s\n", report.EscapeMarkdown(text))
	}
}

func (d *markdown) list(items ...string) {
	if len(items) > 0 {
		fmt.Fprintln(&d.out)
	}
	for _, item := range items {
		fmt.Fprintf(&d.out, "- %s\n", strings.Join(strings.Fields(report.EscapeMarkdown(item)), " "))
	}
}

func (d *markdown) plot(lines []string) {
	fmt.Fprintf(&d.out, "\n```text\n")
	for _, line := range lines {
		fmt.Fprintln(&d.out, strings.ReplaceAll(strings.TrimRight(printable.Text(line), " "), "`", "'"))
	}
	fmt.Fprintln(&d.out, "```")
}

func (d *markdown) table(columns []any, rows [][]string) {
	fmt.Fprintf(&d.out, "\n%s\n", tableOf(columns, rows, report.EscapeMarkdown).RenderMarkdown())
}

func tableOf(columns []any, rows [][]string, clean func(string) string) *report.Sheet {
	cleaned := make([]any, len(columns))
	for i, column := range columns {
		switch column := column.(type) {
		case report.Words:
			cleaned[i] = report.Words(clean(string(column)))
		case string:
			cleaned[i] = clean(column)
		}
	}
	t := report.NewTable(cleaned...)
	for _, row := range rows {
		cells := make(table.Row, len(row))
		for i, cell := range row {
			cells[i] = clean(cell)
		}
		t.AppendRow(cells)
	}
	return t
}
