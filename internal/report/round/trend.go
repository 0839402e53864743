package round

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/report/doc"
)

// minTrendRounds is the number of rounds from which on there is a trend.
const minTrendRounds = 2

// Trend is the series of a cell's medians in a metric over the rounds of Report.Trend.
type Trend struct {
	*benchmark.TrendSeries
	// Label is the name of the cell in sentences and pictures.
	Label string
	// Levels are those between the changes of the series; nil if it has none.
	Levels []TrendLevel
}

// TrendLevel is the median of the rounds between two changes of level, in the unit of result.Metrics.
type TrendLevel struct {
	// First and Last are the places of its rounds in the trend.
	First, Last int
	Median      float64
	// Change is how it differs from the level before; nil for the first one.
	Change *benchmark.TrendChange
}

// Trends returns the series of a round's trend, those with changes first. A trend of a single round is none.
func (r *Report) Trends() []Trend {
	if r.Trend == nil || len(r.Trend.Rounds) < minTrendRounds {
		return nil
	}
	var trends []Trend
	for i := range r.Trend.Series {
		s := &r.Trend.Series[i]
		if !slices.ContainsFunc(s.Medians, func(median *float64) bool { return median != nil }) {
			continue // the cell is new
		}
		t := Trend{TrendSeries: s, Label: s.Cell, Levels: trendLevels(s, r.Trend.Rounds)}
		if at := slices.IndexFunc(r.Cells, func(c cells.Cell) bool { return c.Name == s.Cell }); at >= 0 {
			t.Label = r.Label(at)
		}
		trends = append(trends, t)
	}
	slices.SortStableFunc(trends, func(a, b Trend) int { return cmp.Compare(min(2, max(1, len(b.Levels))), min(2, max(1, len(a.Levels)))) })
	return trends
}

func trendLevels(s *benchmark.TrendSeries, rounds []benchmark.TrendRound) []TrendLevel {
	if len(s.Changes) == 0 {
		return nil
	}
	levels := []TrendLevel{{Median: s.Changes[0].Before}}
	for i := range s.Changes {
		c := &s.Changes[i]
		at := slices.IndexFunc(rounds, func(r benchmark.TrendRound) bool { return r.Number == c.Round })
		if at < 1 {
			continue // the rounds before it were dropped
		}
		levels[len(levels)-1].Last = at - 1
		levels = append(levels, TrendLevel{First: at, Median: c.After, Change: c})
	}
	levels[len(levels)-1].Last = len(rounds) - 1
	return levels
}

// TrendConditions names what was different in the round before each round of the trend, as in "kernel, image"; empty for
// nothing, or what is unknown.
func (r *Report) TrendConditions() []string {
	all := make([]string, len(r.Trend.Rounds))
	for i := range all[min(1, len(all)):] {
		before, after := &r.Trend.Rounds[i].Conditions, &r.Trend.Rounds[i+1].Conditions
		var names []string
		for _, c := range []struct{ name, before, after string }{
			{"node type", before.NodeType, after.NodeType}, {"kernel", before.Kernel, after.Kernel}, {"image", before.Image, after.Image},
		} {
			if c.before != "" && c.after != "" && c.before != c.after {
				names = append(names, c.name)
			}
		}
		all[i+1] = strings.Join(names, ", ")
	}
	return all
}

// TrendTable returns the medians of the rounds of a trend from a place on.
func (r *Report) TrendTable(from int) *doc.Table {
	type series = benchmark.TrendSeries
	fields := []doc.Field[series]{doc.Word("cell", func(s *series) string { return s.Cell }), doc.Word("metric", func(s *series) string { return Heading(s.Metric) })}
	for i, round := range r.Trend.Rounds {
		if i >= from {
			fields = append(fields, doc.Number(fmt.Sprintf("round %d", round.Number), func(s *series) string {
				if s.Medians[i] == nil {
					return "-"
				}
				return unitOf(s.Metric).format(*s.Medians[i])
			}))
		}
	}
	return doc.TableOf("Trend", r.Trend.Series, fields...)
}

// TrendChanges says where the levels of a trend changed.
func (r *Report) TrendChanges() (changes doc.List) {
	for i := range r.Trend.Series {
		s := &r.Trend.Series[i]
		for j := range s.Changes {
			changes = append(changes, levelChange(s, &s.Changes[j]))
		}
	}
	return changes
}

// levelChange says how the level of a series changed.
func levelChange(s *benchmark.TrendSeries, c *benchmark.TrendChange) string {
	u := unitOf(s.Metric)
	level := func(median float64) string { return strings.TrimSpace(u.format(median) + " " + u.name) }
	text := fmt.Sprintf("%s of %s changed with round %d: %s before, %s since", s.Metric, s.Cell, c.Round, level(c.Before), level(c.After))
	if percent := c.Percent(); percent != nil {
		text += fmt.Sprintf(" (%s)", benchmark.Percent(*percent))
	}
	return text + "."
}
