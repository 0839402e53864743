package benchmark

import (
	"fmt"
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
func (c *TrendChange) Percent() *float64 { return statistics.Finite(100 * (c.After/c.Before - 1)) }

// MaxTrendRounds is the largest number of rounds of a trend.
const MaxTrendRounds = 100

// check returns an error if a series doesn't fit the rounds.
func (t *Trend) check() error {
	if t == nil {
		return nil
	}
	if len(t.Rounds) > MaxTrendRounds {
		return fmt.Errorf("a trend of %d rounds, must be at most %d", len(t.Rounds), MaxTrendRounds)
	}
	for i := range t.Series {
		if n := len(t.Series[i].Medians); n != len(t.Rounds) {
			return fmt.Errorf("trend of %s: %d medians of %d rounds", t.Series[i].Cell, n, len(t.Rounds))
		}
	}
	return nil
}
