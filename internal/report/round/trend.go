package round

import (
	"fmt"
	"strings"

	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/report"
)

const (
	// maxTrendColumns is the largest number of rounds in the table of the trend; the JSON has all.
	maxTrendColumns = 8
	// minTrendRounds is the number of rounds from which the trend is written.
	minTrendRounds = 2
)

// writeTrend writes the medians of the last rounds, and where their level changed.
func (r *Report) writeTrend(d document) {
	t := r.Trend
	if t == nil || len(t.Rounds) < minTrendRounds {
		return
	}
	from := max(0, len(t.Rounds)-maxTrendColumns)
	columns := []any{report.Words("cell"), report.Words("metric")}
	for _, round := range t.Rounds[from:] {
		columns = append(columns, fmt.Sprintf("round %d", round.Number))
	}
	var rows [][]string
	var changes []string
	for i := range t.Series {
		s := &t.Series[i]
		row := []string{s.Cell, heading(s.Metric)}
		for _, median := range s.Medians[from:] {
			if median == nil {
				row = append(row, "-")
				continue
			}
			row = append(row, unitOf(s.Metric).format(*median))
		}
		rows = append(rows, row)
		for j := range s.Changes {
			changes = append(changes, levelChange(s, &s.Changes[j]))
		}
	}
	d.section("Trend")
	text := fmt.Sprintf("Medians of the last %s of %d, the newest last. A change of level decides nothing.", plural(len(t.Rounds)-from, "round"), len(t.Rounds))
	if len(changes) == 0 {
		text += " None was found."
	}
	d.paragraph(text)
	if more := len(changes) - maxConclusions; more > 0 {
		changes = append(changes[:maxConclusions], fmt.Sprintf("%d more are in the output as JSON.", more))
	}
	d.list(changes...)
	d.table(columns, rows)
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
