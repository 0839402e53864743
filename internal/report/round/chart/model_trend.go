package chart

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/report/picture"
	"github.com/assay-dev/assay/internal/report/round"
)

// Trend holds the medians of a metric of a cell over the rounds of a Benchmark.
type Trend struct {
	Label  string
	Metric v1alpha1.BenchmarkMetric
	// Axis is the name of the y axis with its unit.
	Axis   string
	Points []TrendPoint
	Levels []TrendLevel

	series *benchmark.TrendSeries
}

// maxTrends is the largest number of series that are drawn; the table has all.
const maxTrends = 12

// TrendPoint is the median of a round.
type TrendPoint struct {
	Round int64
	Ended time.Time
	// Median is in the unit of round.MetricUnit; nil where the round has none.
	Median *float64
	// Low and High are the ends of its interval; nil for all rounds but the one that is reported, whose artifact
	// has it.
	Low, High *float64
	// Inconclusive reports whether the round was.
	Inconclusive bool
	// Changed names what was different in the round before: node type, kernel, image; empty for nothing.
	Changed string
}

// TrendLevel is the median of the rounds between two changes of level.
type TrendLevel struct {
	// First and Last are the places of its rounds in Points.
	First, Last int
	Median      float64
	// Change says how the level before changed; empty for the first level.
	Change string
}

// NewTrends returns the trends of a round, those with changes first. A trend of a single round is none.
func NewTrends(r *round.Report) []Trend {
	if r.Trend == nil || len(r.Trend.Rounds) < 2 {
		return nil
	}
	var trends []Trend
	for i := range r.Trend.Series {
		s := &r.Trend.Series[i]
		t := Trend{Label: s.Cell, Metric: s.Metric, Axis: r.AxisTitle(s.Metric), series: s}
		if at := slices.IndexFunc(r.Cells, func(c benchmark.Cell) bool { return c.Name == s.Cell }); at >= 0 {
			t.Label = r.Label(at)
		}
		for j, of := range r.Trend.Rounds {
			p := TrendPoint{Round: of.Number, Ended: of.Ended, Median: inUnit(s.Metric, s.Medians[j]), Inconclusive: of.Verdict == v1alpha1.BenchmarkInconclusive}
			if j > 0 {
				p.Changed = changed(&r.Trend.Rounds[j-1].Conditions, &of.Conditions)
			}
			if of.Number == r.Number {
				p.Low, p.High = interval(r, s)
			}
			t.Points = append(t.Points, p)
		}
		if !slices.ContainsFunc(t.Points, func(p TrendPoint) bool { return p.Median != nil }) {
			continue // the cell is new
		}
		t.Levels = levels(s, r.Trend.Rounds)
		trends = append(trends, t)
	}
	slices.SortStableFunc(trends, func(a, b Trend) int { return compareBool(len(b.Levels) > 1, len(a.Levels) > 1) })
	for i := range min(len(trends), maxTrends) {
		trends[i].addFound(r.Trend)
	}
	return trends
}

// addFound says of each change with which round it was found.
func (t *Trend) addFound(trend *benchmark.Trend) {
	for i := range t.Levels {
		l := &t.Levels[i]
		at := slices.IndexFunc(t.series.Changes, func(c benchmark.TrendChange) bool { return c.Round == t.Points[l.First].Round })
		if l.Change == "" || at < 0 {
			continue
		}
		if round := trend.FoundIn(t.series, &t.series.Changes[at]); round > 0 {
			l.Change += fmt.Sprintf(", found in round %d", round)
		}
	}
}

// changed names the conditions that differ; those that are unknown don't.
func changed(before, after *benchmark.Conditions) string {
	var names []string
	for _, c := range []struct{ name, before, after string }{
		{"node type", before.NodeType, after.NodeType}, {"kernel", before.Kernel, after.Kernel}, {"image", before.Image, after.Image},
	} {
		if c.before != "" && c.after != "" && c.before != c.after {
			names = append(names, c.name)
		}
	}
	return strings.Join(names, ", ")
}

func inUnit(metric v1alpha1.BenchmarkMetric, figure *float64) *float64 {
	if figure == nil {
		return nil
	}
	x := round.InUnit(metric, *figure)
	return &x
}

// interval returns the interval of the round's own median.
func interval(r *round.Report, s *benchmark.TrendSeries) (low, high *float64) {
	for i := range r.Estimates {
		if e := &r.Estimates[i]; e.Metric == s.Metric && r.Cells[e.Cell].Name == s.Cell {
			return inUnit(s.Metric, e.Low), inUnit(s.Metric, e.High)
		}
	}
	return nil, nil
}

// levels returns the levels between the changes of a series; none if it has no change.
func levels(s *benchmark.TrendSeries, rounds []benchmark.TrendRound) []TrendLevel {
	if len(s.Changes) == 0 {
		return nil
	}
	place := func(number int64) int {
		return slices.IndexFunc(rounds, func(r benchmark.TrendRound) bool { return r.Number == number })
	}
	all := []TrendLevel{{Median: round.InUnit(s.Metric, s.Changes[0].Before)}}
	for i := range s.Changes {
		c := &s.Changes[i]
		at := place(c.Round)
		if at < 1 {
			continue // the rounds before it were dropped
		}
		all[len(all)-1].Last = at - 1
		change := fmt.Sprintf("from round %d", c.Round)
		if percent := c.Percent(); percent != nil {
			change = picture.Minus(round.SignedPercent(*percent)) + " " + change
		}
		all = append(all, TrendLevel{First: at, Median: round.InUnit(s.Metric, c.After), Change: change})
	}
	all[len(all)-1].Last = len(rounds) - 1
	return all
}
