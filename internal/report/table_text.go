package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// newRunsTable is the table for people, and the notes under it.
func newRunsTable(rows []Row) (t table.Writer, notes []string) {
	t = newTable(leftTableColumns, tableColumns...)
	var aligned []table.ColumnConfig
	for i := leftTableColumns; i < len(tableColumns); i++ {
		if words := tableColumns[i] == failedColumn || tableColumns[i] == validColumn; words {
			continue
		}
		aligned = append(aligned, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(aligned)
	for i := range rows {
		cells, note := tableCells(&rows[i], len(notes)+1)
		if note != "" {
			notes = append(notes, note)
		}
		t.AppendRow(cells)
	}
	return t, notes
}

// writeTableText writes a line for each run, and under them why results aren't
// valid or aren't there.
func writeTableText(w io.Writer, rows []Row) error {
	t, notes := newRunsTable(rows)
	document := t.Render() + "\n"
	if len(notes) > 0 {
		document += "\n" + strings.Join(notes, "\n") + "\n"
	}
	_, err := fmt.Fprint(w, document)
	return err
}
