package round

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/statistics"
)

// Pivot is a table of the cells of a round: a row for each value of an axis, a column for each value of another.
type Pivot struct {
	Namespace string                    `json:"namespace"`
	Benchmark string                    `json:"benchmark"`
	Round     int64                     `json:"round"`
	Verdict   v1alpha1.BenchmarkVerdict `json:"verdict"`
	Metric    v1alpha1.BenchmarkMetric  `json:"metric"`
	// PercentOf selects the cells that the figures are a difference from, in percent; empty for medians.
	PercentOf string `json:"percentOf,omitempty"`
	// RowAxis and ColumnAxis name the axes; ColumnAxis is empty for a single column.
	RowAxis    string `json:"rowAxis"`
	ColumnAxis string `json:"columnAxis,omitempty"`
	// Grids has a table for each combination of the other axes' values.
	Grids []Grid `json:"grids"`
}

// Grid is a table of cells that differ on two axes alone.
type Grid struct {
	// Title has the values of the other axes; empty if there are none.
	Title   string   `json:"title,omitempty"`
	Rows    []string `json:"rows"`
	Columns []string `json:"columns"`
	// Values are by row and column, in percent or in the units of result.Metrics; nil for a cell that doesn't
	// exist, or has no figure.
	Values [][]*float64 `json:"values"`
}

// PivotOptions say what a pivot table shows.
type PivotOptions struct {
	// Axes are the axes of the rows and of the columns. If empty, they are the first two of the Benchmark.
	Axes []string
	// Metric is the figure. If empty, it is RequestsPerSecond.
	Metric v1alpha1.BenchmarkMetric
	// PercentOf selects baselines by the values of axes, as in "connector=nio,size=1"; empty for none.
	PercentOf string
}

// NewPivot returns a pivot table of a round.
func NewPivot(r *benchmark.Round, o PivotOptions) (*Pivot, error) {
	axes := make([]string, len(r.Spec.Axes))
	for i := range axes {
		axes[i] = r.Spec.Axes[i].Name
	}
	p := &Pivot{Namespace: r.Namespace, Benchmark: r.Benchmark, Round: r.Number, Verdict: r.Verdict, Metric: o.Metric, PercentOf: o.PercentOf}
	if p.Metric == "" {
		p.Metric = v1alpha1.BenchmarkMetric(v1alpha1.MetricRequestsPerSecond)
	}
	if !slices.ContainsFunc(r.Estimates, func(e benchmark.Estimate) bool { return e.Metric == p.Metric }) {
		return nil, fmt.Errorf("the round has no figure %q: use one of %s", p.Metric, strings.Join(metricsOf(r), ", "))
	}
	chosen := o.Axes
	if len(chosen) == 0 {
		chosen = axes[:min(2, len(axes))]
	}
	for i, name := range chosen {
		if !slices.Contains(axes, name) {
			return nil, fmt.Errorf("unknown axis %q: the Benchmark has %s", name, strings.Join(axes, ", "))
		}
		if slices.Contains(chosen[:i], name) {
			return nil, fmt.Errorf("axis %q is named twice: use different axes for rows and columns", name)
		}
	}
	switch len(chosen) {
	case 0: // a Benchmark without axes
	case 1:
		p.RowAxis = chosen[0]
	case 2:
		p.RowAxis, p.ColumnAxis = chosen[0], chosen[1]
	default:
		return nil, fmt.Errorf("%d axes: use one for rows and one for columns; the others have a table for each value", len(chosen))
	}
	values, err := p.values(r, axes)
	if err != nil {
		return nil, err
	}
	for i := range r.Cells {
		p.place(&r.Cells[i], axes, values[i])
	}
	for i := range p.Grids {
		p.Grids[i].sort(valuesOf(r, p.RowAxis), valuesOf(r, p.ColumnAxis))
	}
	return p, nil
}

// valuesOf returns the names of an axis's values in the order of the spec. The cells need not have this order: those
// of the first value may be excluded.
func valuesOf(r *benchmark.Round, axis string) (names []string) {
	at := slices.IndexFunc(r.Spec.Axes, func(a v1alpha1.Axis) bool { return a.Name == axis })
	if at < 0 {
		return nil
	}
	cells, err := benchmark.Cells(&v1alpha1.BenchmarkSpec{Axes: r.Spec.Axes[at : at+1]})
	if err != nil {
		return nil
	}
	for i := range cells {
		names = append(names, cells[i].Values[axis])
	}
	return names
}

