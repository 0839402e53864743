package benchmark

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/statistics"
)

// Trend holds the medians of the gate's metrics over the rounds of a Benchmark. Each artifact has the trend up to
// its round, so that the trend outlives the artifacts that history keeps.
type Trend struct {
	// Rounds are in the order of time.
	Rounds []TrendRound `json:"rounds"`
	// Series are by cell, then in the order of the comparison's metrics.
	Series []TrendSeries `json:"series"`
}

// TrendRound is a round of a trend.
type TrendRound struct {
	Number int64     `json:"number"`
	Ended  time.Time `json:"ended"`
	// Verdict is that of the round; empty if the round is of a version that didn't store it.
	Verdict v1alpha1.BenchmarkVerdict `json:"verdict,omitempty"`
	// Conditions are those of the first cell's first valid run; all empty if they are unknown.
	Conditions Conditions `json:"conditions,omitzero"`
}

// TrendSeries holds the medians of a metric of a cell, in the units of result.Metrics.
type TrendSeries struct {
	// Cell is the name of the cell: the same in rounds of different specs.
	Cell   string                   `json:"cell"`
	Metric v1alpha1.BenchmarkMetric `json:"metric"`
	// Medians are those of Trend.Rounds; nil where a round has none.
	Medians []*float64 `json:"medians"`
	// Changes are in the order of time.
	Changes []TrendChange `json:"changes,omitempty"`
}

// TrendChange is a change of level.
type TrendChange struct {
	// Round is the number of the first round of the new level.
	Round int64 `json:"round"`
	// Before and After are the medians of the rounds between this change and its neighbors.
	Before float64 `json:"before"`
	After  float64 `json:"after"`
	// P is the p value of the permutation test.
	P float64 `json:"p"`
}

// Percent returns the difference of the new level from the one before in percent, or nil if that was 0.
func (c *TrendChange) Percent() *float64 { return finite(100 * (c.After/c.Before - 1)) }

const (
	// minTrendSegment is the shortest time at a level, in rounds. trendSignificance is the share of series
	// without a change in which one is found.
	minTrendSegment   = 3
	trendSignificance = 0.01
	// A trend has at most maxTrendRounds rounds. With many series it has fewer, so that it has about
	// trendMedians medians, but always minTrendRounds: fewer can't show a change.
	maxTrendRounds = 100
	minTrendRounds = 12
	trendMedians   = 8192
)

