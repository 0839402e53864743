package benchmark

import (
	"cmp"
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
	// Effects are by cell, then in the order of the comparison's metrics.
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

// Effect is the difference of a cell from its baseline in one metric, in percent of the baseline.
type Effect struct {
	Cell             int                      `json:"cell"`
	Metric           v1alpha1.BenchmarkMetric `json:"metric"`
	Role             v1alpha1.MetricRole      `json:"role"`
	Better           v1alpha1.Direction       `json:"better"`
	TolerancePercent int32                    `json:"tolerancePercent"`
	// Percent is the estimate, LowPercent and HighPercent are the ends of the confidence interval; nil if
	// unknown, or where the runs don't bound the interval.
	Percent     *float64 `json:"percent,omitempty"`
	LowPercent  *float64 `json:"lowPercent,omitempty"`
	HighPercent *float64 `json:"highPercent,omitempty"`
	// ConfidencePercent is the coverage of the interval.
	ConfidencePercent float64 `json:"confidencePercent"`
	// P is the two-sided p value against no difference.
	P float64 `json:"p"`
	// DetectablePercent is the smallest difference to the worse that a round like this one finds in 4 of 5
	// cases; nil if it is unknown, or none is large enough.
	DetectablePercent *float64            `json:"detectablePercent,omitempty"`
	Word              v1alpha1.EffectWord `json:"word"`
	// Verdict is empty for metrics that are only reported.
	Verdict v1alpha1.BenchmarkVerdict `json:"verdict,omitempty"`
	// BlocksToDecide is the number of blocks that would probably decide an inconclusive gate; 0 if it is
	// unknown or not needed.
	BlocksToDecide int `json:"blocksToDecide,omitempty"`
	// DifferentTimes reports whether the baseline was measured at another time.
	DifferentTimes bool `json:"differentTimes,omitempty"`
	// Message says why runs are incomparable; empty otherwise.
	Message string `json:"message,omitempty"`
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

// Ranked returns effects in the order of the status: those of the gate first, of these the worst.
func Ranked(effects []Effect) []Effect {
	order := slices.Clone(effects)
	rank := func(e *Effect) int {
		return slices.Index([]v1alpha1.BenchmarkVerdict{v1alpha1.BenchmarkFailed, v1alpha1.BenchmarkInconclusive, v1alpha1.BenchmarkPassed, ""}, e.Verdict)
	}
	word := func(e *Effect) int {
		return slices.Index([]v1alpha1.EffectWord{v1alpha1.EffectWorse, v1alpha1.EffectIncomparable, v1alpha1.EffectCannotTell, v1alpha1.EffectNoDifference, v1alpha1.EffectBetter}, e.Word)
	}
	badness := func(e *Effect) float64 {
		switch {
		case e.Percent == nil:
			return math.Inf(-1)
		case e.Better == v1alpha1.Direction(statistics.Higher):
			return -*e.Percent
		}
		return *e.Percent
	}
	slices.SortStableFunc(order, func(a, b Effect) int {
		return cmp.Or(cmp.Compare(rank(&a), rank(&b)), cmp.Compare(word(&a), word(&b)), cmp.Compare(badness(&b), badness(&a)))
	})
	return order
}
