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
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/statistics"
)

// Pivot is a table of the cells of a round: a row for each value of an axis, a column for each value of another.
type Pivot struct {
	Namespace string                    `json:"namespace"`
	Benchmark string                    `json:"benchmark"`
	Round     int64                     `json:"round"`
	Verdict   v1alpha1.BenchmarkVerdict `json:"verdict"`
	Metric    v1alpha1.BenchmarkMetric  `json:"metric"`
	// PercentOf selects the cells that the values are a difference from, in percent; empty for medians.
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
	// Cells are the indexes of the round's cells by row and column; -1 for a cell that doesn't exist.
	Cells [][]int `json:"-"`
	// Values are by row and column, in percent or in the units of result.Metrics and result.LevelMetrics; nil for
	// a cell that doesn't exist, or doesn't have the metric.
	Values [][]*float64 `json:"values"`
	// NoneUpTo are by row and column, for breaking points: the highest load of a cell that met none, otherwise 0. It
	// is nil if there is no such cell.
	NoneUpTo [][]int64 `json:"noneUpTo,omitempty"`
}

// LevelAxis is the name under which a pivot table has the levels of the load as an axis, unless the Benchmark has
// an axis of that name.
const LevelAxis = "level"

// PivotOptions say what a pivot table shows.
type PivotOptions struct {
	// Axes are the axes of the rows and of the columns. If empty, they are the first two of the Benchmark. One of
	// them may be LevelAxis.
	Axes []string
	// Metric is what the cells show. If empty, it is RequestsPerSecond.
	Metric v1alpha1.BenchmarkMetric
	// PercentOf selects baselines by the values of axes, as in "connector=nio,size=1"; empty for none.
	PercentOf string
}

// NewPivot returns a pivot table of a round.
func NewPivot(r *benchmark.Round, o PivotOptions) (*Pivot, error) {
	p := &Pivot{Namespace: r.Namespace, Benchmark: r.Benchmark, Round: r.Number, Verdict: r.Verdict, Metric: cmp.Or(o.Metric, "RequestsPerSecond"), PercentOf: o.PercentOf}
	var axes []string
	for i := range r.Spec.Axes {
		axes = append(axes, r.Spec.Axes[i].Name)
	}
	source, ofLevels := cellEntries, slices.Contains(o.Axes, LevelAxis) && !slices.Contains(axes, LevelAxis)
	if ofLevels {
		source, axes = levelEntries, append(axes, LevelAxis)
	}
	if err := p.checkMetric(r, ofLevels); err != nil {
		return nil, err
	}
	if err := p.choose(o.Axes, axes); err != nil {
		return nil, err
	}
	entries := source(r, p.Metric)
	if p.PercentOf != "" {
		selected, err := selector(p.PercentOf, axes)
		if err != nil {
			return nil, err
		}
		if entries = p.differences(r, entries, selected, ofLevels); entries == nil {
			return nil, fmt.Errorf("no cell has %s: see the cells with \"kubectl assay report\"", p.PercentOf)
		}
	}
	p.arrange(r, entries, axes)
	return p, nil
}

// Grids returns the medians of a metric by the last two axes; nil if the Benchmark has fewer, or no cell has the metric.
func (r *Report) Grids(metric v1alpha1.BenchmarkMetric) *Pivot {
	axes := r.Spec.Axes
	if len(axes) < 2 {
		return nil
	}
	p, err := NewPivot(r.Round, PivotOptions{Axes: []string{axes[len(axes)-2].Name, axes[len(axes)-1].Name}, Metric: metric})
	if err != nil {
		return nil
	}
	return p
}

