package round

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/assay-dev/assay/internal/report/doc"
)

// Document returns the table for terminals and comments.
func (p *Pivot) Document() *doc.Document {
	d := &doc.Document{Remarks: []string{fmt.Sprintf("Benchmark %s/%s, round %d (%s): %s", p.Namespace, p.Benchmark, p.Round, p.Verdict, p.what())}}
	for i := range p.Grids {
		g := &p.Grids[i]
		t := &doc.Table{Columns: append(doc.Words(p.corner()), doc.Numbers(g.Columns...)...)}
		for j, name := range g.Rows {
			row := []string{name}
			for k := range g.Values[j] {
				row = append(row, cmp.Or(p.format(g, j, k), "-"))
			}
			t.Rows = append(t.Rows, row)
		}
		d.Add(doc.Section{Title: g.Title, Blocks: []doc.Block{t}})
	}
	return d
}

// what says what the values are.
func (p *Pivot) what() string {
	if p.PercentOf != "" {
		return fmt.Sprintf("%s, difference from %s in %%", p.Metric, p.PercentOf)
	}
	return "median of " + Heading(p.Metric)
}

// corner returns the heading of the column of row names.
func (p *Pivot) corner() string {
	switch {
	case p.RowAxis == "":
		return "cell"
	case p.ColumnAxis == "":
		return p.RowAxis
	}
	return p.RowAxis + ` \ ` + p.ColumnAxis
}

// format formats the value at a row and a column; empty if there is none.
func (p *Pivot) format(g *Grid, row, column int) string {
	value := g.Values[row][column]
	switch {
	case value == nil && g.NoneUpTo != nil && g.NoneUpTo[row][column] > 0:
		return noneUpTo(g.NoneUpTo[row][column])
	case value == nil:
		return ""
	case p.PercentOf != "":
		return fmt.Sprintf("%+.1f", *value)
	}
	return unitOf(p.Metric).format(*value)
}

// writePivotCSV writes a record for each row under a header, whose first field says what the values are. With
// several grids, the first column has the values of the other axes. Cells without a value are empty.
func writePivotCSV(w io.Writer, p *Pivot) error {
	var records [][]string
	several := len(p.Grids) > 1
	for i := range p.Grids {
		g := &p.Grids[i]
		record := []string{p.corner() + ": " + p.what()}
		if several {
			record = append([]string{"table"}, record...)
		}
		if i == 0 || !slices.Equal(g.Columns, p.Grids[i-1].Columns) {
			records = append(records, append(record, g.Columns...))
		}
		for j, name := range g.Rows {
			record := []string{name}
			if several {
				record = append([]string{g.Title}, record...)
			}
			for k := range g.Values[j] {
				record = append(record, strings.TrimPrefix(p.format(g, j, k), "+"))
			}
			records = append(records, record)
		}
	}
	return doc.WriteCSV(w, records)
}
