package report

import (
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
)

// writeTableText writes a line for each run, and under them why results aren't
// valid or aren't there.
func writeTableText(w io.Writer, rows []Row) error {
	return writeRuns(w, rows, table.Writer.Render, "\n")
}

// writeTableMarkdown writes what the text has as a table of GitHub's Markdown, in which a backslash
// keeps a line break.
func writeTableMarkdown(w io.Writer, rows []Row) error {
	return writeRuns(w, rows, table.Writer.RenderMarkdown, "\\\n")
}

func writeRuns(w io.Writer, rows []Row, render func(table.Writer) string, lineBreak string) error {
	t := newTable(tableColumns...)
	var notes []string
	for i := range rows {
		cells, note := tableCells(&rows[i], len(notes)+1)
		if note != "" {
			notes = append(notes, note)
		}
		t.AppendRow(cells)
	}
	document := render(t) + "\n"
	if len(notes) > 0 {
		document += "\n" + strings.Join(notes, lineBreak) + "\n"
	}
	_, err := io.WriteString(w, document)
	return err
}
