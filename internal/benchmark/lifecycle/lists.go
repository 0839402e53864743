package lifecycle

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/cells"
)

// Capacities returns capacities as the status has them: at most 64 of 24 KiB as JSON.
func Capacities(cells []cells.Cell, capacities []benchmark.Capacity) []v1alpha1.CapacityStatus {
	statuses := make([]v1alpha1.CapacityStatus, min(len(capacities), maxStatus))
	for i := range statuses {
		c := &capacities[i]
		statuses[i] = v1alpha1.CapacityStatus{Cell: cells[c.Cell].Name, Limit: c.Limit, Trials: ptr.To(int32(c.Trials))}
		if c.Sustained > 0 {
			statuses[i].Sustained = &c.Sustained
			statuses[i].Achieved = strconv.FormatFloat(c.AchievedPerSecond, 'f', 2, 64)
		}
		if c.Failed > 0 {
			statuses[i].Failed = &c.Failed
		}
	}
	return fitting(statuses, maxCapacitiesBytes)
}

// maxLevelChanges is the largest number of changes in a status.
const maxLevelChanges = 16

// LevelChanges returns the changes of a trend as the status has them: at most 16, the newest first, of these
// the largest.
func LevelChanges(t *benchmark.Trend) []v1alpha1.LevelChange {
	if t == nil {
		return nil
	}
	type change struct {
		*benchmark.TrendSeries
		benchmark.TrendChange
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
		metric, request := benchmark.SplitMetric(c.Metric)
		statuses = append(statuses, v1alpha1.LevelChange{Cell: c.Cell, Metric: metric, Request: request, Round: c.Round, Percent: optional(c.Percent())})
	}
	return fitting(statuses, maxTrendBytes)
}

// maxStatus is the largest number of claims, of effects, and of capacities in a status.
const maxStatus = 64

// Claims returns claims as the status has them: at most 64 of 24 KiB as JSON, those that are contradicted first.
func Claims(e *benchmark.Evaluation) []v1alpha1.ClaimStatus {
	order := benchmark.Ranked(e.Claims)
	statuses := make([]v1alpha1.ClaimStatus, min(len(order), maxStatus))
	for i := range statuses {
		c := &order[i]
		statuses[i] = v1alpha1.ClaimStatus{
			Name: c.Name, Verdict: c.Verdict, Percent: optional(c.Percent), LowPercent: optional(c.LowPercent), HighPercent: optional(c.HighPercent),
			DetectablePercent: optional(c.DetectablePercent), Blocks: ptr.To(int32(e.Blocks)), Message: Bounded(c.Message, maxError),
		}
		if c.BlocksToDecide > 0 {
			statuses[i].BlocksToDecide = ptr.To(int32(c.BlocksToDecide))
		}
	}
	return fitting(statuses, maxClaimsBytes)
}

// Effects returns effects as the status has them: the first 64 of 8 KiB as JSON.
func Effects(cells []cells.Cell, effects []benchmark.Effect) []v1alpha1.EffectStatus {
	statuses := make([]v1alpha1.EffectStatus, min(len(effects), maxStatus))
	for i := range statuses {
		e := &effects[i]
		metric, request := benchmark.SplitMetric(e.Metric)
		statuses[i] = v1alpha1.EffectStatus{
			Cell: cells[e.Cell].Name, Metric: metric, Request: request, Percent: optional(e.Percent), LowPercent: optional(e.LowPercent),
			HighPercent: optional(e.HighPercent), DetectablePercent: optional(e.DetectablePercent), Message: Bounded(e.Message, maxError),
		}
	}
	return fitting(statuses, maxEffectsBytes)
}

func optional(percent *float64) string {
	if percent == nil {
		return ""
	}
	return benchmark.Decimal(*percent)
}
