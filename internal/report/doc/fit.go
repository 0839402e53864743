package doc

import (
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Width returns the number of columns of the terminal to which w writes, or 0 if that is none.
func Width(w io.Writer) int {
	if terminal, is := w.(interface{ Columns() int }); is {
		return terminal.Columns()
	}
	return 0
}

// cleaned returns a copy of the table in which clean was applied to all texts.
func (t *Table) cleaned(clean func(string) string) *Table {
	c := &Table{Caption: clean(t.Caption), Columns: slices.Clone(t.Columns), Rows: make([][]string, len(t.Rows))}
	for i := range c.Columns {
		c.Columns[i].Name = clean(c.Columns[i].Name)
	}
	for i, row := range t.Rows {
		for _, cell := range row {
			c.Rows[i] = append(c.Rows[i], clean(cell))
		}
	}
	for _, name := range t.Droppable {
		c.Droppable = append(c.Droppable, clean(name))
	}
	return c
}

// fit returns the table as text for a terminal of a number of columns, of which it leaves the last free. If the table is
// wider, it drops columns; if that isn't enough, it has a block of lines for each row. 0 columns are no terminal: the table
// is complete then.
func (t *Table) fit(columns int) string {
	full := t.writer().Render()
	if columns == 0 || len(t.Rows) == 0 || widest(full) < columns {
		return full
	}
	narrow := t
	for _, name := range t.Droppable {
		if i := slices.IndexFunc(narrow.Columns, func(c Column) bool { return c.Name == name }); i >= 0 {
			narrow = narrow.without(i)
			if text := narrow.writer().Render(); widest(text) < columns {
				return text
			}
		}
	}
	return t.blocks()
}

// writer returns the table as one without lines.
func (t *Table) writer() table.Writer {
	w := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format.Header = text.FormatDefault
	w.SetStyle(style)
	w.SuppressTrailingSpaces()
	var header table.Row
	var aligned []table.ColumnConfig
	for i, c := range t.Columns {
		header = append(header, c.Name)
		if c.Number {
			aligned = append(aligned, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
	}
	w.SetColumnConfigs(aligned)
	w.AppendHeader(header)
	for _, cells := range t.Rows {
		row := make(table.Row, len(cells))
		for i, cell := range cells {
			row[i] = cell
		}
		w.AppendRow(row)
	}
	return w
}

func widest(rendered string) int {
	most := 0
	for line := range strings.SplitSeq(rendered, "\n") {
		most = max(most, text.StringWidthWithoutEscSequences(line))
	}
	return most
}

// without returns the table without a column.
func (t *Table) without(column int) *Table {
	n := &Table{Columns: slices.Delete(slices.Clone(t.Columns), column, column+1)}
	for _, row := range t.Rows {
		n.Rows = append(n.Rows, slices.Delete(slices.Clone(row), column, column+1))
	}
	return n
}

// blocks returns a block of lines for each row: its first cell, and under it a line for each of the others.
func (t *Table) blocks() string {
	name := 0
	for _, c := range t.Columns[1:] {
		name = max(name, text.StringWidthWithoutEscSequences(c.Name))
	}
	var blocks []string
	for _, row := range t.Rows {
		lines := []string{row[0]}
		for i, cell := range row[1:] {
			lines = append(lines, "  "+text.AlignLeft.Apply(t.Columns[i+1].Name, name)+"  "+cell)
		}
		blocks = append(blocks, strings.Join(lines, "\n"))
	}
	return strings.Join(blocks, "\n\n")
}
