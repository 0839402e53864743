package chart

import (
	"cmp"
	"math"
	"slices"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/report/round"
)

// Levels holds the figures of a round's levels: a column of plots for each combination of the axes but one, whose values
// are overlaid, and a row for each metric.
type Levels struct {
	// Unit is that of the loads.
	Unit string
	// Axis is the axis whose values are overlaid; empty without axes. Variants are its values.
	Axis     string
	Variants []string
	Columns  []string
	Metrics  []LevelMetric
}

// LevelMetric is a row of plots.
type LevelMetric struct {
	Name        string
	Logarithmic bool
	// Lines are by column and variant.
	Lines [][][]LevelPoint
}

// LevelPoint is the median over the runs of a cell at a level, with its interval.
type LevelPoint struct {
	Load   float64
	Median float64
	// Low and High are NaN where the runs don't bound the interval.
	Low, High float64
	Runs      int
}

var levelMetrics = []v1alpha1.BenchmarkMetric{"LatencyP50", "LatencyP99", "RequestsPerSecond", "TargetCPU"}

// pageMetrics are those of users who load pages, in the order of the project's report R5.
var pageMetrics = []v1alpha1.BenchmarkMetric{"PageTimeMean", "RequestsPerSecond", "RoundsPer10Seconds", "TargetCPUIdle"}

// NewLevels returns the levels of a round; nil if its load has none.
func NewLevels(r *round.Report) *Levels {
	if len(r.Levels) == 0 {
		return nil
	}
	l := &Levels{Unit: round.UnitOfLoad(r.Round), Axis: overlaidAxis(r)}
	type place struct{ column, variant int }
	places := make([]place, len(r.Cells))
	for i := range r.Cells {
		variant, column := "all", ""
		for _, axis := range r.Spec.Axes {
			value := r.Cells[i].Values[axis.Name]
			if axis.Name == l.Axis {
				variant = value
				continue
			}
			if column != "" {
				column += ", "
			}
			column += axis.Name + " " + value
		}
		places[i] = place{position(&l.Columns, column), position(&l.Variants, variant)}
	}
	metrics := levelMetrics
	if round.HasPages(r.Round) {
		metrics = pageMetrics
	}
	for _, m := range metrics {
		row := LevelMetric{Name: levelTitle(r, m, l.Unit), Logarithmic: round.MetricUnit(m) == "ms", Lines: make([][][]LevelPoint, len(l.Columns))}
		for i := range row.Lines {
			row.Lines[i] = make([][]LevelPoint, len(l.Variants))
		}
		for i := range r.Cells {
			row.Lines[places[i].column][places[i].variant] = levelPoints(r, i, m)
		}
		l.Metrics = append(l.Metrics, row)
	}
	return l
}

// levelTitle returns the name of a metric with its unit. Each request for an element of a page is a hit.
func levelTitle(r *round.Report, metric v1alpha1.BenchmarkMetric, unit string) string {
	if metric == v1alpha1.BenchmarkMetric(v1alpha1.MetricRequestsPerSecond) && unit == "users" {
		return "hits/s"
	}
	return r.AxisTitle(metric)
}

// overlaidAxis returns the axis of the baseline, if there is one, else the first.
func overlaidAxis(r *round.Report) string {
	if c := r.Spec.Comparison; c != nil && len(c.Baseline.Cell) == 1 {
		for axis := range c.Baseline.Cell {
			return axis
		}
	}
	if len(r.Spec.Axes) == 0 {
		return ""
	}
	return r.Spec.Axes[0].Name
}

// position returns the place of a name, which it adds if it is new.
func position(names *[]string, name string) int {
	at := slices.Index(*names, name)
	if at < 0 {
		at = len(*names)
		*names = append(*names, name)
	}
	return at
}

// levelPoints returns the medians of a cell by load.
func levelPoints(r *round.Report, cell int, metric v1alpha1.BenchmarkMetric) []LevelPoint {
	var points []LevelPoint
	for i := range r.Levels {
		l := &r.Levels[i]
		median, has := l.Medians[metric]
		if l.Cell != cell || !has {
			continue
		}
		p := LevelPoint{Load: float64(l.Load), Median: round.InUnit(metric, median), Low: math.NaN(), High: math.NaN(), Runs: l.Runs}
		if bounds, bounded := l.Intervals[metric]; bounded {
			p.Low, p.High = round.InUnit(metric, bounds[0]), round.InUnit(metric, bounds[1])
		}
		points = append(points, p)
	}
	slices.SortStableFunc(points, func(a, b LevelPoint) int { return cmp.Compare(a.Load, b.Load) })
	return points
}