// NextTrend returns the trend up to a round. previous is the trend up to an earlier round, or nil if there is none.
// It returns nil for a round without metrics of a gate. A round without medians of them isn't part of the trend.
func NextTrend(previous *Trend, r *Round) *Trend {
	if previous == nil {
		previous = &Trend{}
	}
	next := &Trend{Rounds: slices.Clone(previous.Rounds)}
	medians := r.gateMedians()
	if len(medians) > 0 {
		next.Rounds = append(next.Rounds, TrendRound{Number: r.Number, Ended: r.Ended, Verdict: r.Verdict, Conditions: r.firstConditions()})
	}
	known := map[seriesKey][]*float64{}
	for i := range previous.Series {
		s := &previous.Series[i]
		known[seriesKey{s.Cell, s.Metric}] = s.Medians
	}
	for i := range r.Cells {
		for _, metric := range r.gateMetrics() {
			key := seriesKey{r.Cells[i].Name, metric}
			s := TrendSeries{Cell: key.cell, Metric: metric, Medians: slices.Clone(known[key])}
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
	keep := min(maxTrendRounds, max(minTrendRounds, trendMedians/len(next.Series)))
	drop := max(0, len(next.Rounds)-keep)
	next.Rounds = next.Rounds[drop:]
	for i := range next.Series {
		next.Series[i].Medians = next.Series[i].Medians[drop:]
		next.Series[i].findChanges(next.Rounds)
	}
	return next
}

// firstConditions returns the conditions of the first cell's first valid run: of the same cell in each round, because
// cells may differ in them.
func (r *Round) firstConditions() Conditions {
	for i := range r.Runs {
		if run := &r.Runs[i]; run.Cell == 0 && run.Valid && !run.Trial && !run.Ended.IsZero() {
			return run.Conditions
		}
	}
	return Conditions{}
}

type seriesKey struct {
	cell   string
	metric v1alpha1.BenchmarkMetric
}

// gateMedians returns the round's estimates of the gate's metrics.
func (r *Round) gateMedians() map[seriesKey]*float64 {
	medians := map[seriesKey]*float64{}
	for i := range r.Estimates {
		if e := &r.Estimates[i]; r.gated(e.Metric) {
			if median := finite(rounded(e.Median)); median != nil {
				medians[seriesKey{r.Cells[e.Cell].Name, e.Metric}] = median
			}
		}
	}
	return medians
}

func (r *Round) gateMetrics() (metrics []v1alpha1.BenchmarkMetric) {
	if r.Spec.Comparison == nil {
		return nil
	}
	for i := range r.Spec.Comparison.Metrics {
		if m := &r.Spec.Comparison.Metrics[i]; roleOf(m) == v1alpha1.RoleGate {
			metrics = append(metrics, m.Name)
		}
	}
	return metrics
}

// known returns the medians that there are, and the numbers of their rounds.
func (s *TrendSeries) known(rounds []TrendRound) (values []float64, numbers []int64) {
	for i, median := range s.Medians {
		if median != nil {
			values, numbers = append(values, *median), append(numbers, rounds[i].Number)
		}
	}
	return values, numbers
}

// FoundIn returns the number of the round with which a change of a series was found first: that up to which the medians
// show it. It is 0 if they don't, because the trend has lost earlier rounds.
func (t *Trend) FoundIn(s *TrendSeries, c *TrendChange) int64 {
	values, numbers := s.known(t.Rounds)
	at := slices.Index(numbers, c.Round)
	for end := at + minTrendSegment; at >= 0 && end <= len(values); end++ {
		points, err := statistics.ChangePoints(values[:end], minTrendSegment, trendSignificance)
		if err == nil && slices.ContainsFunc(points, func(p statistics.ChangePoint) bool { return p.Index == at }) {
			return numbers[end-1]
		}
	}
	return 0
}

func (s *TrendSeries) findChanges(rounds []TrendRound) {
	values, numbers := s.known(rounds)
	points, err := statistics.ChangePoints(values, minTrendSegment, trendSignificance)
	if err != nil {
		return // not reached: the values are finite
	}
	for _, p := range points {
		s.Changes = append(s.Changes, TrendChange{Round: numbers[p.Index], Before: rounded(p.Before), After: rounded(p.After), P: p.P})
	}
}

// check returns an error if a series doesn't fit the rounds.
func (t *Trend) check() error {
	if t == nil {
		return nil
	}
	if len(t.Rounds) > maxTrendRounds {
		return fmt.Errorf("a trend of %d rounds, must be at most %d", len(t.Rounds), maxTrendRounds)
	}
	for i := range t.Series {
		if n := len(t.Series[i].Medians); n != len(t.Rounds) {
			return fmt.Errorf("trend of %s: %d medians of %d rounds", t.Series[i].Cell, n, len(t.Rounds))
		}
	}
	return nil
}

// maxLevelChanges is the largest number of changes in a status.
const maxLevelChanges = 16

// LevelChanges returns the changes of a trend as the status has them: at most 16, the newest first, of these
// the largest.
func LevelChanges(t *Trend) []v1alpha1.LevelChange {
	if t == nil {
		return nil
	}
	type change struct {
		*TrendSeries
		TrendChange
	}
	var all []change
	for i := range t.Series {
		for _, c := range t.Series[i].Changes {
			all = append(all, change{&t.Series[i], c})
		}
	}
	size := func(c *change) float64 {
		if percent := c.Percent(); percent != nil {
			return math.Abs(*percent)
		}
		return math.Inf(1)
	}
	slices.SortStableFunc(all, func(a, b change) int {
		return cmp.Or(cmp.Compare(b.Round, a.Round), cmp.Compare(size(&b), size(&a)))
	})
	var statuses []v1alpha1.LevelChange
	for _, c := range all[:min(len(all), maxLevelChanges)] {
		statuses = append(statuses, v1alpha1.LevelChange{Cell: c.Cell, Metric: c.Metric, Round: c.Round, Percent: optional(c.Percent())})
	}
	return fitting(statuses, maxTrendBytes)
}
