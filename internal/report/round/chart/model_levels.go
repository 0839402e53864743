package chart

import (
	"cmp"
	"math"
	"slices"

	"github.com/assay-dev/assay/internal/report/round"
	"github.com/assay-dev/assay/internal/statistics"
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
	Name string
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

var levelMetrics = []struct {
	name string
	of   func(*round.LevelFigures) float64
}{
	{"p50, ms", func(l *round.LevelFigures) float64 { return l.P50 }},
	{"p99, ms", func(l *round.LevelFigures) float64 { return l.P99 }},
	{"requests/s", func(l *round.LevelFigures) float64 { return l.RequestsPerSecond }},
	{"target CPU, % of limit", func(l *round.LevelFigures) float64 { return l.CPUPercent }},
}

// NewLevels returns the levels of a round; nil if its load has none.
func NewLevels(r *round.Report) *Levels {
	if len(r.Levels) == 0 {
		return nil
	}
	l := &Levels{Unit: r.Levels[0].Unit, Axis: overlaidAxis(r)}
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
	for _, m := range levelMetrics {
		row := LevelMetric{Name: m.name, Lines: make([][][]LevelPoint, len(l.Columns))}
		for i := range row.Lines {
			row.Lines[i] = make([][]LevelPoint, len(l.Variants))
		}
		for i := range r.Cells {
			row.Lines[places[i].column][places[i].variant] = levelPoints(r, i, m.of)
		}
		l.Metrics = append(l.Metrics, row)
	}
	return l
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

// levelPoints returns the medians over the runs of a cell by load.
func levelPoints(r *round.Report, cell int, of func(*round.LevelFigures) float64) []LevelPoint {
	values := map[int64][]float64{}
	for i := range r.Levels {
		run := &r.Levels[i]
		if run.Cell != cell {
			continue
		}
		for j := range run.Levels {
			if x := of(&run.Levels[j]); x >= 0 {
				values[run.Levels[j].Load] = append(values[run.Levels[j].Load], x)
			}
		}
	}
	var points []LevelPoint
	for load, of := range values {
		i, err := statistics.Median(of, statistics.Alpha(95, 1))
		if err != nil {
			continue // more runs than intervals are computed of
		}
		p := LevelPoint{Load: float64(load), Median: i.Estimate, Low: i.Low, High: i.High, Runs: len(of)}
		if !i.Bounded() {
			p.Low, p.High = math.NaN(), math.NaN()
		}
		points = append(points, p)
	}
	slices.SortFunc(points, func(a, b LevelPoint) int { return cmp.Compare(a.Load, b.Load) })
	return points
}
