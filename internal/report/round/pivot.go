package round

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
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
	// Values are by row and column, in percent or in the units of result.Metrics and result.LevelMetrics; nil for
	// a cell that doesn't exist, or has no figure.
	Values [][]*float64 `json:"values"`
	// NoneUpTo are by row and column, for breaking points: the highest load of a cell that met none, otherwise 0. It
	// is nil if there is no such cell.
	NoneUpTo [][]int64 `json:"noneUpTo,omitempty"`
}

// LevelAxis is the name under which a pivot table has the levels of the load as an axis, unless the Benchmark has
// an axis of that name.
const LevelAxis = "level"

// entry is a figure of a cell, or of a level of it, with its values on the axes.
type entry struct {
	name     string
	values   map[string]string
	value    *float64
	noneUpTo int64
}

// PivotOptions say what a pivot table shows.
type PivotOptions struct {
	// Axes are the axes of the rows and of the columns. If empty, they are the first two of the Benchmark. One of
	// them may be LevelAxis.
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
	chosen := o.Axes
	ofLevels := slices.Contains(chosen, LevelAxis) && !slices.Contains(axes, LevelAxis)
	if ofLevels {
		axes = append(axes, LevelAxis)
	}
	if err := p.checkMetric(r, ofLevels); err != nil {
		return nil, err
	}
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
	entries, err := p.entries(r, axes, ofLevels)
	if err != nil {
		return nil, err
	}
	for i := range entries {
		p.place(&entries[i], axes)
	}
	for i := range p.Grids {
		p.Grids[i].sort(valuesOf(r, p.RowAxis), valuesOf(r, p.ColumnAxis))
	}
	return p, nil
}

// checkMetric returns an error if no cell, or no level, has the metric.
func (p *Pivot) checkMetric(r *benchmark.Round, ofLevels bool) error {
	switch {
	case ofLevels && r.LevelsOmitted:
		return errors.New("the round has no figures of levels: its artifact had no room for them")
	case ofLevels && len(r.Levels) == 0:
		return fmt.Errorf("unknown axis %q: the Benchmark has no such axis, and its load has no levels", LevelAxis)
	case ofLevels:
		if slices.ContainsFunc(r.Levels, func(l benchmark.LevelEstimate) bool { _, has := l.Medians[p.Metric]; return has }) {
			return nil
		}
		return fmt.Errorf("the levels have no figure %q: use one of %s", p.Metric, strings.Join(levelMetricsOf(r), ", "))
	case slices.ContainsFunc(r.Estimates, func(e benchmark.Estimate) bool { return e.Metric == p.Metric }):
		return nil
	case benchmark.IsBreakingPoint(p.Metric) && len(r.Levels) > 0:
		return nil // no cell met it
	}
	return fmt.Errorf("the round has no figure %q: use one of %s", p.Metric, strings.Join(metricsOf(r), ", "))
}

