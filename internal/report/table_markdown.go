package report

import (
	"fmt"
	"io"
	"strings"
)

// writeTableMarkdown writes what the text has as a table of GitHub's Markdown.
func writeTableMarkdown(w io.Writer, rows []Row) error {
	t, notes := newRunsTable(rows)
	document := t.RenderMarkdown() + "\n"
	if len(notes) > 0 {
		document += "\n" + strings.Join(notes, "\\\n") + "\n" // a backslash keeps the line break
	}
	_, err := fmt.Fprint(w, document)
	return err
}
