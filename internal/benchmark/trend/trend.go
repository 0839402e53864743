// Package trend continues the medians of the gate's metrics from round to round, and finds changes of their level.
package trend

import (
	"math"
	"slices"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/statistics"
)

const (
	// minTrendSegment is the shortest time at a level, in rounds. trendSignificance is the share of series
	// without a change in which one is found.
	minTrendSegment   = 3
	trendSignificance = 0.01
	// With many series a trend has fewer rounds than it may, so that it has about trendMedians medians, and takes about as
	// long as trendPairs pairs of medians of a series, but always minTrendRounds: fewer can't show a change.
	minTrendRounds = 12
	trendMedians   = 8192
	trendPairs     = 32 * trendMedians
)

// Next returns the trend up to a round. previous is the trend up to an earlier round, or nil if there is none.
// It returns nil for a round without metrics of a gate. A round without medians of them isn't part of the trend.
func Next(previous *benchmark.Trend, r *benchmark.Round) *benchmark.Trend {
	if previous == nil {
		previous = &benchmark.Trend{}
	}
	next := &benchmark.Trend{Rounds: slices.Clone(previous.Rounds)}
	medians := gateMedians(r)
	if len(medians) > 0 {
		next.Rounds = append(next.Rounds, benchmark.TrendRound{Number: r.Number, Ended: r.Ended, Verdict: r.Verdict, Conditions: firstConditions(r)})
	}
	before := map[seriesKey][]*float64{}
	for i := range previous.Series {
		s := &previous.Series[i]
		before[seriesKey{s.Cell, s.Metric}] = s.Medians
	}
	for i := range r.Cells {
		for _, m := range benchmark.GateMetrics(&r.Spec) {
			key := seriesKey{r.Cells[i].Name, benchmark.KeyOf(m)}
			s := benchmark.TrendSeries{Cell: key.cell, Metric: key.metric, Medians: slices.Clone(before[key])}
			if s.Medians == nil {
				s.Medians = make([]*float64, len(previous.Rounds))
			}
			if len(medians) > 0 {
				s.Medians = append(s.Medians, medians[key])
			}
			next.Series = append(next.Series, s)
		}
	}
	if len(next.Series) == 0 || len(next.Rounds) == 0 {
		return nil
	}
	drop := max(0, len(next.Rounds)-roundsOf(len(next.Series)))
	next.Rounds = next.Rounds[drop:]
	for i := range next.Series {
		next.Series[i].Medians = next.Series[i].Medians[drop:]
		findChanges(&next.Series[i], next.Rounds)
	}
	return next
}

// roundsOf returns the largest number of rounds of a trend of so many series.
func roundsOf(series int) int {
	fast := int(math.Sqrt(float64(trendPairs / series)))
	return min(benchmark.MaxTrendRounds, max(minTrendRounds, min(fast, trendMedians/series)))
}

// firstConditions returns the conditions of the first cell's first valid run: of the same cell in each round, because
// cells may differ in them.
func firstConditions(r *benchmark.Round) benchmark.Conditions {
	for i := range r.Runs {
		if run := &r.Runs[i]; run.Cell == 0 && run.Valid && !run.Trial && !run.Ended.IsZero() {
			return run.Conditions
		}
	}
	return benchmark.Conditions{}
}

type seriesKey struct {
	cell   string
	metric v1alpha1.BenchmarkMetric
}

// gateMedians returns the round's estimates of the gate's metrics.
func gateMedians(r *benchmark.Round) map[seriesKey]*float64 {
	medians := map[seriesKey]*float64{}
	for i := range r.Estimates {
		if e := &r.Estimates[i]; r.Gated(e.Metric) {
			if median := statistics.Finite(benchmark.Rounded(e.Median)); median != nil {
				medians[seriesKey{r.Cells[e.Cell].Name, e.Metric}] = median
			}
		}
	}
	return medians
}

// known returns the medians that there are, and the numbers of their rounds.
func known(s *benchmark.TrendSeries, rounds []benchmark.TrendRound) (values []float64, numbers []int64) {
	for i, median := range s.Medians {
		if median != nil {
			values, numbers = append(values, *median), append(numbers, rounds[i].Number)
		}
	}
	return values, numbers
}

// FoundIn returns the number of the round with which a change of a series was found first: that up to which the medians
// show it. It is 0 if they don't, because the trend has lost earlier rounds.
func FoundIn(t *benchmark.Trend, s *benchmark.TrendSeries, c *benchmark.TrendChange) int64 {
	values, numbers := known(s, t.Rounds)
	at := slices.Index(numbers, c.Round)
	for end := at + minTrendSegment; at >= 0 && end <= len(values); end++ {
		points, err := statistics.ChangePoints(values[:end], minTrendSegment, trendSignificance)
		if err == nil && slices.ContainsFunc(points, func(p statistics.ChangePoint) bool { return p.Index == at }) {
			return numbers[end-1]
		}
	}
	return 0
}

func findChanges(s *benchmark.TrendSeries, rounds []benchmark.TrendRound) {
	values, numbers := known(s, rounds)
	points, err := statistics.ChangePoints(values, minTrendSegment, trendSignificance)
	if err != nil {
		return // not reached: the values are finite
	}
	for _, p := range points {
		s.Changes = append(s.Changes, benchmark.TrendChange{Round: numbers[p.Index], Before: benchmark.Rounded(p.Before), After: benchmark.Rounded(p.After), P: p.P})
	}
}
