package runpage

import (
	"fmt"
	"math"
	"strconv"

	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/report/chart"
	"github.com/assay-dev/assay/internal/report/html"
	"github.com/assay-dev/assay/internal/report/picture"
	"github.com/assay-dev/assay/internal/result"
)

// maxTableRows is the number of rows of the table over time from which on several points share a row.
const maxTableRows = 120

// table returns a table of the text report.
func table(caption string, s *report.Sheet) *html.Table {
	t := &html.Table{Caption: caption, Rows: s.Rows}
	for i, name := range s.Columns {
		t.Columns = append(t.Columns, html.Column{Name: name, Number: s.Numbers[i]})
	}
	return t
}

// seriesTable has the figures of the plots over time. If there are many points, a row has the largest figure of several.
func seriesTable(t *chart.Timeline) *html.Table {
	every := (t.Points() + maxTableRows - 1) / maxTableRows
	table := &html.Table{Caption: "Figures of each point", Columns: html.Words("from, " + picture.TimeUnit(t.End))}
	if every > 1 {
		table.Caption = fmt.Sprintf("The largest figure of each %d points", every)
	}
	type column struct {
		lane *chart.Lane
		line *chart.Line
	}
	var columns []column
	for i := range t.Lanes {
		l := &t.Lanes[i]
		if l.Heat != nil { // its lines are those of the lane of latencies
			continue
		}
		for j := range l.Lines {
			line := &l.Lines[j]
			name := line.Name + ", " + l.Unit
			switch {
			case l.ID == chart.LaneLoad:
				name = l.Name
			case l.Unit == line.Name:
				name = l.Unit
			case l.Folded || l.ID == chart.LaneCPU || l.ID == chart.LaneClientCPU:
				name = l.Name + ": " + line.Name
			}
			columns = append(columns, column{l, line})
			table.Columns = append(table.Columns, html.Numbers(name)...)
		}
	}
	for from := 0; from < t.Points(); from += every {
		row := []string{picture.Clock(t.Times[from], t.End)}
		for _, c := range columns {
			most := math.NaN()
			for _, v := range c.line.Values[from:min(from+every, t.Points())] {
				if !math.IsNaN(v) && !(v <= most) {
					most = v
				}
			}
			row = append(row, picture.Significant(most))
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

// percentileTable has ab's percentiles and further ones of all clients and of each, in milliseconds.
func (b *builder) percentileTable() *html.Table {
	t := &html.Table{Caption: "Latency in ms by percentile", Columns: html.Words("")}
	for p := range percentile.Count {
		t.Columns = append(t.Columns, html.Numbers(p.String()+"%")...)
	}
	t.Columns = append(t.Columns, html.Numbers("max", "requests")...)
	row := func(name string, s result.Summary) {
		cells := []string{name}
		for p := range percentile.Count {
			text := "-"
			if s.Percentiles[p] != result.Unknown && s.Count > 0 {
				text = milliseconds(s.Percentiles[p])
			}
			cells = append(cells, text)
		}
		t.Rows = append(t.Rows, append(cells, milliseconds(s.Max), picture.Count(s.Count)))
	}
	row("all clients", b.r.TotalSummary())
	if len(b.r.Clients) > 1 {
		for i := range b.r.Clients {
			c := &b.r.Clients[i]
			s := c.Latencies.Get(result.Total).Summarize(0)
			if kept := c.Summaries[result.Total]; kept != nil {
				s = *kept
			}
			row(fmt.Sprintf("client %d", c.Index), s)
		}
	}
	return t
}

// milliseconds returns microseconds as the text report has them in tables: without loss.
func milliseconds(microseconds int64) string {
	return strconv.FormatFloat(float64(microseconds)/1000, 'f', 3, 64)
}