// checkMetric returns an error if no cell, or no level, has the metric.
func (p *Pivot) checkMetric(r *benchmark.Round, ofLevels bool) error {
	what, known := "the round has", map[v1alpha1.BenchmarkMetric]bool{}
	for i := range r.Estimates {
		known[r.Estimates[i].Metric] = true
	}
	if ofLevels {
		what = "the levels have"
		clear(known)
		for i := range r.Levels {
			for metric := range r.Levels[i].Medians {
				known[metric] = true
			}
		}
	}
	switch {
	case ofLevels && r.LevelsOmitted:
		return errors.New("the round has no metrics of levels: its artifact had no room for them")
	case ofLevels && len(r.Levels) == 0:
		return fmt.Errorf("unknown axis %q: the Benchmark has no such axis, and its load has no levels", LevelAxis)
	case known[p.Metric], !ofLevels && benchmark.IsBreakingPoint(p.Metric) && len(r.Levels) > 0: // no cell met it
		return nil
	}
	var names []string
	for _, metric := range slices.Sorted(maps.Keys(known)) {
		names = append(names, string(metric))
	}
	return fmt.Errorf("%s no metric %q: use one of %s", what, p.Metric, strings.Join(names, ", "))
}

// choose sets the axes of rows and columns: the chosen ones or, without any, the first two.
func (p *Pivot) choose(chosen, axes []string) error {
	if len(chosen) == 0 {
		chosen = axes[:min(2, len(axes))]
	}
	for i, name := range chosen {
		if !slices.Contains(axes, name) {
			return fmt.Errorf("unknown axis %q: the Benchmark has %s", name, strings.Join(axes, ", "))
		}
		if slices.Contains(chosen[:i], name) {
			return fmt.Errorf("axis %q is named twice: use different axes for rows and columns", name)
		}
	}
	switch len(chosen) {
	case 0: // a Benchmark without axes
	case 1:
		p.RowAxis = chosen[0]
	case 2:
		p.RowAxis, p.ColumnAxis = chosen[0], chosen[1]
	default:
		return fmt.Errorf("%d axes: use one for rows and one for columns; the others have a table for each value", len(chosen))
	}
	return nil
}

// entry is a value of a cell, or of a level of it, with its values on the axes.
type entry struct {
	cell     int
	values   map[string]string
	value    *float64
	noneUpTo int64
}

// cellEntries returns the medians of the cells, in their order.
func cellEntries(r *benchmark.Round, metric v1alpha1.BenchmarkMetric) []entry {
	entries := make([]entry, len(r.Cells))
	for i := range r.Cells {
		entries[i] = entry{cell: i, values: r.Cells[i].Values, noneUpTo: r.NoneUpTo(i, metric)}
	}
	for i := range r.Estimates {
		if e := &r.Estimates[i]; e.Metric == metric {
			entries[e.Cell].value, entries[e.Cell].noneUpTo = &e.Median, 0
		}
	}
	return entries
}

// levelEntries returns the medians of the levels of all cells.
func levelEntries(r *benchmark.Round, metric v1alpha1.BenchmarkMetric) []entry {
	entries := make([]entry, len(r.Levels))
	for i := range r.Levels {
		l := &r.Levels[i]
		e := entry{cell: l.Cell, values: map[string]string{LevelAxis: levelName(r, i)}}
		maps.Copy(e.values, r.Cells[l.Cell].Values)
		if median, has := l.Medians[metric]; has {
			e.value = &median
		}
		entries[i] = e
	}
	return entries
}

// levelName returns the load of a level. One that the load had before is numbered as well: "200 (level 3)".
func levelName(r *benchmark.Round, i int) string {
	l := &r.Levels[i]
	before := slices.ContainsFunc(r.Levels[:i], func(o benchmark.LevelEstimate) bool { return o.Cell == l.Cell && o.Load == l.Load })
	if before {
		return fmt.Sprintf("%d (level %d)", l.Load, l.Level+1)
	}
	return strconv.FormatInt(l.Load, 10)
}