func metricsOf(r *benchmark.Round) []string {
	names := map[string]bool{}
	for i := range r.Estimates {
		names[string(r.Estimates[i].Metric)] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// values returns the figures of the table by cell; nil for those that are unknown.
func (p *Pivot) values(r *benchmark.Round, axes []string) ([]*float64, error) {
	values := make([]*float64, len(r.Cells))
	for i := range r.Estimates {
		if e := &r.Estimates[i]; e.Metric == p.Metric {
			values[e.Cell] = &e.Median
		}
	}
	if p.PercentOf == "" {
		return values, nil
	}
	selected, err := selector(p.PercentOf, axes)
	if err != nil {
		return nil, err
	}
	differences := make([]*float64, len(r.Cells))
	found := false
	for i := range r.Cells {
		want := maps.Clone(r.Cells[i].Values)
		maps.Copy(want, selected)
		at := slices.IndexFunc(r.Cells, func(c benchmark.Cell) bool { return maps.Equal(c.Values, want) })
		if at >= 0 {
			found = true
			differences[i] = difference(r, p.Metric, i, at)
			if slices.Contains(r.Omitted, p.Metric) && values[i] != nil && values[at] != nil && *values[at] > 0 {
				percent := statistics.Percent(*values[i] / *values[at]) // of the medians: runs have no figures
				differences[i] = &percent
			}
		}
	}
	if !found {
		return nil, fmt.Errorf("no cell has %s: see the cells with \"kubectl assay report\"", p.PercentOf)
	}
	return differences, nil
}

// selector parses the values of axes, as in the names of cells.
func selector(text string, axes []string) (map[string]string, error) {
	selected := map[string]string{}
	for _, part := range strings.Split(text, ",") {
		axis, value, ok := strings.Cut(part, "=")
		if !ok || !slices.Contains(axes, axis) {
			return nil, fmt.Errorf("%q is no value of an axis: use AXIS=VALUE; the Benchmark has the axes %s", part, strings.Join(axes, ", "))
		}
		selected[axis] = value
	}
	return selected, nil
}

// difference returns by how much a cell differs from another in percent, as the report of the round estimates it:
// within blocks.
func difference(r *benchmark.Round, metric v1alpha1.BenchmarkMetric, cell, baseline int) *float64 {
	if cell == baseline {
		zero := 0.0
		return &zero
	}
	c, err := statistics.Paired(r.Values(baseline, metric), r.Values(cell, metric))
	if err != nil {
		return nil
	}
	// alpha only matters for the interval
	percent := statistics.Percent(c.Effect(0.05).Estimate)
	if math.IsNaN(percent) || math.IsInf(percent, 0) {
		return nil
	}
	return &percent
}

// place puts the value of a cell into its grid.
func (p *Pivot) place(cell *benchmark.Cell, axes []string, value *float64) {
	var others []string
	for _, axis := range axes {
		if axis != p.RowAxis && axis != p.ColumnAxis {
			others = append(others, axis+"="+cell.Values[axis])
		}
	}
	title, row, column := strings.Join(others, ","), cell.Name, string(p.Metric)
	if p.RowAxis != "" {
		row = cell.Values[p.RowAxis]
	}
	if p.ColumnAxis != "" {
		column = cell.Values[p.ColumnAxis]
	}
	at := slices.IndexFunc(p.Grids, func(g Grid) bool { return g.Title == title })
	if at < 0 {
		at = len(p.Grids)
		p.Grids = append(p.Grids, Grid{Title: title})
	}
	p.Grids[at].set(row, column, value)
}

func (g *Grid) set(row, column string, value *float64) {
	if !slices.Contains(g.Columns, column) {
		g.Columns = append(g.Columns, column)
		for i := range g.Values {
			g.Values[i] = append(g.Values[i], nil)
		}
	}
	if !slices.Contains(g.Rows, row) {
		g.Rows = append(g.Rows, row)
		g.Values = append(g.Values, make([]*float64, len(g.Columns)))
	}
	g.Values[slices.Index(g.Rows, row)][slices.Index(g.Columns, column)] = value
}

// sort sorts rows and columns into the order of all that there may be.
func (g *Grid) sort(rows, columns []string) {
	sorted := Grid{Title: g.Title, Rows: inOrder(g.Rows, rows), Columns: inOrder(g.Columns, columns)}
	for _, row := range sorted.Rows {
		var values []*float64
		for _, column := range sorted.Columns {
			values = append(values, g.Values[slices.Index(g.Rows, row)][slices.Index(g.Columns, column)])
		}
		sorted.Values = append(sorted.Values, values)
	}
	*g = sorted
}

func inOrder(names, order []string) []string {
	return slices.SortedStableFunc(slices.Values(names), func(a, b string) int {
		return cmp.Compare(slices.Index(order, a), slices.Index(order, b))
	})
}
