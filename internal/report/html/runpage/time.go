package runpage

import (
	"fmt"
	"math"

	"github.com/assay-dev/assay/internal/report/chart"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/report/plot"
	"github.com/assay-dev/assay/internal/result"
)

// maxTableRows is the number of rows of the table over time from which on several points share a row.
const maxTableRows = 120

// overTime has the plots over time.
func overTime(r *result.Result) doc.Section {
	s := doc.Section{ID: "time", Title: "Over time", Question: "What happened, and what caused it?"}
	t := chart.NewTimeline(r)
	if t == nil {
		s.Add(doc.Paragraph{"The result has no metrics by time."})
		return s
	}
	p := doc.Panels{
		Hint:        fmt.Sprintf("%s points. Point at a plot, or focus one and use the arrow keys, to read its values.", number.Count(int64(t.Points()))),
		FoldedTitle: "Phases, memory, network, pauses and the nodes, on the same axis", Series: series(t),
	}
	open := 0
	for i := range t.Panels {
		if !t.Panels[i].Folded {
			open = i
		}
	}
	for i := range t.Panels {
		l := &t.Panels[i]
		axis := i == open || i == len(t.Panels)-1
		panel := doc.Panel{ID: l.ID, Drawing: t.Figure(l, axis)}
		if l.Folded {
			p.Folded = append(p.Folded, panel)
		} else {
			p.Panels = append(p.Panels, panel)
		}
	}
	s.Add(captions(r, t), p, doc.Group{Title: "The same values as a table", Folded: true, Blocks: []doc.Block{seriesTable(t)}})
	return s
}

// captions says what the points are, and what is missing.
func captions(r *result.Result, t *chart.Timeline) (texts doc.Paragraph) {
	if n := t.Joined(); n > 1 {
		texts = append(texts, fmt.Sprintf("The result was thinned to fit: a point is up to %d s. Where seconds were joined, their percentiles are not known: the lines have gaps, and the maximum stays.", n))
	}
	if t.Panel(chart.PanelHeat) != nil {
		texts = append(texts, chart.HeatShades())
	}
	if last := t.Times[t.Points()] - t.Times[t.Points()-1]; math.Abs(last-math.Round(last)) > 0.01 {
		text := fmt.Sprintf("The last point is of %.2f s, since the measurement ended within a second.", last)
		if l := t.Panel(chart.PanelLatency); last > 1 && len(l.Lines) > 0 && math.IsNaN(l.Lines[0].Values[t.Points()-1]) {
			text += " Its percentiles are not known: those of parts can't be joined."
		}
		texts = append(texts, text)
	}
	if t.Points() <= 3 {
		texts = append(texts, fmt.Sprintf("%.2f s measured.", t.End))
	}
	switch {
	case r.Run.Standalone:
	case r.Warmup == nil:
		texts = append(texts, "There was no warm-up.")
	default:
		text := fmt.Sprintf("The warm-up took %s", number.Unit(number.Significant(t.Warmup), "s"))
		if t.Warmup > -t.Start*(1+1e-9) {
			text += fmt.Sprintf(", of which the last %s are drawn left of 0", number.Unit(number.Significant(-t.Start), "s"))
		} else {
			text += ", drawn left of 0"
		}
		text += "; its seconds are not in the result."
		if windows, _ := t.Windows(); len(windows) > 0 {
			text += " The hollow dots in it are the parts by which it was decided whether the target is steady."
		}
		texts = append(texts, text)
	}
	return texts
}

// seriesTable has the values of the plots over time. If there are many points, a row has the largest value of several.
func seriesTable(t *chart.Timeline) *doc.Table {
	every := (t.Points() + maxTableRows - 1) / maxTableRows
	table := &doc.Table{Caption: "Values of each point", Columns: doc.Words("from, " + plot.TimeUnit(t.End))}
	if every > 1 {
		table.Caption = fmt.Sprintf("The largest value of each %d points", every)
	}
	var columns []*chart.Line
	for i := range t.Panels {
		l := &t.Panels[i]
		if l.Heat != nil { // its lines are those of the panel of latencies
			continue
		}
		for j := range l.Lines {
			line := &l.Lines[j]
			name := line.Name + ", " + l.Unit
			switch {
			case l.ID == chart.PanelLoad:
				name = l.Name
			case l.Unit == line.Name:
				name = l.Unit
			case l.Folded || l.ID == chart.PanelCPU || l.ID == chart.PanelClientCPU:
				name = l.Name + ": " + line.Name
			}
			columns = append(columns, line)
			table.Columns = append(table.Columns, doc.Numbers(name)...)
		}
	}
	for from := 0; from < t.Points(); from += every {
		row := []string{plot.Clock(t.Times[from], t.End)}
		for _, line := range columns {
			most := math.NaN()
			for _, v := range line.Values[from:min(from+every, t.Points())] {
				if !math.IsNaN(v) && !(v <= most) {
					most = v
				}
			}
			row = append(row, number.Significant(most))
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}
