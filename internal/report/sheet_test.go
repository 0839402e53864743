package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/assay-dev/assay/internal/report"
)

func TestFit(t *testing.T) {
	s := report.NewTable(report.Words("cell"), "difference", "detectable", report.Words("conclusion"))
	s.AppendRow(table.Row{"nio2", "+24%", "13%", "worse"})
	s.AppendRow(table.Row{"nginx", "+9%", "12%", "can't tell yet"})
	whole := "" +
		"cell   difference  detectable  conclusion\n" +
		"nio2         +24%         13%  worse\n" +
		"nginx         +9%         12%  can't tell yet"
	narrow := "" +
		"cell   difference  conclusion\n" +
		"nio2         +24%  worse\n" +
		"nginx         +9%  can't tell yet"
	blocks := "" +
		"nio2\n  difference  +24%\n  detectable  13%\n  conclusion  worse\n\n" +
		"nginx\n  difference  +9%\n  detectable  12%\n  conclusion  can't tell yet"
	for width, want := range map[int]string{0: whole, 200: whole, 46: whole, 45: narrow, 34: narrow, 33: blocks, 10: blocks} {
		if got := s.Fit(width); got != want {
			t.Errorf("on %d columns:\n%s\nwant\n%s", width, got, want)
		}
	}
}

// terminal is an output with a number of columns.
type terminal struct {
	bytes.Buffer
	columns int
}

func (w *terminal) Columns() int { return w.columns }

// TestTableOnTerminals checks that a line of the table of runs is never wider than the terminal, but for those of notes.
func TestTableOnTerminals(t *testing.T) {
	rows := rows()
	for _, columns := range []int{80, 120} {
		out := terminal{columns: columns}
		if err := report.WriteTable(&out, "text", rows); err != nil {
			t.Fatal(err)
		}
		blocks, _, _ := strings.Cut(out.String(), "\n[1]")
		if n := strings.Count(blocks, "requests/s per client"); n != len(rows) {
			t.Errorf("on %d columns: %d of %d rows are blocks\n%s", columns, n, len(rows), blocks)
		}
	}
}
