package benchmark

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/statistics"
)

// Evaluation has what the whole blocks of a round say.
type Evaluation struct {
	// Blocks is their number.
	Blocks int `json:"blocks"`
	// Estimates are by cell, then by metric.
	Estimates []Estimate `json:"estimates,omitempty"`
	// Claims are those of the spec, then those of the gate by cell and in the order of the comparison's metrics.
	Claims []Claim `json:"claims,omitempty"`
	// ClaimErrorPercent is the error rate of each claim's interval: what the confidence of the Benchmark leaves to each claim,
	// and of that to the look at these blocks. It is 0 without claims, and if no interval exists.
	ClaimErrorPercent float64 `json:"claimErrorPercent,omitempty"`
	// Effects are by cell, then in the order of the comparison's metrics. They decide nothing.
	Effects []Effect `json:"effects,omitempty"`
	// Levels are by cell, then in the order of the load.
	Levels []LevelEstimate `json:"levels,omitempty"`
}

// Estimate is a cell's median of a metric over the runs, in the units of result.Metrics.
type Estimate struct {
	Cell   int                      `json:"cell"`
	Metric v1alpha1.BenchmarkMetric `json:"metric"`
	Median float64                  `json:"median"`
	// Low and High are the ends of the confidence interval; nil where the runs don't bound it.
	Low  *float64 `json:"low,omitempty"`
	High *float64 `json:"high,omitempty"`
	// Runs is the number of runs that have the metric.
	Runs int `json:"runs"`
}

// Effect is the difference of a cell from another, or from stored runs, in one metric, in percent of theirs.
type Effect struct {
	Cell   int                      `json:"cell"`
	Metric v1alpha1.BenchmarkMetric `json:"metric"`
	// Percent is the estimate, LowPercent and HighPercent are the ends of the confidence interval; nil if
	// unknown, or where the runs don't bound the interval.
	Percent     *float64 `json:"percent,omitempty"`
	LowPercent  *float64 `json:"lowPercent,omitempty"`
	HighPercent *float64 `json:"highPercent,omitempty"`
	// ConfidencePercent is the coverage of the interval.
	ConfidencePercent float64 `json:"confidencePercent"`
	// P is the two-sided p value against no difference.
	P float64 `json:"p"`
	// DetectablePercent is the smallest difference that a round like this one finds in 4 of 5 cases: of a claim, such that it
	// is decided; nil if it is unknown, or none is large enough.
	DetectablePercent *float64 `json:"detectablePercent,omitempty"`
	// DifferentTimes reports whether the baseline was measured at another time.
	DifferentTimes bool `json:"differentTimes,omitempty"`
	// Message says why runs are incomparable; empty otherwise.
	Message string `json:"message,omitempty"`
}

// Claim is a statement about the difference of a cell from another, and whether it is true. A gate metric is the claim that
// a cell is not worse than its baseline by more than the tolerance.
type Claim struct {
	// Name is that of the spec or, for a gate metric, not-worse/METRIC/CELL.
	Name string `json:"name"`
	// Than is the index of the cell that Cell is compared with, or cells.NoBaseline for stored runs.
	Than int `json:"than"`
	// Level is the number of the load's level that the metric is of, from 1; 0 for the whole measurement.
	Level int                    `json:"level,omitempty"`
	Is    v1alpha1.ClaimRelation `json:"is"`
	// BoundPercent is the least difference with Lower and Higher, and the largest with Same. It is -tolerancePercent for a gate
	// metric: Lower by at least -5% is not higher by more than 5%.
	BoundPercent int32 `json:"boundPercent"`
	// Gate reports whether the claim is of a gate metric.
	Gate bool `json:"gate,omitempty"`
	Effect
	Verdict v1alpha1.ClaimVerdict `json:"verdict"`
	// BlocksToDecide is the number of blocks that would probably decide; 0 if it is unknown or not needed.
	BlocksToDecide int `json:"blocksToDecide,omitempty"`
}

// Region returns the ratios with which the claim is true.
func (c *Claim) Region() statistics.Region {
	bound := float64(c.BoundPercent) / 100
	open := c.BoundPercent == 0 && !c.Gate // lower, by any difference
	switch c.Is {
	case v1alpha1.ClaimLower:
		return statistics.Region{High: 1 - bound, Open: open}
	case v1alpha1.ClaimHigher:
		return statistics.Region{Low: 1 + bound, High: math.Inf(1), Open: open}
	}
	return statistics.Region{Low: 1 - bound, High: 1 + bound}
}

// Statement returns how the claim says that a metric compares: "at least 10% lower than", "at most 5% higher than" of a gate
// metric, or "within 5% of".
func (c *Claim) Statement() string {
	word, other := "lower", "higher"
	if c.Is == v1alpha1.ClaimHigher {
		word, other = other, word
	}
	switch {
	case c.Is == v1alpha1.ClaimSame:
		return fmt.Sprintf("within %d%% of", c.BoundPercent)
	case c.BoundPercent > 0:
		return fmt.Sprintf("at least %d%% %s than", c.BoundPercent, word)
	case c.BoundPercent < 0:
		return fmt.Sprintf("at most %d%% %s than", -c.BoundPercent, other)
	case c.Gate:
		return "not " + other + " than"
	}
	return word + " than"
}

// LevelEstimate has a cell's medians of one level of its load, over the runs that came to it.
type LevelEstimate struct {
	Cell int `json:"cell"`
	// Level counts the levels of the load from 0.
	Level int `json:"level"`
	// Load is the number of connections, or the arrival rate per second if PerSecond is set, or the
	// number of users if Users is set, over all clients.
	Load      int64 `json:"load"`
	PerSecond bool  `json:"perSecond,omitempty"`
	Users     bool  `json:"users,omitempty"`
	// Runs is the number of runs that came to the level: fewer than blocks if a load was ended at a breaking point.
	Runs int `json:"runs"`
	// Medians are by the names and in the units of result.LevelMetrics. A metric that no run has is absent.
	Medians map[v1alpha1.BenchmarkMetric]float64 `json:"medians"`
	// Intervals hold the lower and upper bound of a median, of those metrics whose runs bound it.
	Intervals map[v1alpha1.BenchmarkMetric][2]float64 `json:"intervals,omitempty"`
}

// Ranked returns claims in the order of the status: those that are contradicted, then those that are undecided.
func Ranked(claims []Claim) []Claim {
	order := slices.Clone(claims)
	rank := func(c *Claim) int {
		return slices.Index([]v1alpha1.ClaimVerdict{v1alpha1.ClaimContradicted, v1alpha1.ClaimUndecided, v1alpha1.ClaimConfirmed}, c.Verdict)
	}
	slices.SortStableFunc(order, func(a, b Claim) int { return cmp.Compare(rank(&a), rank(&b)) })
	return order
}
