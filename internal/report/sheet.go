package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Words is the heading of a column of words, which is aligned to the left. Other columns hold
// numbers and are aligned to the right.
type Words string

// Sheet is a table whose cells are kept.
type Sheet struct {
	table.Writer
	// Columns are the headings; Numbers reports which columns are of numbers.
	Columns []string
	Numbers []bool
	Rows    [][]string

	headings []any // the columns as NewTable got them
}

// NewTable returns a table without lines.
func NewTable(columns ...any) *Sheet {
	t := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	t.SuppressTrailingSpaces()
	s := &Sheet{Writer: t, headings: columns}
	var aligned []table.ColumnConfig
	for i, column := range columns {
		_, words := column.(Words)
		s.Columns, s.Numbers = append(s.Columns, fmt.Sprint(column)), append(s.Numbers, !words)
		if !words {
			aligned = append(aligned, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
	}
	t.SetColumnConfigs(aligned)
	t.AppendHeader(columns)
	return s
}

// AppendRow adds a row.
func (s *Sheet) AppendRow(row table.Row, configs ...table.RowConfig) {
	cells := make([]string, len(row))
	for i, cell := range row {
		cells[i] = fmt.Sprint(cell)
	}
	s.Rows = append(s.Rows, cells)
	s.Writer.AppendRow(row, configs...)
}

// dispensable are the headings of columns that a narrow terminal can do without, the first to go first: other columns
// hold what decides.
var dispensable = []string{"baseline", "candidate", "median", "detectable", "blocks to decide", "tolerance"}

// Fit returns the table as text for a terminal of the given width, of which it leaves the last column free. If the table
// is wider, columns that don't decide are left out; if that isn't enough, it has a block of lines for each row. A width of
// 0 means that the output is no terminal: the table is whole then.
func (s *Sheet) Fit(width int) string {
	whole := s.Render()
	if width == 0 || len(s.Rows) == 0 || widest(whole) < width {
		return whole
	}
	narrow := s
	for _, heading := range dispensable {
		if i := slices.Index(narrow.Columns, heading); i >= 0 {
			narrow = narrow.without(i)
			if text := narrow.Render(); widest(text) < width {
				return text
			}
		}
	}
	return s.blocks()
}

func widest(rendered string) int {
	most := 0
	for line := range strings.SplitSeq(rendered, "\n") {
		most = max(most, text.StringWidthWithoutEscSequences(line))
	}
	return most
}

// without returns the table without a column.
func (s *Sheet) without(column int) *Sheet {
	t := NewTable(slices.Delete(slices.Clone(s.headings), column, column+1)...)
	for _, cells := range s.Rows {
		var row table.Row
		for i, cell := range cells {
			if i != column {
				row = append(row, cell)
			}
		}
		t.AppendRow(row)
	}
	return t
}

// blocks returns a block of lines for each row: its first cell, and under it a line for each of the others.
func (s *Sheet) blocks() string {
	name := 0
	for _, heading := range s.Columns[1:] {
		name = max(name, text.StringWidthWithoutEscSequences(heading))
	}
	var blocks []string
	for _, row := range s.Rows {
		lines := []string{row[0]}
		for i, cell := range row[1:] {
			lines = append(lines, "  "+text.AlignLeft.Apply(s.Columns[i+1], name)+"  "+cell)
		}
		blocks = append(blocks, strings.Join(lines, "\n"))
	}
	return strings.Join(blocks, "\n\n")
}
