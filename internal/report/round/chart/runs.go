package chart

import (
	"cmp"
	"fmt"
	"math"
	"strconv"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/report/plot"
	"github.com/assay-dev/assay/internal/report/round"
)

const (
	// overlaid is the largest number of cells in one plot; more have a plot each.
	overlaid = 6
	// maxPanels is the largest number of plots; the table has all cells. They are in panelColumns columns.
	maxPanels    = 24
	panelColumns = 3
	panelHeight  = 120
)

// Runs draws a metric of the runs of each cell by block and, at the right, the cell's median with its interval.
func Runs(r *round.Report, metric v1alpha1.BenchmarkMetric) *plot.Figure {
	low, high, blocks, valid, invalid := math.Inf(1), math.Inf(-1), 0, 0, 0
	ends := [2]float64{math.Inf(1), math.Inf(-1)} // with those of the intervals
	shown := len(r.Cells)
	if shown > overlaid {
		shown = min(shown, maxPanels)
	}
	for cell := range r.Cells {
		for _, run := range r.RunsOf(cell) {
			blocks = max(blocks, run.Number+1)
			if value, has := run.Metrics[metric]; run.Valid && has {
				valid++
				low, high = min(low, round.InUnit(metric, value)), max(high, round.InUnit(metric, value))
			} else if !run.Valid {
				invalid++
			}
		}
		if e := r.Estimate(cell, metric); e != nil && cell < shown {
			for _, x := range []*float64{&e.Median, e.Low, e.High} {
				if x != nil {
					ends[0], ends[1] = min(ends[0], round.InUnit(metric, *x)), max(ends[1], round.InUnit(metric, *x))
				}
			}
		}
	}
	title := round.MetricTitle(metric) + " of each run, by block"
	description := fmt.Sprintf("%s: no valid run. %d invalid.", title, invalid)
	if valid > 0 {
		description = fmt.Sprintf("%s: %d valid runs of %d cells from %s to %s, %d invalid.", title, valid, len(r.Cells), number.Significant(low), number.Significant(high), invalid)
	}
	p := plot.Plot{Axis: r.AxisTitle(metric), Height: 220, XName: "block", Y: plot.Range(min(low, ends[0]), max(high, ends[1]))}
	if low, high := min(low, ends[0]), max(high, ends[1]); low > 0 && high > 4*low { // cells that differ by more are on a log scale
		p.Axis, p.Y = p.Axis+" (log)", plot.Logarithmic(low, high)
	}
	names := make([]string, blocks)
	for i := range names {
		names[i] = strconv.Itoa(i + 1)
	}
	p.X = plot.Categories(append(names, "median"))
	p.Marks = append(p.Marks, plot.Rule{X: float64(blocks) - 0.5, Stroke: plot.Stroke{Color: plot.Grid}})
	if r.Blocks < blocks {
		p.Marks = append(p.Marks, plot.Rule{X: float64(r.Blocks) - 0.5, Stroke: plot.Stroke{Color: plot.AxisColor, Dash: "3 3"}, Text: "not whole"})
	}
	f := &plot.Figure{Title: title, Description: description}
	if invalid > 0 {
		f.Note = "✕ at the bottom: invalid runs, where they were"
	}
	if len(r.Cells) <= overlaid {
		p.Marks = append(p.Marks, joins(r, metric, blocks)...)
		for cell := range r.Cells {
			addRuns(&p, r, metric, cell, cell, len(r.Cells), blocks)
		}
		f.Columns = [][]plot.Plot{{p}}
		return f
	}
	f.Columns = make([][]plot.Plot, panelColumns)
	for cell := range shown {
		panel := p
		panel.Title, panel.Height, panel.Marks = r.Label(cell), panelHeight, append([]plot.Mark{}, p.Marks...)
		addRuns(&panel, r, metric, cell, 0, 1, blocks)
		panel.Names = nil // the title has it
		f.Columns[cell%panelColumns] = append(f.Columns[cell%panelColumns], panel)
	}
	if more := len(r.Cells) - shown; more > 0 {
		f.Note = fmt.Sprintf("%d more cells are in the table.", more)
	}
	return f
}

// place returns where a run is: those of a block are next to each other, in the order of the cells.
func place(block, i, cells int) float64 {
	return float64(block) + 0.6*(float64(i)-float64(cells-1)/2)/float64(cells)
}

// joins returns thin lines that join the runs of each block.
func joins(r *round.Report, metric v1alpha1.BenchmarkMetric, blocks int) []plot.Mark {
	lines := make([]plot.Line, blocks)
	for cell := range r.Cells {
		for _, run := range r.RunsOf(cell) {
			if value, has := run.Metrics[metric]; run.Valid && has {
				lines[run.Number].Points = append(lines[run.Number].Points, plot.Point{X: place(run.Number, cell, len(r.Cells)), Y: round.InUnit(metric, value)})
			}
		}
	}
	var marks []plot.Mark
	for _, line := range lines {
		if line.Color = plot.AxisColor; len(line.Points) > 1 {
			marks = append(marks, line)
		}
	}
	return marks
}

// addRuns adds the runs of a cell, which is the variant of that number of those in the plot, and its median.
func addRuns(p *plot.Plot, r *round.Report, metric v1alpha1.BenchmarkMetric, cell, variant, variants, blocks int) {
	for _, run := range r.RunsOf(cell) {
		at := plot.Point{X: place(run.Number, variant, variants), Y: math.Inf(-1)}
		value, has := run.Metrics[metric]
		switch {
		case !run.Valid:
			p.Marks = append(p.Marks, plot.Dot{At: at, Shape: plot.Cross, Color: plot.Bad, Tip: fmt.Sprintf("%s of %s: %s", run.Name, r.Label(cell), cmp.Or(run.Message, "unknown"))})
		case has:
			at.Y = round.InUnit(metric, value)
			tip := run.Name + ": " + number.Significant(at.Y)
			if run.Number >= r.Blocks {
				tip += ", not in a whole block"
			}
			p.Marks = append(p.Marks, plot.Variant(variant, at, run.Number >= r.Blocks, tip))
		}
	}
	e := r.Estimate(cell, metric)
	if e == nil {
		p.Names = append(p.Names, plot.OfVariant(variant, r.Label(cell), math.Inf(1)))
		return
	}
	median, _ := round.EstimateTexts(e)
	at := func(y float64) plot.Point {
		return plot.Point{X: place(blocks, variant, variants), Y: round.InUnit(metric, y)}
	}
	if e.Low != nil && e.High != nil {
		p.Marks = append(p.Marks, plot.Interval{Stroke: plot.Stroke{Color: plot.VariantColor(variant), Width: 2}, From: at(*e.Low), To: at(*e.High)})
	}
	p.Marks = append(p.Marks, plot.Variant(variant, at(e.Median), false, r.Label(cell)+": "+round.EstimateText(e)))
	name := plot.OfVariant(variant, r.Label(cell), at(e.Median).Y)
	name.Value = median
	p.Names = append(p.Names, name)
}
