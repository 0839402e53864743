package round

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/assay-dev/assay/internal/report"
)

var pivotWriters = newFormats((*Pivot).write).with("csv", writePivotCSV)

// PivotNames returns the names of all formats of pivot tables in alphabetical order.
func PivotNames() []string { return pivotWriters.names() }

// WritePivot writes a pivot table in the format of that name.
func WritePivot(w io.Writer, format string, p *Pivot) error { return pivotWriters.write(w, format, p) }

func (p *Pivot) write(w io.Writer, d document) error {
	d.paragraph(fmt.Sprintf("Benchmark %s/%s, round %d (%s): %s", p.Namespace, p.Benchmark, p.Round, p.Verdict, p.what()))
	for i := range p.Grids {
		g := &p.Grids[i]
		if g.Title != "" {
			d.section(g.Title)
		}
		columns := []any{report.Words(p.corner())}
		for _, c := range g.Columns {
			columns = append(columns, c)
		}
		rows := make([][]string, len(g.Rows))
		for j, name := range g.Rows {
			rows[j] = []string{name}
			for k := range g.Values[j] {
				rows[j] = append(rows[j], cmp.Or(p.format(g, j, k), "-"))
			}
		}
		d.table(columns, rows)
	}
	_, err := io.WriteString(w, strings.TrimLeft(d.String(), "\n"))
	return err
}

// what says what the figures are.
func (p *Pivot) what() string {
	if p.PercentOf != "" {
		return fmt.Sprintf("%s, difference from %s in %%", p.Metric, p.PercentOf)
	}
	return "median of " + heading(p.Metric)
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

// format formats the figure at a row and a column; empty if there is none.
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

// writePivotCSV writes a record for each row under a header, whose first field says what the figures are. With
// several grids, the first column has the values of the other axes. Cells without a figure are empty.
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
	return report.WriteCSV(w, records)
}