// orderOf returns the names of an axis's values in the order of the spec. The cells need not have this order: those of the
// first value may be excluded. Levels are in the order of the load; all cells usually have the same.
func orderOf(r *benchmark.Round, axis string) (names []string) {
	at := slices.IndexFunc(r.Spec.Axes, func(a v1alpha1.Axis) bool { return a.Name == axis })
	if at < 0 && axis == LevelAxis {
		highest := map[string]int{}
		for i := range r.Levels {
			name := levelName(r, i)
			highest[name] = max(highest[name], r.Levels[i].Level)
		}
		return slices.SortedStableFunc(slices.Values(slices.Sorted(maps.Keys(highest))), func(a, b string) int { return highest[a] - highest[b] })
	}
	if at < 0 {
		return nil
	}
	cells, err := cells.Of(&v1alpha1.BenchmarkSpec{Axes: r.Spec.Axes[at : at+1]})
	if err != nil {
		return nil
	}
	for i := range cells {
		names = append(names, cells[i].Values[axis])
	}
	return names
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

// differences returns entries with their differences in percent from those that have the selected values on their axes,
// and otherwise the same; nil if there is none.
func (p *Pivot) differences(r *benchmark.Round, entries []entry, selected map[string]string, ofLevels bool) []entry {
	key := func(values, replaced map[string]string) string {
		place := maps.Clone(values)
		maps.Copy(place, replaced)
		return fmt.Sprintf("%q", place) // in the order of the axes' names
	}
	places := map[string]int{}
	for i := range slices.Backward(entries) {
		places[key(entries[i].values, nil)] = i
	}
	differences, found := slices.Clone(entries), false
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
		return nil
	}
	return differences
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

// arrange makes a grid for each combination of the values of the other axes.
func (p *Pivot) arrange(r *benchmark.Round, entries []entry, axes []string) {
	type place struct{ title, row, column string }
	all := map[place]*entry{}
	add := func(names *[]string, name string) {
		if !slices.Contains(*names, name) {
			*names = append(*names, name)
		}
	}
	for i := range entries {
		e := &entries[i]
		var others []string
		for _, axis := range axes {
			if axis != p.RowAxis && axis != p.ColumnAxis {
				others = append(others, axis+"="+e.values[axis])
			}
		}
		at := place{strings.Join(others, ","), r.Cells[e.cell].Name, string(p.Metric)}
		if p.RowAxis != "" {
			at.row = e.values[p.RowAxis]
		}
		if p.ColumnAxis != "" {
			at.column = e.values[p.ColumnAxis]
		}
		all[at] = e
		n := slices.IndexFunc(p.Grids, func(g Grid) bool { return g.Title == at.title })
		if n < 0 {
			n, p.Grids = len(p.Grids), append(p.Grids, Grid{Title: at.title})
		}
		add(&p.Grids[n].Rows, at.row)
		add(&p.Grids[n].Columns, at.column)
	}
	for i := range p.Grids {
		g := &p.Grids[i]
		g.Rows, g.Columns = inOrder(g.Rows, orderOf(r, p.RowAxis)), inOrder(g.Columns, orderOf(r, p.ColumnAxis))
		none, some := make([][]int64, len(g.Rows)), false
		for j, row := range g.Rows {
			g.Cells, g.Values, none[j] = append(g.Cells, make([]int, len(g.Columns))), append(g.Values, make([]*float64, len(g.Columns))), make([]int64, len(g.Columns))
			for k, column := range g.Columns {
				e := cmp.Or(all[place{g.Title, row, column}], &entry{cell: -1})
				g.Cells[j][k], g.Values[j][k], none[j][k] = e.cell, e.value, e.noneUpTo
				some = some || e.noneUpTo > 0
			}
		}
		if some {
			g.NoneUpTo = none
		}
	}
}

func inOrder(names, order []string) []string {
	return slices.SortedStableFunc(slices.Values(names), func(a, b string) int {
		return cmp.Compare(slices.Index(order, a), slices.Index(order, b))
	})
}