// valuesOf returns the names of an axis's values in the order of the spec. The cells need not have this order: those
// of the first value may be excluded. Levels are in the order of the load.
func valuesOf(r *benchmark.Round, axis string) (names []string) {
	at := slices.IndexFunc(r.Spec.Axes, func(a v1alpha1.Axis) bool { return a.Name == axis })
	if at < 0 && axis == LevelAxis {
		return levelNames(r)
	}
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

// entries returns the figures of the table.
func (p *Pivot) entries(r *benchmark.Round, axes []string, ofLevels bool) ([]entry, error) {
	source := cellEntries
	if ofLevels {
		source = levelEntries
	}
	entries := source(r, p.Metric)
	if p.PercentOf == "" {
		return entries, nil
	}
	selected, err := selector(p.PercentOf, axes)
	if err != nil {
		return nil, err
	}
	key := func(values, others map[string]string) string {
		parts := make([]string, len(axes))
		for i, axis := range axes {
			value, replaced := others[axis]
			if !replaced {
				value = values[axis]
			}
			parts[i] = strconv.Quote(value)
		}
		return strings.Join(parts, ",")
	}
	places := map[string]int{}
	for i := range slices.Backward(entries) {
		places[key(entries[i].values, nil)] = i
	}
	differences := slices.Clone(entries)
	found := false
	for i := range entries {
		differences[i].value, differences[i].noneUpTo = nil, 0
		at, exists := places[key(entries[i].values, selected)]
		if !exists {
			continue
		}
		found = true
		if !ofLevels && !slices.Contains(r.Omitted, p.Metric) {
			differences[i].value = difference(r, p.Metric, i, at)
		} else if a, b := entries[at].value, entries[i].value; a != nil && b != nil && *a > 0 {
			percent := statistics.Percent(*b / *a) // of the medians: runs have no figures
			differences[i].value = &percent
		}
	}
	if !found {
		return nil, fmt.Errorf("no cell has %s: see the cells with \"kubectl assay report\"", p.PercentOf)
	}
	return differences, nil
}

// cellEntries returns the medians of the cells, in their order.
func cellEntries(r *benchmark.Round, metric v1alpha1.BenchmarkMetric) []entry {
	entries := make([]entry, len(r.Cells))
	for i := range r.Cells {
		entries[i].name, entries[i].values = r.Cells[i].Name, r.Cells[i].Values
		entries[i].noneUpTo = r.NoneUpTo(i, metric)
	}
	for i := range r.Estimates {
		if e := &r.Estimates[i]; e.Metric == metric {
			entries[e.Cell].value, entries[e.Cell].noneUpTo = &e.Median, 0
		}
	}
	return entries
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

// place puts a figure into its grid.
func (p *Pivot) place(e *entry, axes []string) {
	var others []string
	for _, axis := range axes {
		if axis != p.RowAxis && axis != p.ColumnAxis {
			others = append(others, axis+"="+e.values[axis])
		}
	}
	title, row, column := strings.Join(others, ","), e.name, string(p.Metric)
	if p.RowAxis != "" {
		row = e.values[p.RowAxis]
	}
	if p.ColumnAxis != "" {
		column = e.values[p.ColumnAxis]
	}
	at := slices.IndexFunc(p.Grids, func(g Grid) bool { return g.Title == title })
	if at < 0 {
		at = len(p.Grids)
		p.Grids = append(p.Grids, Grid{Title: title})
	}
	p.Grids[at].set(row, column, e)
}

func (g *Grid) set(row, column string, e *entry) {
	if !slices.Contains(g.Columns, column) {
		g.Columns = append(g.Columns, column)
		for i := range g.Values {
			g.Values[i], g.NoneUpTo[i] = append(g.Values[i], nil), append(g.NoneUpTo[i], 0)
		}
	}
	if !slices.Contains(g.Rows, row) {
		g.Rows = append(g.Rows, row)
		g.Values, g.NoneUpTo = append(g.Values, make([]*float64, len(g.Columns))), append(g.NoneUpTo, make([]int64, len(g.Columns)))
	}
	r, c := slices.Index(g.Rows, row), slices.Index(g.Columns, column)
	g.Values[r][c], g.NoneUpTo[r][c] = e.value, e.noneUpTo
}

// sort sorts rows and columns into the order of all that there may be.
func (g *Grid) sort(rows, columns []string) {
	sorted := Grid{Title: g.Title, Rows: inOrder(g.Rows, rows), Columns: inOrder(g.Columns, columns)}
	none := false
	for _, row := range sorted.Rows {
		var values []*float64
		var noneUpTo []int64
		for _, column := range sorted.Columns {
			r, c := slices.Index(g.Rows, row), slices.Index(g.Columns, column)
			values, noneUpTo = append(values, g.Values[r][c]), append(noneUpTo, g.NoneUpTo[r][c])
			none = none || g.NoneUpTo[r][c] > 0
		}
		sorted.Values, sorted.NoneUpTo = append(sorted.Values, values), append(sorted.NoneUpTo, noneUpTo)
	}
	if !none {
		sorted.NoneUpTo = nil
	}
	*g = sorted
}

func inOrder(names, order []string) []string {
	return slices.SortedStableFunc(slices.Values(names), func(a, b string) int {
		return cmp.Compare(slices.Index(order, a), slices.Index(order, b))
	})
}
